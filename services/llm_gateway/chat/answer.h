/* What a model says, in one shape over all providers.
 *
 *      answer_add, answer_call_tool ...   pieces, as they are read
 *      answer_stop                        why the model stopped
 *      answer_set_usage                       what it cost
 *      answer_finish                    the judgement: an outcome with a name, or a failure
 *
 * A whole answer is one with large pieces. Pieces are kept (for ChatResponse), or handed on as they come (for
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
    char *bytes; /* with a NUL behind; NULL while empty or not kept */
    size_t size, capacity;
    size_t seen; /* bytes that came, kept or not */
};

struct json_schema;

struct answer_call {
    struct answer_call *next;
    int index;           /* of our own, from 0 */
    int64_t their_index; /* -1: the provider counts none */
    const char *their_id;
    const char *id, *name; /* ours; "" until the name has come */
    struct answer_text arguments;
};

/* A piece on its way to the client. */
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
    void (*piece_came)(struct answer *answer, const struct answer_piece *piece); /* NULL: nobody waits for pieces */
    void *owner;
    const struct json_schema *schema; /* of answer_expect; NULL: none */

    /* Told by the provider. */
    char id[ANSWER_ID_MAX + 1];
    char model[ANSWER_MODEL_MAX + 1];
    char word[ANSWER_FINISH_REASON_MAX + 1]; /* its own word for why the model stopped */
    Renga__V1__FinishReason stopped;
    bool had_choice;             /* it said something, be it empty */
    bool ended;                  /* it said itself that nothing more comes */
    Renga__V1__Finding *finding; /* of the extractive provider; NULL: none */
    struct answer_text parts[ANSWER_PARTS];
    struct answer_text seal; /* on the thinking: ChatMessage.reasoning_signature */
    bool seal_broken;        /* it could not be kept whole, and is none */
    struct answer_call *first_call, *last_call;
    int call_count;
    struct token_count passed; /* what came and is not kept, for an estimate */
    Renga__V1__Usage usage;
    bool spent;
    bool read;           /* the input's counts are known, the output's are not yet */
    size_t estimated_at; /* bytes that had come when the usage was estimated, and 1; 0: it was not */
};

void answer_init(struct answer *answer, struct arena *arena, const Renga__V1__ChatRequest *request);

/* Compiles the schema that the answer is to fit. False with INVALID_ARGUMENT that names the field. */
bool answer_expect(struct answer *answer, struct status *st);

/* The provider's names for the answer and the model: the first id and the last model that are not empty count. */
void answer_name(struct answer *answer, const char *id, const char *model);

/* More of the text, the thinking or the refusal. */
bool answer_add(struct answer *answer, enum answer_part part, const char *text, struct failure *failure);

/* More of the provider's seal on its thinking. What cannot be kept whole is not kept. */
void answer_seal(struct answer *answer, const char *text);

/* More of a tool call. `index` is -1, `id` and `name` are "" where the provider does not give them with this piece. */
struct answer_call_piece {
    int64_t index;
    const char *id, *name, *arguments;
};
bool answer_call_tool(struct answer *answer, const struct answer_call_piece *piece, struct failure *failure);
/* No more comes of the calls: those without arguments get "{}", as those who parse them expect. */
bool answer_finish_calls(struct answer *answer, struct failure *failure);

/* Text that is no JSON by little, sanitized in a copy of the arena (answer_sanitize.c); NULL if there is no damage to
 * mend. Then it was no JSON before. */
const char *answer_sanitize(struct arena *arena, const char *text, size_t *size);

/* Keeps bytes behind a text; for answer*.c alone. */
bool answer_append(struct answer *answer, struct answer_text *text, const char *bytes, size_t size,
                   struct failure *failure);

/* Why the model stopped, in the provider's own word, after its table (which ends with NULL). "" says nothing; a word
 * that the table does not have stays unspecified: "abort" or "error" must not pass for an end. */
struct answer_word {
    const char *word;
    Renga__V1__FinishReason reason;
};
void answer_stop(struct answer *answer, const struct answer_word *words, const char *word);

/* Counts as the provider gives them; the last ones count. */
void answer_set_usage(struct answer *answer, int64_t input, int64_t output, int64_t cached_input, int64_t reasoning);

/* The input's counts alone, of providers that give them first. */
void answer_read(struct answer *answer, int64_t input, int64_t cached_input);

/* Estimates the usage if the provider did not send it: once for the pieces that have come, however often it is asked.
 */
const Renga__V1__Usage *answer_usage(struct answer *answer);

/* Fills finish_reason, provider_finish_reason, structured_json and usage. False where the answer cannot be used: it did
 * not end, or is not the JSON that was asked for. */
bool answer_finish(struct answer *answer, Renga__V1__ChatFinish *finish, struct failure *failure);

/* answer_json.c: whether a JSON format was asked for; and the text as the JSON that fits it, for answer*.c alone. */
bool answer_wants_json(const struct answer *answer);
bool answer_check_json(struct answer *answer, char **json, struct failure *failure);

/* The assistant's turn, from what was kept. NULL where memory is out. */
Renga__V1__ChatMessage *answer_message(struct answer *answer);

#endif
