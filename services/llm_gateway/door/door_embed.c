/* POST /v1/embeddings. */
#include "door_priv.h"

#define ARENA_MAX                                                                                                      \
    ((size_t)1 << 20) /* what a request takes while it is read: places of 2,048 texts, which it borrows                \
                       */

struct embed_call {
    struct door_call base; /* first */
    bool base64;
};

static void answered(const Renga__V1__EmbedResponse *response, void *data)
{
    struct embed_call *embed = data;
    door_call_tell_room(&embed->base);
    door_call_ended(&embed->base);
    if (!response) {
        struct door_error error;
        door_error_of_call(&embed->base.base, &error);
        door_fail(embed->base.request, &error);
        return;
    }
    struct buffer out;
    door_write_embed(response, embed->base64, &out);
    door_tell_origin(embed->base.request, response->answered_by, response->cache_use);
    door_reply(embed->base.request, &out);
    buffer_fini(&out);
}

static void ask(struct door *door, struct http_request *request, const struct door_texts *texts)
{
    const struct rpc_principal *principal = door_admit(door, request, "Embed");
    if (!principal)
        return;
    struct embed_call *embed =
        (struct embed_call *)door_call_create(door, request, principal, sizeof(struct embed_call));
    if (!embed)
        return;
    embed->base64 = texts->base64;
    renga__v1__llm_gateway__embed(door->stub, &texts->request, answered, &embed->base.base);
}

/* The stub has a copy of the request once it was called: what it was read from goes at once. */
static void read_and_ask(struct door *door, struct http_request *request, const cJSON *root, size_t size)
{
    struct door_texts texts;
    struct status st = {0};
    struct arena arena;
    arena_init(&arena, NULL, 0, ARENA_MAX);
    if (!door_read_embed(root, &arena, &texts, &st)) {
        struct door_error error;
        door_error_of(&st, &error);
        if (texts.code)
            error.code = texts.code;
        door_fail(request, &error);
    } else if (size > door->message_max &&
               renga__v1__embed_request__get_packed_size(&texts.request) > door->message_max) {
        door_refuse(request, 413, "request_too_large", "the request has more than the %zu bytes that are allowed",
                    door->message_max);
    } else {
        ask(door, request, &texts);
    }
    arena_fini(&arena);
}

void door_embed(struct door *door, struct http_request *request)
{
    size_t size;
    cJSON *root = door_read_body(request, &size);
    if (root)
        read_and_ask(door, request, root, size);
    cJSON_Delete(root);
}
