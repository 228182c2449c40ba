/* Server reflection (https://grpc.io/docs/guides/reflection): what is answered, whatever carries it. The messages of
 * grpc.reflection.v1 and v1alpha are the same bytes. */
#ifndef RENGA_RPC_REFLECTION_H
#define RENGA_RPC_REFLECTION_H

#include "base/arena.h"
#include "base/status.h"
#include "rpc/schema.h"

#include <stdbool.h>
#include <stddef.h>

/* Answers one serialised ServerReflectionRequest with one serialised ServerReflectionResponse, in the arena. A file
 * comes first and then everything it imports, each once, so that a client needs no second question. What is not found
 * is an answer too (its error_response); false is for a request that is no such message, and for memory.
 * `services` are those that the server serves. */
bool rpc_reflection_answer(const struct rpc_schema *schema, const char *const *services, size_t service_count,
                           const void *request, size_t size, struct arena *arena, const void **response,
                           size_t *response_size, struct status *st);

#endif
