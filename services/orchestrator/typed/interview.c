/* The service FormInterview. A session is a thread of the agent "form_interview". Each call of a person is a run on
 * that thread, and the call waits for the run.
 *
 *      Answer, Confirm ---> GetState: is it a session? ---> StartRun, waited for ---> GetState
 *      Start           ---------------------------------------------'
 *
 * The agent's document is atomic: a run that fails, or whose client disconnects, does not change the session. */
#include "interview.h"

#include "base/memory.h"
#include "daemon/service.h"
#include "orchestrator.h"
#include "rpc/message_json.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define CONFIGURATION_MAX 1024 /* bytes: a model's name */
#define KEPT_CHECKPOINTS  1    /* of a session, which never returns to an older checkpoint */

static char *interview_unconst(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* NULL: the call has been ended. */
static struct interview_call *interview_call_create(void *self, const char *action, struct rpc_call *rpc)
{
    struct interview_call *call = arena_zalloc(rpc_call_arena(rpc), sizeof *call);
    if (!call) {
        rpc_fail_with(rpc, RESOURCE_EXHAUSTED, "no memory for the call");
        return NULL;
    }
    call->service = self;
    call->rpc = rpc;
    call->action = action;
    call->principal = *rpc_call_principal(rpc);
    return call;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static char *interview_configuration(const char *model, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, CONFIGURATION_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    if (model && *model)
        json_write_string(&out, "model", model);
    json_write_end(&out);
    char *copy = arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
    return copy ? copy : interview_unconst("");
}

/* Checks the request, parses the form and writes it as JSON. Runs as a job, since forms may be large. */
static void interview_start_check(struct job *job)
{
    struct interview_call *call = CONTAINER_OF(job, struct interview_call, job);
    if (interview_check_start(call->started, interview_arena(call), &call->status))
        call->input = interview_input_start(call->started, interview_arena(call), &call->status);
}

static void interview_start_checked(struct job *job)
{
    struct interview_call *call = CONTAINER_OF(job, struct interview_call, job);
    if (job->status.code != OK)
        rpc_fail(call->rpc, &job->status);
    else
        interview_start_run(call, &call->status);
}

static void interview_start(Renga__V1__FormInterview_Service *self, const Renga__V1__StartInterviewRequest *request,
                            Renga__V1__InterviewReply_Closure reply, void *data)
{
    struct interview_call *call = interview_call_create(self, "start", data);
    if (!call)
        return;
    call->reply = reply;
    call->started = request;
    call->session_id = request->session_id;
    call->request_id = request->request_id;
    renga__v1__start_run_request__init(&call->start);
    renga__v1__retention__init(&call->retention);
    call->retention.ttl_ms = request->ttl_ms;
    call->retention.max_checkpoints = KEPT_CHECKPOINTS;
    call->start.retention = &call->retention;
    call->start.configuration_json = interview_configuration(request->model, interview_arena(call));
    call->start.budget = request->budget;
    call->start.labels = (Renga__V1__StartRunRequest__LabelsEntry **)request->labels; /* same entry layout */
    call->start.n_labels = request->n_labels;
    rpc_call_job(call->rpc, &call->job);
    call->job.run = interview_start_check;
    call->job.ended = interview_start_checked;
    job_start(&call->job, rpc_call_received_bytes(call->rpc));
}

/* ---- Answer, AnswerStream, Confirm ------------------------------------------------------------------------------- */

static void interview_keep_label(struct interview_call *call, const cJSON *label)
{
    Renga__V1__StartRunRequest__LabelsEntry *entry = arena_alloc(interview_arena(call), sizeof *entry);
    char *key = arena_strdup(interview_arena(call), label->string);
    char *value = cJSON_IsString(label) ? arena_strdup(interview_arena(call), label->valuestring) : NULL;
    if (!entry || !key || !value)
        return;
    renga__v1__start_run_request__labels_entry__init(entry);
    entry->key = key;
    entry->value = value;
    call->start.labels[call->start.n_labels++] = entry;
}

/* Each later call uses the labels, the model and the budget of the start. */
static void interview_go_on(struct interview_call *call, const cJSON *state)
{
    const cJSON *labels = cJSON_GetObjectItemCaseSensitive(state, "labels"), *label;
    struct arena *arena = interview_arena(call);
    struct status ignored = {0};
    call->start.labels = arena_alloc(arena, ((size_t)cJSON_GetArraySize(labels) + 1) * sizeof *call->start.labels);
    cJSON_ArrayForEach(label, labels)
    {
        if (call->start.labels)
            interview_keep_label(call, label);
    }
    const cJSON *budget = cJSON_GetObjectItemCaseSensitive(state, "budget");
    if (budget && budget->child)
        call->start.budget =
            (Renga__V1__Budget *)message_read_json(&renga__v1__budget__descriptor, budget, arena, &ignored);
    call->start.configuration_json =
        interview_configuration(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(state, "model")), arena);
}

static void interview_session_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct interview_call *call = ((struct rpc_client_call *)data)->owner;
    struct status none = {0};
    cJSON *state = interview_session_of(call, response);
    if (!state)
        return;
    interview_go_on(call, state);
    cJSON_Delete(state);
    interview_start_run(call, &none);
}

