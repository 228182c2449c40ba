/* Packs answers for the cache, and unpacks them for a later call.
 *
 * A stored answer is a packed ChatResponse or EmbedResponse without the fields of the one call: usage, attempts,
 * times. */
#ifndef RENGA_LLM_GATEWAY_REPLAY_H
#define RENGA_LLM_GATEWAY_REPLAY_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether other calls may get this answer: only complete answers of a model. (An idempotency key stores every
 * answer.) */
bool replay_is_worth_keeping(const Renga__V1__ChatResponse *response);

/* The bytes to store; NULL if the arena is exhausted. */
uint8_t *replay_pack_chat(struct arena *arena, const Renga__V1__ChatResponse *response, size_t *size);
uint8_t *replay_pack_embed(struct arena *arena, const Renga__V1__EmbedResponse *response, size_t *size);

/* The fields of the call that gets the answer now. */
struct replay_terms {
    Renga__V1__CacheUse use; /* HIT, COALESCED or REPEATED */
    int64_t first_token_ms, duration_ms;
};
/* All in the arena. NULL: the bytes are no answer (INTERNAL: then the model is called) or the arena is too small. */
Renga__V1__ChatResponse *replay_chat(struct arena *arena, const uint8_t *bytes, size_t size,
                                     const struct replay_terms *terms, struct status *st);
Renga__V1__EmbedResponse *replay_embed(struct arena *arena, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use,
                                       struct status *st);

/* Sends the whole answer as a stream, including the closing NULL. Writes to the texts while sending them. */
void replay_stream(Renga__V1__ChatResponse *response, Renga__V1__ChatStreamEvent_Closure send, void *data);

#endif
