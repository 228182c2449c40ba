/* The body of POST /v1/embeddings: https://platform.openai.com/docs/api-reference/embeddings/create */
#include "openai_http_priv.h"

#include "answer/vector.h"
#include "base/nearest.h"
#include "contract/check_embed.h"

#include <string.h>

struct reader {
    struct json_reader in;
    struct arena *arena;
    struct openai_http_embed_request *texts;
};

static void openai_http_embed_read_refuse(struct reader *reader, const cJSON *item, const char *code, const char *why)
{
    if (reader->in.failed)
        return;
    reader->texts->code = code;
    json_reader_fail(&reader->in, item, "%s", why);
}

/* Which tokens a number stands for is known to a model's own tokenizer alone. */
static bool is_token(const cJSON *item)
{
    return cJSON_IsNumber(item) || cJSON_IsArray(item);
}

static void openai_http_embed_read_text(struct reader *reader, const cJSON *text)
{
    Renga__V1__EmbedRequest *request = &reader->texts->request;
    if (is_token(text))
        openai_http_embed_read_refuse(reader, text, "unsupported_value",
                                      "is of tokens, which this gateway cannot read; send the text itself");
    else if (!cJSON_IsString(text))
        json_reader_fail(&reader->in, text, "must be a string");
    else
        request->inputs[request->n_inputs++] = text->valuestring;
}

static void openai_http_embed_read_input(struct reader *reader, const cJSON *value)
{
    Renga__V1__EmbedRequest *request = &reader->texts->request;
    const cJSON *first = cJSON_IsArray(value) ? value->child : value;
    if (first && !cJSON_IsString(first) && !is_token(first)) {
        json_reader_fail(&reader->in, value, "must be a string or a list of strings");
        return;
    }
    request->inputs = arena_alloc(reader->arena, (EMBED_INPUTS_MAX + 1) * sizeof(char *));
    for (const cJSON *text = first; text && request->inputs && !reader->in.failed; text = text->next) {
        if (request->n_inputs > EMBED_INPUTS_MAX) {
            json_reader_fail(&reader->in, value, "has more than %d texts", EMBED_INPUTS_MAX);
            return;
        }
        openai_http_embed_read_text(reader, text);
        if (first == value) /* a single text; its neighbours are other fields */
            return;
    }
}

static void read_encoding_format(struct reader *reader, const cJSON *value)
{
    const char *format = json_string(&reader->in, reader->in.root, "encoding_format");
    reader->texts->base64 = strcmp(format, "base64") == 0;
    if (!reader->texts->base64 && strcmp(format, "float") != 0)
        openai_http_embed_read_refuse(reader, value, "unsupported_value", "must be 'float' or 'base64'");
}

static void read_dimensions(struct reader *reader, const cJSON *value)
{
    reader->texts->request.dimensions =
        (int32_t)json_integer(&reader->in, reader->in.root, "dimensions", 1, VECTOR_DIMENSIONS_MAX);
}

static void pass_over(struct reader *reader, const cJSON *value) {}

static const struct {
    const char *name;
    void (*read)(struct reader *reader, const cJSON *value);
} fields[] = {
    {"model", pass_over}, /* read after all others */
    {"input", openai_http_embed_read_input},
    {"encoding_format", read_encoding_format},
    {"dimensions", read_dimensions},
    {"user", pass_over},
};

static void openai_http_embed_read_field(struct reader *reader, const cJSON *value)
{
    struct nearest nearest = nearest_to(value->string);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].name, value->string) == 0) {
            if (openai_http_is_given(value))
                fields[i].read(reader, value);
            return;
        }
        nearest_try(&nearest, fields[i].name);
    }
    reader->texts->code = "unknown_parameter";
    if (nearest.name)
        json_reader_fail(&reader->in, value, "is not known; did you mean '%s'?", nearest.name);
    else
        json_reader_fail(&reader->in, value, "is not known; leave it out");
}

bool openai_http_read_embed(const cJSON *root, struct arena *arena, struct openai_http_embed_request *texts,
                            struct status *st)
{
    struct reader reader = {.in = json_reader_of(root, st), .arena = arena, .texts = texts};
    *texts = (struct openai_http_embed_request){.code = NULL};
    renga__v1__embed_request__init(&texts->request);
    if (!cJSON_IsObject(root))
        return fail(st, INVALID_ARGUMENT, "the body must be a JSON object");
    for (const cJSON *value = root->child; value && !reader.in.failed; value = value->next)
        openai_http_embed_read_field(&reader, value);
    texts->request.model = UNCONST(json_string(&reader.in, root, "model"));
    if (!reader.in.failed && !openai_http_is_given(cJSON_GetObjectItemCaseSensitive(root, "input")))
        return fail_field(st, "input", "is missing; give a text or a list of texts");
    if (!reader.in.failed && arena->exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "the request takes more memory than it may");
    return !reader.in.failed;
}
