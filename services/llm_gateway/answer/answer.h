/* A model's answer, in one form for all providers.
 *
 *      answer_add, answer_call_tool ...   pieces, as they are read
 *      answer_stop                        the finish reason
 *      answer_set_usage                 the usage
 *      answer_finish                    the verdict: an outcome with a name, or a failure
 *
 * A whole answer is an answer with large pieces. Pieces are stored (for ChatResponse), or forwarded on arrival (for
 * ChatStream), or both (a stream whose JSON is checked at its end). All memory is the call's arena. */
#ifndef RENGA_LLM_GATEWAY_ANSWER_H
#define RENGA_LLM_GATEWAY_ANSWER_H

#include "admission/tokens.h"
#include "base/arena.h"
#include "contract/failure.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of the contract (chat.proto, llm_gateway.proto). */
#define ANSWER_ID_MAX            64
#define ANSWER_MODEL_MAX         128
#define ANSWER_FINISH_REASON_MAX 64
#define ANSWER_CONTENT_MAX       ((size_t)1 << 20)
#define ANSWER_REASONING_MAX     ((size_t)1 << 20)
#define ANSWER_REFUSAL_MAX       ((size_t)64 << 10)
#define ANSWER_SEAL_MAX          ((size_t)64 << 10)
#define ANSWER_CALLS_MAX         128
#define ANSWER_CALL_ID_MAX       128
#define ANSWER_ARGUMENTS_MAX     ((size_t)256 << 10)

enum answer_part { ANSWER_TEXT, ANSWER_REASONING, ANSWER_REFUSAL, ANSWER_PARTS };

/* Text that grows in an arena. */
struct answer_text {
    char *bytes; /* terminated by a NUL; NULL while empty or not stored */
    size_t size, capacity;
    size_t seen; /* bytes received, stored or not */
};

struct json_schema;

struct answer_call {
    struct answer_call *next;
    int index;           /* of our own, from 0 */
    int64_t their_index; /* -1: the provider sends no index */
    const char *their_id;
    const char *id, *name; /* ours; "" until the name has arrived */
    struct answer_text arguments;
};

/* A piece for the client. */
struct answer_piece {
    enum answer_part part;
    const struct answer_call *call; /* of a tool call, else NULL */
    bool opens;                     /* the first piece of its call */
    const char *text;               /* with a NUL behind */
    size_t size;
};

struct answer {
    /* Set by the owner. */
    struct arena *arena;
    const Renga__V1__ChatRequest *request;
    bool keeps_content, keeps_rest;
    void (*piece_came)(struct answer *answer, const struct answer_piece *piece); /* NULL: pieces are not forwarded */
    void *owner;
    const struct json_schema *schema; /* of answer_expect; NULL: no schema */

    /* Set by the provider's reader. */
    char id[ANSWER_ID_MAX + 1];
    char model[ANSWER_MODEL_MAX + 1];
    char word[ANSWER_FINISH_REASON_MAX + 1]; /* the provider's finish reason */
    Renga__V1__FinishReason stopped;
    bool had_choice;             /* there was a choice, possibly empty */
    bool had_other_choice;       /* a choice that was not asked for came, and is left out */
    bool ended;                  /* the provider has marked the end */
    Renga__V1__Finding *finding; /* of the extractive provider; NULL otherwise */
    bool japanese;               /* the extractive provider was asked in Japanese */
    struct answer_text parts[ANSWER_PARTS];
    struct answer_text seal; /* signature of the thinking: ChatMessage.reasoning_signature */
    bool seal_broken;        /* it was too long to store, and is dropped */
    struct answer_call *first_call, *last_call;
    int call_count;
    struct token_count passed; /* received but not stored, for an estimate */
    Renga__V1__Usage usage;
    bool spent;
    bool read;           /* the input's counts are known, the output's are not yet */
    size_t estimated_at; /* bytes received at the time of the estimate, plus 1; 0: not estimated */
};

void answer_init(struct answer *answer, struct arena *arena, const Renga__V1__ChatRequest *request);

/* Compiles the schema for the answer. False with INVALID_ARGUMENT that names the field. */
bool answer_expect(struct answer *answer, struct status *st);

/* The provider's names for the answer and the model: the first id and the last model that are not empty count. */
void answer_name(struct answer *answer, const char *id, const char *model);

/* Appends to the text, the thinking or the refusal. */
bool answer_add(struct answer *answer, enum answer_part part, const char *text, struct failure *failure);

/* Appends to the provider's signature of its thinking. A signature that is too long is dropped as a whole. */
void answer_seal(struct answer *answer, const char *text);

/* A piece of a tool call. `index` is -1, `id` and `name` are "" if the provider does not send them with this piece. */
struct answer_call_piece {
    int64_t index;
    const char *id, *name, *arguments;
};
bool answer_call_tool(struct answer *answer, const struct answer_call_piece *piece, struct failure *failure);
/* The calls are complete: a call without arguments gets "{}", as parsers expect. */
bool answer_finish_calls(struct answer *answer, struct failure *failure);

/* Repairs text that is almost JSON, in a copy in the arena (answer_sanitize.c). NULL: no known damage; the text is
 * not JSON at all. */
const char *answer_sanitize(struct arena *arena, const char *text, size_t *size);

/* Appends bytes to a text; private to answer*.c. */
bool answer_append(struct answer *answer, struct answer_text *text, const char *bytes, size_t size,
                   struct failure *failure);

/* Maps the provider's finish reason by its table (which ends with NULL). "" sets no reason; an unknown word stays
 * unspecified: "abort" or "error" must not pass for a normal end. */
struct answer_word {
    const char *word;
    Renga__V1__FinishReason reason;
};
void answer_stop(struct answer *answer, const struct answer_word *words, const char *word);

/* The provider's counts; the last call wins. */
void answer_set_usage(struct answer *answer, int64_t input, int64_t output, int64_t cached_input, int64_t reasoning);

/* Only the input's counts, for providers that send them first. */
void answer_read(struct answer *answer, int64_t input, int64_t cached_input);

/* Estimates the usage if the provider did not send it. Repeated calls estimate the same pieces only once. */
const Renga__V1__Usage *answer_usage(struct answer *answer);

/* Fills finish_reason, provider_finish_reason, structured_json and usage. False if the answer is unusable:
 * incomplete, or not the requested JSON. */
bool answer_finish(struct answer *answer, Renga__V1__ChatFinish *finish, struct failure *failure);

/* answer_json.c: whether the request has a JSON format; and the text as JSON of that format, private to answer*.c. */
bool answer_wants_json(const struct answer *answer);
bool answer_check_json(struct answer *answer, char **json, struct failure *failure);

/* The assistant's message, from the stored pieces. NULL if memory is exhausted. */
Renga__V1__ChatMessage *answer_message(struct answer *answer);

#endif
