/* What calls of nodes to the other services have in common: the way there, deadline, trace, tenant, language and model
 * of the run, what is read of the node's inputs, and how a call that failed or was cancelled ends its task.
 *
 *      static void start(struct task *task)
 *      {
 *          struct plan *plan = task_data(task);            // begins with its struct service_call
 *          struct status st = {0};
 *          bool good = service_call_open(&plan->base, task, PEER_PLANNER, &st) && write_request(plan, &st);
 *          service_call_close(&plan->base);
 *          if (good)
 *              renga__v1__planner__plan(plan->base.peer, &plan->request, planned, &plan->base.call);
 *          else
 *              task_fail(task, &st);
 *      }
 *
 * Its owner is its task: it lives until the closure has ended the task. All from inside the run's loop. */
#ifndef RENGA_ORCHESTRATOR_SERVICE_CALL_H
#define RENGA_ORCHESTRATOR_SERVICE_CALL_H

#include "node_kind.h"
#include "orchestrator_priv.h"

#include "base/json_writer.h"
#include "rpc/rpc.h"

#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/prompt.pb-c.h"
#include "renga/v1/usage.pb-c.h"

struct service_call {
    struct rpc_client_call call; /* first; its owner is this */
    struct task *task;
    ProtobufCService *peer;
    cJSON *inputs;        /* until service_call_close */
    const char *language; /* of the run: "ja", "en"; never NULL */
    const char *model;    /* that the run was started with; NULL: what the document says */
    struct rpc_principal principal;
    Renga__V1__CallOrigin origin;
    Renga__V1__Prompting prompting;
    bool cancelled; /* by us */
};

/* Ready to be called. FAILED_PRECONDITION names the option where nobody has said where the service is. */
bool service_call_open(struct service_call *call, struct task *task, enum peer_service peer, struct status *st);
/* The same for another service, where none has been called yet or the call before has ended. */
bool service_call_again(struct service_call *call, enum peer_service peer, struct status *st);
/* For nodes that call nobody: inputs, language and model alone. */
bool service_call_inputs(struct service_call *call, struct task *task, struct status *st);
/* The same with other inputs, as JSON, in place of the task's own. */
bool service_call_inputs_of(struct service_call *call, struct task *task, const char *json, struct status *st);
/* Lets go of the inputs. Whatever was read of them stays, in the task's arena. */
void service_call_close(struct service_call *call);

/* What a call that failed has spent, as its details tell, is spent by the task. */
void call_spent(struct task *task, struct rpc_client_call *call);
/* Ends the task with the status of the call, and what it has spent. */
void service_call_failed(struct service_call *call);
/* A message that gRPC refused for its size is refused at each attempt: INVALID_ARGUMENT, which is not tried again, in
 * place of RESOURCE_EXHAUSTED, which tells of a moment. */
void call_judge_size(struct status *st);
/* The `cancel` of a kind whose data begins with its call. */
void service_call_cancel(struct task *task);

/* A copy of a message of the answer that lives as long as the task; NULL where the task has no more memory. */
void *service_call_keep(struct service_call *call, const ProtobufCMessage *message);

/* ---- what a request is made of ----------------------------------------------------------------------------------- */

/* The value of the field that a row of the kind's table names; NULL where the document names none, or it has none. */
const cJSON *service_call_input(const struct service_call *call, size_t row);
/* The same as a string; "" where there is none. */
char *service_call_text(const struct service_call *call, size_t row);
/* As JSON; "" where there is none. */
char *service_call_json(const struct service_call *call, size_t row);
/* A list of strings. */
bool service_call_texts(const struct service_call *call, size_t row, char ***list, size_t *count, struct status *st);
/* An object as a message, a list of objects as messages; NULL and 0 where there is none. */
bool service_call_message(const struct service_call *call, size_t row, const ProtobufCMessageDescriptor *type,
                          void *message, struct status *st);
bool service_call_messages(const struct service_call *call, size_t row, const ProtobufCMessageDescriptor *type,
                           void *list, size_t *count, struct status *st);

/* The rows that every kind has whose service thinks, from `row` on. */
#define PROMPTING_ROWS(first)                                                                                          \
    [(first)] = {.name = "model",                                                                                      \
                 .type = PARAMETER_TEXT,                                                                               \
                 .help = "A route of the gateway; else the service's own. The run may say another."},                  \
    [(first) + 1] = {.name = "system",                                                                                 \
                     .type = PARAMETER_PROMPT,                                                                         \
                     .help = "A prompt in place of the service's own rules; its {names} are the request's."},          \
    [(first) + 2] = {.name = "prompt",                                                                                 \
                     .type = PARAMETER_PROMPT,                                                                         \
                     .help = "A prompt in place of the service's own question, likewise."},                            \
    [(first) + 3] = {.name = "model_required",                                                                         \
                     .type = PARAMETER_BOOLEAN,                                                                        \
                     .help = "True: fail where no model gives a usable answer. Else the service takes its simple "     \
                             "way, and says so."},                                                                     \
    [(first) + 4] = {.name = "without_model",                                                                          \
                     .type = PARAMETER_BOOLEAN,                                                                        \
                     .help = "True: the service takes its simple way at once, and says so."}
/* Fills call->prompting after them. */
void service_call_prompt(struct service_call *call, size_t first);

/* ---- for `check` of a kind --------------------------------------------------------------------------------------- */

/* That the field of the row, where the document names one, is of this type and among the node's inputs. */
bool input_check(const struct node *node, size_t row, enum field_type type, bool list, struct status *st);
/* That it is of this type; what is written there fits. */
bool output_check(const struct node *node, size_t row, enum field_type type, bool list, struct status *st);
/* The index of the word that a row has among `words` (ends with NULL); without a word 0. -1: failed. */
int word_check(const struct node *node, size_t row, const char *const *words, struct status *st);

/* A row that is a list of names: "tools": ["search_documents"]. */
bool names_check(const struct node *node, size_t row, struct status *st);
bool names_read(const struct service_call *call, size_t row, char ***list, size_t *count, struct status *st);

/* ---- what is answered -------------------------------------------------------------------------------------------- */

#define UPDATE_BYTES_MAX ((size_t)3 << 20) /* as RunNodeResponse.update_json */

/* Whether the gateway's answer has its message and its end. */
bool answer_is_whole(const Renga__V1__ChatResponse *answer, struct status *st);
/* Whether a model came to an end of its own: not cut, not refused, not blocked; the gateway has done what could be done
 * about it. The second allows it to have called tools, or to have said nothing. */
bool finish_is_answer(const Renga__V1__ChatFinish *finish, const char *refusal, struct status *st);
bool finish_may_call(const Renga__V1__ChatFinish *finish, const char *refusal, struct status *st);

/* An update on its way: fields are written between begin and finish, which ends the task. */
struct update {
    struct buffer text;
    struct json_writer out;
    Renga__V1__RunNodeResponse response; /* usage, degradations, overwrite_fields may be set */
};
void update_begin(struct update *update);
/* The name of the field that a row names, for writing it; NULL where the document names none. */
const char *update_field(const struct task *task, size_t row);
void update_finish(struct update *update, struct task *task, const char *outcome);

#endif
