#include "drill_plan.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan plan = {.connections = 8, .in_flight = 64, .ask_bytes = 64};
static char bearer[256];

_Noreturn void plan_refuse(const char *why)
{
    fprintf(stderr, "drill-load: %s\n", why);
    exit(2);
}

static void add_field(struct kind *kind, const char *name, const char *value)
{
    kind->fields[kind->field_count++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                                                     .value = (uint8_t *)(uintptr_t)value,
                                                     .namelen = strlen(name),
                                                     .valuelen = strlen(value)};
}

static size_t pack_chat(const struct kind *kind, char *model, char *question, uint8_t *out)
{
    Renga__V1__ChatRequest message = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT, *turns[] = {&turn};
    Renga__V1__CacheControl cache = RENGA__V1__CACHE_CONTROL__INIT;
    turn.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    turn.content = question;
    message.model = model;
    message.n_messages = 1;
    message.messages = turns;
    message.max_output_tokens = 256;
    cache.read = cache.write = true;
    message.cache = kind->same ? &cache : NULL;
    return renga__v1__chat_request__pack(&message, out);
}

static size_t pack_embed(const struct kind *kind, char *model, char *question, uint8_t *out)
{
    Renga__V1__EmbedRequest message = RENGA__V1__EMBED_REQUEST__INIT;
    Renga__V1__CacheControl cache = RENGA__V1__CACHE_CONTROL__INIT;
    message.model = model;
    message.n_inputs = 1;
    message.inputs = &question;
    cache.read = cache.write = true;
    message.cache = kind->same ? &cache : NULL;
    return renga__v1__embed_request__pack(&message, out);
}

static void write_ask(struct kind *kind, const char *method, char *model)
{
    static char question[REQUEST_MAX / 2], paths[KINDS_MAX][64];
    int begins = snprintf(question, sizeof question, "call-%0*d ", NAMED_DIGITS, 0);
    for (int i = begins; i < plan.ask_bytes && i < (int)sizeof question - 1; i++)
        question[i] = "What is to be asked of a model? "[i % 32];
    size_t size = (strcmp(method, "Embed") == 0 ? pack_embed : pack_chat)(kind, model, question, kind->ask + 5);
    uint32_t length = htonl((uint32_t)size);
    memcpy(kind->ask + 1, &length, 4);
    kind->ask_size = size + 5;
    const uint8_t *named = memmem(kind->ask, kind->ask_size, "call-", 5);
    kind->named_at = (size_t)(named + 5 - kind->ask);
    snprintf(paths[kind - plan.kinds], sizeof paths[0], "/renga.v1.LlmGateway/%s", method);
    add_field(kind, ":method", "POST");
    add_field(kind, ":scheme", "http");
    add_field(kind, ":path", paths[kind - plan.kinds]);
    add_field(kind, ":authority", plan.target);
    add_field(kind, "te", "trailers");
    add_field(kind, "content-type", "application/grpc");
    if (*bearer)
        add_field(kind, "authorization", bearer);
}

static void read_kind_word(struct kind *kind, const char *word)
{
    kind->same |= strcmp(word, "same") == 0;
    kind->says |= strcmp(word, "says") == 0;
    if (strncmp(word, "leave=", 6) != 0)
        return;
    kind->leaves = true;
    kind->leave_ms = strcmp(word + 6, "first") == 0 ? LEAVES_FIRST : atoi(word + 6);
}

static void read_kind(char *text)
{
    struct kind *kind = &plan.kinds[plan.kind_count++];
    if (plan.kind_count == KINDS_MAX)
        plan_refuse("so many kinds are not had");
    snprintf(kind->name, sizeof kind->name, "%s", text);
    char *method = strtok(text, ":"), *model = strtok(NULL, ":"), *share = strtok(NULL, ":"), *word;
    if (!share)
        plan_refuse("a kind is METHOD:MODEL:SHARE");
    kind->share = (unsigned)atoi(share);
    plan.shares += kind->share;
    while ((word = strtok(NULL, ":")))
        read_kind_word(kind, word);
    int pieces = 0;
    sscanf(model, "bench-%*d-%d", &pieces);
    kind->streams = strcmp(method, "ChatStream") == 0;
    kind->whole = 8 * (size_t)pieces;
    kind->last = &kind->first;
    write_ask(kind, method, model);
}

static void read_argument(char *text)
{
    char *value = strchr(text, '=');
    bool is_kind = strchr(text, ':') && (!value || strchr(text, ':') < value);
    if (is_kind)
        read_kind(text);
    else if (!value)
        plan_refuse("an argument is NAME=VALUE or METHOD:MODEL:SHARE");
    else if (strncmp(text, "connections=", 12) == 0)
        plan.connections = atoi(value + 1);
    else if (strncmp(text, "in_flight=", 10) == 0)
        plan.in_flight = atoi(value + 1);
    else if (strncmp(text, "ask=", 4) == 0)
        plan.ask_bytes = atoi(value + 1);
    else if (strncmp(text, "rate=", 5) == 0)
        plan.rate = atof(value + 1);
    else if (strncmp(text, "calls=", 6) == 0)
        plan.calls_max = strtoul(value + 1, NULL, 10);
    else if (strncmp(text, "seconds=", 8) == 0)
        plan.for_ns = (int64_t)(atof(value + 1) * 1e9);
    else if (strncmp(text, "key=", 4) == 0)
        snprintf(bearer, sizeof bearer, "Bearer %s", value + 1);
    else
        plan_refuse("that is not an argument");
}

void plan_read(int argc, char **argv)
{
    if (argc < 3)
        plan_refuse("HOST:PORT [NAME=VALUE]... METHOD:MODEL:SHARE...");
    plan.target = argv[1];
    for (int pass = 0; pass < 2; pass++) /* what is asked depends on the rest */
        for (int i = 2; i < argc; i++) {
            char *value = strchr(argv[i], '='), *colon = strchr(argv[i], ':');
            if ((colon && (!value || colon < value)) == (pass == 1))
                read_argument(argv[i]);
        }
    if (!plan.kind_count)
        plan_refuse("nothing is asked");
}
