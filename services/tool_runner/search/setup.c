#include "search/setup.h"

#include "base/nearest.h"
#include "http/client.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX   ((size_t)1 << 20) /* bytes */
#define DOCUMENT_DEPTH 8
#define FIELDS_MAX     64 /* of an entry: those of all sources and those of its provider */
#define PLACE_MAX      512
#define MIB            (1LL << 20)

#define TIMEOUT_MS  10000
#define ATTEMPTS    3
#define ANSWER_MAX  (2 * MIB)
#define CONCURRENCY 64

#define OF(member) INTO(struct search_setup, member)

static const struct field setup_root[] = {{.option = {.name = "sources"}, .kind = FIELD_PART},
                                          {.option = {.name = NULL}}};

static const struct field setup_fields[] = {
    {.option = {.name = "kind", .type = OPTION_STRING}, OF(kind)},
    {.option = {.name = "group", .type = OPTION_CHOICE, .choices = SEARCH_WEB "|" SEARCH_INTERNAL}, OF(group)},
    {.option = {.name = "url", .type = OPTION_STRING}, OF(url)},
    {.option = {.name = "key", .type = OPTION_STRING, .secret = true}, OF(key)},
    {.option = {.name = "token_file", .type = OPTION_STRING}, OF(token_file)},
    {.option = {.name = "stand_in", .type = OPTION_BOOLEAN}, OF(is_stand_in)},
    {.option = {.name = "paid", .type = OPTION_BOOLEAN}, OF(is_paid)},
    {.option = {.name = "repeat_in_doubt", .type = OPTION_BOOLEAN}, OF(repeats)},
    {.option = {.name = "price", .max = 100 * MIB}, .kind = FIELD_USD, OF(price)},
    {.option = {.name = "disabled", .type = OPTION_BOOLEAN}, OF(is_disabled)},
    {.option = {.name = "attempts", .type = OPTION_INTEGER, .min = 1, .max = 10}, OF(attempts)},
    {.option = {.name = "timeout", .type = OPTION_DURATION, .min = 10, .max = 600000}, OF(timeout_ms)},
    {.option = {.name = "answer_max", .type = OPTION_SIZE, .min = 4096, .max = 16 * MIB}, OF(answer_max)},
    {.option = {.name = "concurrency", .type = OPTION_INTEGER, .max = 10000}, OF(concurrency)},
    {.option = {.name = "requests_per_minute", .type = OPTION_INTEGER, .max = 1000000}, OF(requests_per_minute)},
    {.option = {.name = "record", .type = OPTION_STRING}, OF(record)},
    {.option = {.name = "replay", .type = OPTION_STRING}, OF(replay)},
    {.option = {.name = NULL}},
};

/* A setup and the settings of its provider in a single piece of memory. */
struct setup_room {
    struct search_setup setup;
    alignas(max_align_t) unsigned char settings[];
};

/* ---- an entry ---------------------------------------------------------------------------------------------------- */

static bool setup_check_name(const struct fields_in *in, const cJSON *item)
{
    static const char *const taken[] = {SEARCH_DOCUMENTS, SEARCH_INTERNAL, SEARCH_WEB};
    size_t length = strspn(item->string, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    if (!length || item->string[length] || length > SEARCH_SOURCE_NAME_MAX)
        return fail_at(in->document, item, in->st,
                       "'%.64s' is no name for a source: 1 to %d of A-Z, a-z, 0-9, '_', '.' and '-'", item->string,
                       SEARCH_SOURCE_NAME_MAX);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(item->string, taken[i]) == 0)
            return fail_at(in->document, item, in->st, "'%s' has a meaning of its own; take another name", taken[i]);
    return true;
}

static const struct search_provider *setup_find_provider(const struct fields_in *in, const cJSON *item)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(item, "kind");
    const char *text = cJSON_IsString(kind) ? kind->valuestring : "";
    const struct search_provider *provider = search_provider_of(text);
    char known[256] = "";
    struct nearest nearest = nearest_to(text);
    if (provider)
        return provider;
    for (size_t i = 0; search_providers[i]; i++) {
        size_t length = strlen(known);
        nearest_try(&nearest, search_providers[i]->kind);
        snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", search_providers[i]->kind);
    }
    if (!cJSON_IsString(kind))
        fail_at(in->document, item, in->st, "'kind' is missing; there are %s", known);
    else if (nearest.name)
        fail_at(in->document, kind, in->st, "unknown kind '%.64s'; did you mean '%s'?", text, nearest.name);
    else
        fail_at(in->document, kind, in->st, "unknown kind '%.64s'; there are %s", text, known);
    return NULL;
}

static bool setup_read_fields(const struct fields_in *in, const cJSON *item, struct setup_room *room)
{
    struct field table[FIELDS_MAX + 1] = {0};
    size_t count = 0;
    const struct field *own = room->setup.source.provider->fields;
    for (const struct field *field = setup_fields; field->option.name; field++)
        table[count++] = *field;
    for (; own && own->option.name && count < FIELDS_MAX; own++) {
        table[count] = *own;
        table[count++].at += offsetof(struct setup_room, settings);
    }
    return fields_read(in, item, table, room);
}

