/* Server reflection (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md). Both versions have the same
 * messages, field by field; reflection.c makes the answers. */
#include "rpc/reflect.h"

#include "rpc/reflection.h"
#include "rpc/serving.h"

static void reflect_answer(struct rpc_shard *shard, struct rpc_call *call, const void *bytes, size_t size)
{
    if (!bytes) {
        rpc_call_finish(call);
        return;
    }
    const struct rpc_server *server = shard->server;
    struct arena arena;
    arena_init(&arena, NULL, 0, server->options.call_memory_max);
    const void *response;
    size_t response_size;
    struct status st = {0};
    if (rpc_reflection_answer(server->options.schema, server->services, server->service_count, bytes, size, &arena,
                              &response, &response_size, &st))
        rpc_reply_packed(call, response, response_size);
    else
        rpc_fail(call, &st);
    arena_fini(&arena);
}

const struct rpc_builtin rpc_reflection_v1 = {"grpc.reflection.v1.ServerReflection", "ServerReflectionInfo",
                                              reflect_answer};
const struct rpc_builtin rpc_reflection_v1alpha = {"grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo",
                                                   reflect_answer};
