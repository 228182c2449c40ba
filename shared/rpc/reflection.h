/* Server reflection (https://grpc.io/docs/guides/reflection): the answers, independent of the transport. The messages
 * of grpc.reflection.v1 and v1alpha are the same bytes. */
#ifndef RENGA_RPC_REFLECTION_H
#define RENGA_RPC_REFLECTION_H

#include "base/arena.h"
#include "base/status.h"
#include "rpc/schema.h"

#include <stdbool.h>
#include <stddef.h>

/* Answers one serialised ServerReflectionRequest with one serialised ServerReflectionResponse, in the arena. A file is
 * followed by all its imports, each once, so that a client needs no second request. An unknown name is answered with
 * error_response. False for malformed requests and when memory runs out. `services` are those that the server
 * serves. */
bool rpc_reflection_answer(const struct rpc_schema *schema, const char *const *services, size_t service_count,
                           const void *request, size_t size, struct arena *arena, const void **response,
                           size_t *response_size, struct status *st);

#endif