static bool setup_check_url(const struct fields_in *in, const cJSON *item, struct search_setup *setup)
{
    struct status why = {0};
    const struct search_provider *provider = setup->source.provider;
    if (!setup->url)
        setup->url = provider->url;
    if (!setup->url)
        return fail_at(in->document, item, in->st, "'url' is missing; %s has no address of its own", provider->kind);
    struct http_url *url = http_url_parse(setup->url, &why);
    http_url_destroy(&url);
    if (why.code != OK)
        return fail_at(in->document, item, in->st, "'url': %s", why.text);
    return !strpbrk(setup->url, "?#") || fail_at(in->document, item, in->st, "'url' has a query or a fragment");
}

/* A key of the environment goes to the provider's own address alone. */
static bool setup_check_key(const struct fields_in *in, const cJSON *item, struct search_setup *setup)
{
    const struct search_provider *provider = setup->source.provider;
    bool at_home = provider->url && strcmp(setup->url, provider->url) == 0;
    const char *variable = provider->key_variable && at_home ? getenv(provider->key_variable) : NULL;
    struct config_item value;
    if (setup->key && setup->token_file)
        return fail_at(in->document, item, in->st, "'key' and 'token_file' exclude each other");
    if (setup->key || setup->token_file || !variable || !variable[0]) {
        setup->key = setup->key ? setup->key : "";
        return true;
    }
    const struct option secret = {.name = provider->key_variable, .type = OPTION_STRING, .secret = true};
    char text[128];
    snprintf(text, sizeof text, "env:%s", provider->key_variable);
    cJSON named = {.type = cJSON_String, .valuestring = text};
    if (!config_read_item(in->values, &secret, &named, setup->place, &value, in->st))
        return false;
    setup->key = value.text;
    return true;
}

static bool setup_check_own(const struct fields_in *in, const cJSON *item, struct setup_room *room)
{
    struct status why = {0};
    const struct search_provider *provider = room->setup.source.provider;
    if (room->setup.record && room->setup.replay)
        return fail_at(in->document, item, in->st, "'record' and 'replay' exclude each other");
    return !provider->check || provider->check(room->settings, &why) ||
           fail_at(in->document, item, in->st, "%s", why.text);
}

/* A text that lives as long as the setups. */
static const char *setup_keep(const struct fields_in *in, const char *text)
{
    static const struct option option = {.name = "name", .type = OPTION_STRING};
    cJSON item = {.type = cJSON_String, .valuestring = (char *)(uintptr_t)text};
    struct config_item value;
    return config_read_item(in->values, &option, &item, "", &value, in->st) ? value.text : NULL;
}

static bool setup_name(const struct fields_in *in, const cJSON *item, struct search_setup *setup)
{
    char place[PLACE_MAX];
    size_t line, column;
    json_document_position(in->document, item, &line, &column);
    snprintf(place, sizeof place, "%s:%zu:%zu", in->document->name, line, column);
    setup->source.name = setup_keep(in, item->string);
    setup->place = setup_keep(in, place);
    return setup->source.name && setup->place;
}

static bool setup_read(const struct fields_in *in, const cJSON *item, size_t index, void *data)
{
    struct search_setups *setups = in->owner;
    const struct search_provider *provider = setup_check_name(in, item) ? setup_find_provider(in, item) : NULL;
    struct setup_room *room = provider ? calloc(1, sizeof *room + provider->settings_size) : NULL;
    if (!provider)
        return false;
    if (!room)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the sources of %s", in->document->name);
    setups->list[setups->count++] = &room->setup;
    room->setup = (struct search_setup){
        .source = {.provider = provider, .settings = room->settings},
        .group = provider->group,
        .is_paid = provider->is_paid,
        .timeout_ms = TIMEOUT_MS,
        .attempts = ATTEMPTS,
        .answer_max = ANSWER_MAX,
        .concurrency = CONCURRENCY,
    };
    if (!setup_name(in, item, &room->setup) || !setup_read_fields(in, item, room) ||
        !setup_check_url(in, item, &room->setup) || !setup_check_key(in, item, &room->setup) ||
        !setup_check_own(in, item, room))
        return false;
    if (!room->setup.is_disabled)
        return true;
    free(room);
    setups->list[--setups->count] = NULL;
    return true;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool setup_read_root(const struct fields_in *in)
{
    const cJSON *sources = cJSON_GetObjectItemCaseSensitive(in->document->root, "sources");
    if (!fields_read(in, in->document->root, setup_root, NULL))
        return false;
    if (!sources)
        return fail_at(in->document, in->document->root, in->st, "must be {\"sources\": {NAME: {…}, …}}");
    return fields_each(in, sources, SEARCH_SOURCES_MAX, SEARCH_SOURCE_NAME_MAX, setup_read, NULL);
}

bool search_setups_read(const char *path, struct search_setups *setups, struct status *st)
{
    static const struct json_limits limits = {.bytes = DOCUMENT_MAX, .depth = DOCUMENT_DEPTH};
    struct json_document document;
    struct status why = {0};
    *setups = (struct search_setups){.values = config_create(NULL, 0, st)};
    if (!setups->values || !path)
        return setups->values != NULL;
    if (!json_document_load(&document, path, &limits, &why))
        return fail(st, INVALID_ARGUMENT, "tool_runner.search: %s", why.text);
    bool good = setup_read_root(&(struct fields_in){&document, setups->values, &why, setups});
    json_document_fini(&document);
    return good || fail(st, INVALID_ARGUMENT, "tool_runner.search: %s", why.text);
}

void search_setups_fini(struct search_setups *setups)
{
    for (size_t i = 0; i < setups->count; i++)
        free(setups->list[i]);
    if (setups->values)
        config_destroy(setups->values);
    *setups = (struct search_setups){0};
}
