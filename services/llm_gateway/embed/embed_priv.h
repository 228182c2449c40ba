/* Private to embed*.c: one request for vectors, in three steps that know nothing of routes and retries.
 *
 *      embed_write     the body, for a deployment and a model
 *      embed_judge     what to make of a transfer that has ended: vectors, or a failure
 *      embed_reply     the vectors, with who made them and what was sent for them */
#ifndef RENGA_LLM_GATEWAY_EMBED_PRIV_H
#define RENGA_LLM_GATEWAY_EMBED_PRIV_H

#include "base/buffer.h"
#include "embed_answer.h"
#include "http/client.h"

struct deployment;
struct rpc_call;

/* False where it has more than EMBED_BODY_MAX bytes. */
#define EMBED_BODY_MAX ((size_t)32 << 20) /* a request of 4 MiB, most of it escaped */
bool embed_write(const Renga__V1__EmbedRequest *request, const struct deployment *deployment, const char *model,
                 struct buffer *body);

/* How large the answer to a request may become, in bytes; at least `usual`. */
size_t embed_response_max(const Renga__V1__EmbedRequest *request, size_t usual);

/* `answer` is new. `timeout_is_callers`: running out of time is the caller's own deadline. */
bool embed_judge(struct embed_answer *answer, const struct deployment *deployment, const struct transfer *transfer,
                 bool timeout_is_callers, struct failure *failure);

/* Ends the call. `attempts`: every request that was sent, the last one gave the answer. */
void embed_reply(struct embed_answer *answer, struct rpc_call *call, Renga__V1__AnsweredBy *by,
                 Renga__V1__Attempt **attempts, size_t attempt_count, Renga__V1__EmbedResponse_Closure reply);

#endif
