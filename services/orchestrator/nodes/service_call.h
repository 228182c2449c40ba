/* The common part of calls of nodes to the other services: channel, deadline, trace, tenant, language and model of the
 * run, and the inputs of the node. It also ends the task if the call failed or was cancelled.
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

#include "graph/node_kind.h"
#include "node_services.h"

#include "rpc/rpc.h"
#include "json/writer.h"

#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/prompt.pb-c.h"
#include "renga/v1/usage.pb-c.h"

struct service_call {
    struct rpc_client_call call; /* first; its owner is this */
    struct task *task;
    ProtobufCService *peer;
    cJSON *inputs;        /* until service_call_close */
    const char *language; /* of the run: "ja", "en"; never NULL */
    const char *model;    /* that the run was started with; NULL: the document's */
    struct rpc_principal principal;
    Renga__V1__CallOrigin origin;
    Renga__V1__Prompting prompting;
    bool cancelled; /* by us */
};

/* Makes the call ready. FAILED_PRECONDITION names the missing option if the service has no address. */
bool service_call_open(struct service_call *call, struct task *task, enum peer_service peer, struct status *st);
/* The same for another service, before the first call or after the end of the previous call. */
bool service_call_again(struct service_call *call, enum peer_service peer, struct status *st);
/* For nodes that call no service: inputs, language and model alone. */
bool service_call_inputs(struct service_call *call, struct task *task, struct status *st);
/* The same with other inputs, as JSON, in place of the task's own. */
bool service_call_inputs_of(struct service_call *call, struct task *task, const char *json, struct status *st);
/* Frees the inputs. Values that were read from them stay, in the task's arena. */
void service_call_close(struct service_call *call);

/* Adds the usage of a failed call, as its details tell it, to the task's. */
void call_spent(struct task *task, struct rpc_client_call *call);
/* Ends the task with the status of the call, and its usage. */
void service_call_failed(struct service_call *call);
/* Whether the details of a failed call name this reason in google.rpc.ErrorInfo. */
bool service_call_reason_is(struct service_call *call, const char *reason);
/* gRPC refuses a message for its size with RESOURCE_EXHAUSTED, and would do so at each attempt. Changes the status to
 * INVALID_ARGUMENT, which is not retried. */
void call_judge_size(struct status *st);
/* The `cancel` of a kind whose data begins with its call. */
void service_call_cancel(struct task *task);

/* A copy of a message of the answer that lives as long as the task; NULL if the task has no more memory. */
void *service_call_keep(struct service_call *call, const ProtobufCMessage *message);

/* ---- the request ------------------------------------------------------------------------------------------------- */

/* The value of the field that a row of the kind's table names; NULL if the document names no field, or it has no
 * value. */
const cJSON *service_call_input(const struct service_call *call, size_t row);
/* The same as a string; "" without a value. */
char *service_call_text(const struct service_call *call, size_t row);
/* As JSON; "" without a value. */
char *service_call_json(const struct service_call *call, size_t row);
/* A list of strings. */
bool service_call_texts(const struct service_call *call, size_t row, char ***list, size_t *count, struct status *st);
/* An object as a message, a list of objects as messages; NULL and 0 without a value. */
bool service_call_message(const struct service_call *call, size_t row, const ProtobufCMessageDescriptor *type,
                          void *message, struct status *st);
bool service_call_messages(const struct service_call *call, size_t row, const ProtobufCMessageDescriptor *type,
                           void *list, size_t *count, struct status *st);

/* The rows of every kind whose service asks a model, from `first` on. */
#define PROMPTING_ROWS(first)                                                                                          \
    [(first)] = {"model", PARAMETER_TEXT, OPTIONAL,                                                                    \
                 "A route of the gateway; else the service's own. The run may say another."},                          \
    [(first) + 1] = {"system", PARAMETER_PROMPT, OPTIONAL,                                                             \
                     "A prompt in place of the service's own rules; its {names} are the request's."},                  \
    [(first) + 2] = {"prompt", PARAMETER_PROMPT, OPTIONAL,                                                             \
                     "A prompt in place of the service's own question, likewise."},                                    \
    [(first) + 3] = {"model_required", PARAMETER_BOOLEAN, OPTIONAL,                                                    \
                     "True: fail where no model gives a usable answer. Else the service uses its fallback, and says "  \
                     "so."},                                                                                           \
    [(first) + 4] = {"without_model", PARAMETER_BOOLEAN, OPTIONAL,                                                     \
                     "True: the service uses its fallback without a model at once, and says so."}
/* Fills call->prompting after them. */
void service_call_prompt(struct service_call *call, size_t first);

/* ---- for `check` of a kind --------------------------------------------------------------------------------------- */

/* The index of the word that a row has among `words` (ends with NULL); without a word 0. -1: failed. */
int word_check(const struct node *node, size_t row, const char *const *words, struct status *st);

/* A row that is a list of names: "tools": ["search_documents"]. */
bool names_check(const struct node *node, size_t row, struct status *st);
bool names_read(const struct service_call *call, size_t row, char ***list, size_t *count, struct status *st);

/* ---- the answer -------------------------------------------------------------------------------------------------- */

#define UPDATE_BYTES_MAX ((size_t)3 << 20) /* as RunNodeResponse.update_json */

/* Whether the gateway's answer has its message and its end. */
bool answer_is_whole(const Renga__V1__ChatResponse *answer, struct status *st);
/* Whether the model ended its answer itself: it was not cut, refused or blocked. The gateway has already done all
 * possible repair. finish_may_call also allows tool calls, and an empty answer. */
bool finish_is_answer(const Renga__V1__ChatFinish *finish, const char *refusal, struct status *st);
bool finish_may_call(const Renga__V1__ChatFinish *finish, const char *refusal, struct status *st);

/* An update on its way: fields are written between begin and finish, which ends the task. */
struct update {
    struct buffer text;
    struct json_writer out;
    Renga__V1__RunNodeResponse response; /* usage, degradations, overwrite_fields may be set */
};
void update_begin(struct update *update);
/* The name of the field that a row names, for writing it; NULL if the document names no field. */
const char *update_field(const struct task *task, size_t row);
void update_finish(struct update *update, struct task *task, const char *outcome);

#endif
