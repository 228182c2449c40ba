/* Private to thought*.c. */
#ifndef RENGA_THINKING_THOUGHT_PRIV_H
#define RENGA_THINKING_THOUGHT_PRIV_H

#include "thinking/thought.h"

/* ---- thought.c: how it goes on ---- */

void thought_heard(const Renga__V1__ChatResponse *answer, void *data);
/* No model gives a usable answer: the simple way, or the failure. */
void thought_give_up(struct thought *thought, const struct status *why);
void thought_fail(struct thought *thought, const struct status *st);

/* ---- thought_ask.c: the question ---- */

/* Fills the prompts. INVALID_ARGUMENT with a field where a template or the variables are wrong. */
bool thought_write_turns(struct thought *thought, struct status *st);
void thought_ask(struct thought *thought);
/* The connection to the gateway is lost: asks again after a pause. False if that was done often enough, or the caller
 * waits no more. */
bool thought_ask_later(struct thought *thought);
/* The same question, the answer to it, which is the call's, and the fault of that answer. */
void thought_ask_again(struct thought *thought, char *answer, const char *problem);
/* What is left of max_model_calls. */
int64_t thought_calls_left(const struct thought *thought);

/* ---- thought_judge.c: the answer ---- */

/* Usage, model and degradations of an answer; a failure's usage. */
void thought_take_finish(struct thought *thought, const Renga__V1__ChatFinish *finish);
void thought_take_failure(struct thought *thought);
/* Whether the model has said all that it wanted to, as JSON. */
bool thought_has_answer(const Renga__V1__ChatResponse *answer, struct status *st);
/* The result, by kind->read. `mendable`: the model may do better when it is told. In a worker thread if the answer
 * is long. */
bool thought_read(struct thought *thought, const char *json, bool *mendable, struct status *st);
/* Whether the failure is the caller's to hear though it would take the simple way too: its own deadline, limit, model
 * or template. Rewrites the status from the gateway's words into ours. */
bool thought_is_callers(struct thought *thought, struct status *st);
/* What was spent goes into the details of the failure that the call is to end with. */
void thought_tell_usage(struct thought *thought);
/* Fills and returns `st`. */
const struct status *fail_no_gateway(struct status *st, const char *service);

#endif
