/* Answers as they are kept, and as they are given once more: the same words, at no cost.
 *
 * What is kept is a packed ChatResponse or EmbedResponse without what belonged to the one call: its usage, its
 * attempts, its times. */
#ifndef RENGA_LLM_GATEWAY_REPLAY_H
#define RENGA_LLM_GATEWAY_REPLAY_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the cache may have it for others: only what the model has said to its end. (What an idempotency key was
 * answered is kept whatever it is.) */
bool replay_is_worth_keeping(const Renga__V1__ChatResponse *response);

/* The bytes to keep; NULL where the arena is out. */
uint8_t *replay_pack_chat(struct arena *arena, const Renga__V1__ChatResponse *response, size_t *size);
uint8_t *replay_pack_embed(struct arena *arena, const Renga__V1__EmbedResponse *response, size_t *size);

/* What is of the call that gets the answer now. */
struct replay_terms {
    Renga__V1__CacheUse use; /* HIT, COALESCED or REPEATED */
    int64_t first_token_ms, duration_ms;
};
/* All in the arena. NULL where the bytes are no answer (INTERNAL: then the model is to be asked after all) or need more
 * memory than the arena has. */
Renga__V1__ChatResponse *replay_chat(struct arena *arena, const uint8_t *bytes, size_t size,
                                     const struct replay_terms *terms, struct status *st);
Renga__V1__EmbedResponse *replay_embed(struct arena *arena, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use,
                                       struct status *st);

/* Sends the whole answer as a stream, the closing NULL too. The texts are written to while they are sent. */
void replay_stream(Renga__V1__ChatResponse *response, Renga__V1__ChatStreamEvent_Closure send, void *data);

#endif
