/* POST /v1/embeddings. */
#include "openai_http_priv.h"

#define ARENA_MAX ((size_t)1 << 20) /* memory for reading a request: pointers to 2,048 texts, which it borrows \ */

struct embed_call {
    struct openai_http_call base; /* first */
    bool base64;
};

static void openai_http_embed_answered(const Renga__V1__EmbedResponse *response, void *data)
{
    struct embed_call *embed = data;
    openai_http_call_rate_limits(&embed->base);
    openai_http_call_ended(&embed->base);
    if (!response) {
        struct openai_http_error error;
        openai_http_error_of_call(&embed->base.base, &error);
        openai_http_fail(embed->base.request, &error);
        return;
    }
    struct buffer out;
    openai_http_write_embed(response, embed->base64, &out);
    openai_http_origin_headers(embed->base.request, response->answered_by, response->cache_use);
    openai_http_reply(embed->base.request, &out);
    buffer_fini(&out);
}

static void openai_http_embed_ask(struct openai_http *openai_http, struct http_request *request,
                                  const struct openai_http_embed_request *texts)
{
    const struct rpc_principal *principal = openai_http_admit(openai_http, request, "Embed");
    if (!principal)
        return;
    struct embed_call *embed =
        (struct embed_call *)openai_http_call_create(openai_http, request, principal, sizeof(struct embed_call));
    if (!embed)
        return;
    embed->base64 = texts->base64;
    renga__v1__llm_gateway__embed(openai_http->stub, &texts->request, openai_http_embed_answered, &embed->base.base);
}

/* The stub copies the request: the parsed body is freed at once. */
static void openai_http_embed_read_and_ask(struct openai_http *openai_http, struct http_request *request,
                                           const cJSON *root, size_t size)
{
    struct openai_http_embed_request texts;
    struct status st = {0};
    struct arena arena;
    arena_init(&arena, NULL, 0, ARENA_MAX);
    if (!openai_http_read_embed(root, &arena, &texts, &st)) {
        struct openai_http_error error;
        openai_http_error_of(&st, &error);
        if (texts.code)
            error.code = texts.code;
        openai_http_fail(request, &error);
    } else if (size > openai_http->message_max &&
               renga__v1__embed_request__get_packed_size(&texts.request) > openai_http->message_max) {
        openai_http_refuse(request, 413, "request_too_large",
                           "the request has more than the %zu bytes that are allowed", openai_http->message_max);
    } else {
        openai_http_embed_ask(openai_http, request, &texts);
    }
    arena_fini(&arena);
}

void openai_http_embed(struct openai_http *openai_http, struct http_request *request)
{
    size_t size;
    cJSON *root = openai_http_read_body(request, &size);
    if (root)
        openai_http_embed_read_and_ask(openai_http, request, root, size);
    cJSON_Delete(root);
}
