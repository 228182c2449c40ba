/* Private to task*.c. */
#ifndef RENGA_MODEL_TASK_PRIV_H
#define RENGA_MODEL_TASK_PRIV_H

#include "model_task/model_task.h"

/* ---- model_task.c: the steps ---- */

void model_task_answered(const Renga__V1__ChatResponse *answer, void *data);
/* No model gives a usable answer: the fallback, or the failure. */
void model_task_give_up(struct model_task *task, const struct status *why);
void model_task_fail(struct model_task *task, const struct status *st);

/* ---- model_task_request.c: the request ---- */

/* Fills the prompts. INVALID_ARGUMENT with a field if a template or the variables are wrong. */
bool model_task_write_turns(struct model_task *task, struct status *st);
void model_task_ask(struct model_task *task);
/* The connection to the gateway is lost: asks again after a pause. False if that was done often enough, or the caller
 * waits no more. */
bool model_task_ask_later(struct model_task *task);
/* The same question, the answer to it, which is the call's, and the fault of that answer. */
void model_task_ask_again(struct model_task *task, char *answer, const char *problem);
/* The remaining number of max_model_calls. */
int64_t model_task_calls_left(const struct model_task *task);

/* ---- model_task_answer.c: the answer ---- */

/* Usage, model and degradations of an answer; a failure's usage. */
void model_task_take_finish(struct model_task *task, const Renga__V1__ChatFinish *finish);
void model_task_take_failure(struct model_task *task);
/* True if the model has finished its answer, as JSON. */
bool model_task_has_answer(const Renga__V1__ChatResponse *answer, struct status *st);
/* The result, by kind->read. `correctable`: the model may do better with an explanation. In a worker thread if the
 * answer is long. */
bool model_task_read(struct model_task *task, const char *json, bool *correctable, struct status *st);
/* True if the caller must get the error although a fallback exists: its own deadline, limit, model or template.
 * Replaces the gateway's text of the status with ours. */
bool model_task_is_caller_error(struct model_task *task, struct status *st);
/* Adds the usage to the details of the call's failure. */
void model_task_attach_usage(struct model_task *task);
/* Fills and returns `st`. */
const struct status *fail_no_gateway(struct status *st, const char *service);

#endif