static void interview_begin_answer(struct interview_call *call, const Renga__V1__AnswerInterviewRequest *request)
{
    struct status st = {0};
    if (interview_check_answer(request, &st))
        call->input = interview_input_answer(request, interview_arena(call), &st);
    if (!call->input) {
        rpc_fail(call->rpc, &st);
        return;
    }
    call->session_id = request->session_id;
    call->request_id = request->request_id;
    renga__v1__start_run_request__init(&call->start);
    interview_read_session(call, false, interview_session_loaded);
}

static void interview_answer_unary(Renga__V1__FormInterview_Service *self,
                                   const Renga__V1__AnswerInterviewRequest *request,
                                   Renga__V1__InterviewReply_Closure reply, void *data)
{
    struct interview_call *call = interview_call_create(self, "answer", data);
    if (!call)
        return;
    call->reply = reply;
    interview_begin_answer(call, request);
}

static void interview_answer_stream(Renga__V1__FormInterview_Service *self,
                                    const Renga__V1__AnswerInterviewRequest *request,
                                    Renga__V1__InterviewEvent_Closure show, void *data)
{
    struct interview_call *call = interview_call_create(self, "answer", data);
    if (!call)
        return;
    call->show = show;
    interview_begin_answer(call, request);
}

static void interview_confirm(Renga__V1__FormInterview_Service *self, const Renga__V1__ConfirmInterviewRequest *request,
                              Renga__V1__ConfirmInterviewResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct interview_call *call = interview_call_create(self, "confirm", data);
    if (!call)
        return;
    call->confirmed = reply;
    if (interview_check_confirm(request, &st))
        call->input = interview_input_confirm(request, interview_arena(call), &st);
    if (!call->input) {
        rpc_fail(call->rpc, &st);
        return;
    }
    call->session_id = request->session_id;
    call->request_id = "";
    renga__v1__start_run_request__init(&call->start);
    interview_read_session(call, false, interview_session_loaded);
}

/* ---- GetSession -------------------------------------------------------------------------------------------------- */

static void interview_got(struct interview_call *call)
{
    Renga__V1__GetSessionResponse got = RENGA__V1__GET_SESSION_RESPONSE__INIT;
    got.state = call->session;
    call->got(&got, call->rpc);
}

static void interview_state_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct interview_call *call = ((struct rpc_client_call *)data)->owner;
    interview_make_session(call, response, response && response->checkpoint ? response->checkpoint->created_ms : 0,
                           interview_got);
}

static void interview_get_session(Renga__V1__FormInterview_Service *self, const Renga__V1__GetSessionRequest *request,
                                  Renga__V1__GetSessionResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct interview_call *call = interview_call_create(self, "get", data);
    if (!call)
        return;
    call->got = reply;
    call->session_id = request->session_id;
    if (interview_check_session(request->session_id, &st))
        interview_read_session(call, true, interview_state_loaded);
    else
        rpc_fail(call->rpc, &st);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void interview_service_destroy(ProtobufCService *service)
{
    free(service);
}

static ProtobufCService *interview_service_create(const struct service_context *context, struct status *st)
{
    struct interview *interview = xcalloc(1, sizeof *interview);
    interview->base = (Renga__V1__FormInterview_Service){
        .base = {.descriptor = &renga__v1__form_interview__descriptor, .invoke = rpc_service_invoke},
        .start = interview_start,
        .answer = interview_answer_unary,
        .answer_stream = interview_answer_stream,
        .confirm = interview_confirm,
        .get_session = interview_get_session,
        .list_sessions = interview_list_sessions,
        .delete_session = interview_delete_session,
    };
    interview->orchestrator = context->process ? service_peer(context, &renga__v1__orchestrator__descriptor, st) : NULL;
    if (interview->orchestrator || !context->process)
        return &interview->base.base;
    free(interview);
    return NULL;
}

const struct service form_interview_service = {
    .name = "form_interview",
    .descriptor = &renga__v1__form_interview__descriptor,
    .create = interview_service_create,
    .destroy = interview_service_destroy,
};
