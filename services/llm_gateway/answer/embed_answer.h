/* The vectors of an answer, in one form for all providers, and their usage.
 *
 *      embed_answer_read        goes through the text, which must be JSON and an object
 *      embed_answer_vector      one vector, in the order of arrival
 *      embed_answer_usage       the usage
 *      embed_answer_conclude    the verdict:  each text has its vector, or a failure
 *
 * All memory is the call's arena: 4 bytes a number. */
#ifndef RENGA_LLM_GATEWAY_EMBED_ANSWER_H
#define RENGA_LLM_GATEWAY_EMBED_ANSWER_H

#include "base/arena.h"
#include "contract/check_embed.h"
#include "contract/failure.h"
#include "vector.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMBED_MODEL_MAX 128 /* bytes, AnsweredBy.model; a limit of the contract (llm_gateway.proto) */

/* An embedding request for one model. The request has been checked (contract/check_embed.h). */
struct embed_question {
    const Renga__V1__EmbedRequest *request;
    const char *model;      /* as the upstream calls it */
    bool base64;            /* the upstream is known to give vectors in base64: a quarter of the size */
    int64_t context_tokens; /* for upstreams that keep a context of the length they are told; 0: their own */
};

struct embed_answer {
    struct arena *arena;
    const Renga__V1__EmbedRequest *request;
    Renga__V1__Embedding *embeddings; /* one for each text; without values until its vector has come */
    size_t came;                      /* vectors */
    size_t dimensions;                /* of every vector; 0 before the first */
    char model[EMBED_MODEL_MAX + 1];
    Renga__V1__Usage usage;
    bool spent; /* the provider has sent the usage */
};

/* False if the arena is exhausted. */
bool embed_answer_init(struct embed_answer *answer, struct arena *arena, const Renga__V1__EmbedRequest *request);

/* Passes each field of the text to `read`, which takes its value or leaves it. An unexpected form is marked as wrong
 * (json_pull_wrong); the first failure counts. */
typedef void embed_read_field(struct embed_answer *answer, struct json_pull *in, struct failure *failure);
bool embed_answer_read(struct embed_answer *answer, const char *body, size_t size, embed_read_field *read,
                       struct failure *failure);

/* The vector of the text with this index. A vector without numbers is skipped; its failure is recorded. */
void embed_answer_vector(struct embed_answer *answer, int64_t index, const struct vector *vector,
                         struct failure *failure);

/* Takes the next value as the provider's name of the model. */
void embed_answer_name(struct embed_answer *answer, struct json_pull *in);

/* Reads the next value as the count of input tokens. An unreadable count is ignored. */
void embed_answer_count(struct embed_answer *answer, struct json_pull *in);

/* The usage: the provider's counts, or an estimate. A count of 0 means that the server does not count. */
const Renga__V1__Usage *embed_answer_usage(struct embed_answer *answer);

bool embed_answer_conclude(struct embed_answer *answer, struct failure *failure);

#endif
