/* Runs a person's call on the thread of the session, and makes the reply. */
#include "interview.h"

#include "api/refuse.h"
#include "base/sha256.h"
#include "base/text.h"
#include "words/sentences.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define ATTEMPTS_MAX 100            /* of a repeated request */
#define SPLIT_MAX    ((size_t)4096) /* bytes of a reply that are shown in sentences; the rest is a single piece */

static char *run_unconst(const char *text)
{
    return (char *)(uintptr_t)text;
}

struct arena *interview_arena(const struct interview_call *call)
{
    return rpc_call_arena(call->rpc);
}

static void run_prepare_session(struct interview_call *call, bool on_behalf)
{
    rpc_client_call_init(&call->call, rpc_call_loop(call->rpc), on_behalf ? call->rpc : NULL);
    call->call.principal = &call->principal;
    call->call.owner = call;
    if (!on_behalf)
        call->call.trace = rpc_call_trace_apart(call->rpc);
}

/* ---- the session ------------------------------------------------------------------------------------------------- */

/* Reads the part of the session that later calls need; with `all`, the whole session. */
void interview_read_session(struct interview_call *call, bool all,
                            void (*came)(const Renga__V1__GetStateResponse *response, void *data))
{
    static char revision[] = "revision", labels[] = "labels", model[] = "model", budget[] = "budget";
    static char *const needed[] = {revision, labels, model, budget};
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = run_unconst(call->session_id);
    request.fields = (char **)(uintptr_t)needed;
    request.n_fields = all ? 0 : sizeof needed / sizeof *needed;
    run_prepare_session(call, true);
    renga__v1__orchestrator__get_state(call->service->orchestrator, &request, came, &call->call);
}

static bool session_is_own(const Renga__V1__GetStateResponse *response)
{
    return response && strcmp(response->agent, INTERVIEW_AGENT) == 0;
}

static bool session_has_revision(const cJSON *state)
{
    const cJSON *revision = cJSON_GetObjectItemCaseSensitive(state, "revision");
    return cJSON_IsNumber(revision) && revision->valuedouble > 0;
}

static void session_not_found(const struct interview_call *call, struct status *st)
{
    fail(st, NOT_FOUND, "there is no session '%.128s'", call->session_id);
}

/* The state of the session; NULL: the call has been ended. A thread is not a session if it belongs to another agent or
 * has no successful call. */
cJSON *interview_session_of(struct interview_call *call, const Renga__V1__GetStateResponse *response)
{
    struct status st = call->call.status;
    cJSON *state = response ? json_parse(response->state_json, strlen(response->state_json), NULL, &st) : NULL;
    if (session_is_own(response) && session_has_revision(state))
        return state;
    if (state || st.code == NOT_FOUND)
        session_not_found(call, &st);
    refuse_as(call->rpc, &call->call, &st);
    cJSON_Delete(state);
    return NULL;
}

static void session_work(struct job *job)
{
    struct interview_call *call = CONTAINER_OF(job, struct interview_call, job);
    struct status *st = &call->status;
    cJSON *state = json_parse(call->state_json, strlen(call->state_json), NULL, st);
    if (state && !session_has_revision(state))
        session_not_found(call, st);
    if (st->code == OK)
        call->session = interview_state(state, call->session_id, call->updated_ms, interview_arena(call), st);
    cJSON_Delete(state);
    if (call->session && call->run)
        call->answer = interview_reply(call->run, call->session, interview_arena(call), st);
}

static void session_made(struct job *job)
{
    struct interview_call *call = CONTAINER_OF(job, struct interview_call, job);
    if (job->status.code == RESOURCE_EXHAUSTED) { /* the workers have no capacity: runs in the loop */
        status_clear(&job->status);
        session_work(job);
    }
    if (job->status.code != OK)
        rpc_fail(call->rpc, &job->status);
    else if (call->status.code != OK)
        rpc_fail(call->rpc, &call->status);
    else
        call->made(call);
}

void interview_make_session(struct interview_call *call, const Renga__V1__GetStateResponse *response,
                            int64_t updated_ms, void (*made)(struct interview_call *call))
{
    struct status st = call->call.status;
    if (!session_is_own(response)) {
        if (response || st.code == NOT_FOUND)
            session_not_found(call, &st);
        refuse_as(call->rpc, &call->call, &st);
        return;
    }
    call->made = made;
    call->updated_ms = updated_ms;
    call->state_json = arena_strdup(interview_arena(call), response->state_json);
    if (!call->state_json) {
        rpc_fail_with(call->rpc, RESOURCE_EXHAUSTED, "no memory for the session");
        return;
    }
    rpc_call_job(call->rpc, &call->job);
    call->job.run = session_work;
    call->job.ended = session_made;
    job_start(&call->job, strlen(call->state_json));
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Two sessions may use the same request id. So the run's request id is a hash of the action, the session id, the
 * request id and the attempt. */
static char *run_request_id(const struct interview_call *call)
{
    char *id = arena_alloc(interview_arena(call), 2 * SHA256_SIZE + 1);
    char *all = arena_printf(interview_arena(call), "%s\n%s\n%s\n%d", call->action, call->session_id, call->request_id,
                             call->attempt);
    if (!*call->request_id)
        return run_unconst("");
    if (!id || !all)
        return NULL;
    sha256_text_of(all, strlen(all), id);
    return id;
}

static void run_show_text(struct interview_call *call, const char *text, size_t length)
{
    Renga__V1__InterviewEvent event = RENGA__V1__INTERVIEW_EVENT__INIT;
    event.event_case = RENGA__V1__INTERVIEW_EVENT__EVENT_TEXT;
    event.text = length ? arena_strndup(interview_arena(call), text, length) : NULL;
    if (event.text)
        call->show(&event, call->rpc);
}

/* Each sentence is a piece, with the white space before it. */
static void run_show_sentences(struct interview_call *call, const char *text)
{
    struct sentence_reader reader;
    struct span sentence;
    size_t shown = 0, length = strlen(text);
    sentences_begin(&reader, text, text_cut(text, length, SPLIT_MAX));
    while (sentences_next(&reader, &sentence)) {
        run_show_text(call, text + shown, sentence.end - shown);
        shown = sentence.end;
    }
    run_show_text(call, text + shown, length - shown);
}

static void run_answer_reply(struct interview_call *call, Renga__V1__InterviewReply *reply)
{
    Renga__V1__ConfirmInterviewResponse confirmed = RENGA__V1__CONFIRM_INTERVIEW_RESPONSE__INIT;
    Renga__V1__InterviewEvent event = RENGA__V1__INTERVIEW_EVENT__INIT;
    if (call->confirmed) {
        confirmed.state = reply->state;
        call->confirmed(&confirmed, call->rpc);
        return;
    }
    if (call->reply) {
        call->reply(reply, call->rpc);
        return;
    }
    run_show_sentences(call, reply->response_text);
    event.event_case = RENGA__V1__INTERVIEW_EVENT__EVENT_REPLY;
    event.reply = reply;
    call->show(&event, call->rpc);
    call->show(NULL, call->rpc);
}

static void session_removed(const Renga__V1__DeleteThreadResponse *response, void *data)
{
    struct interview_call *call = ((struct rpc_client_call *)data)->owner;
    (void)response; /* if this failed, the empty thread is deleted when its time to live ends */
    rpc_fail(call->rpc, &call->failure);
}

/* A thread with a revision had a session before the failed start, and is kept. */
static void leftover_read(const Renga__V1__GetStateResponse *response, void *data)
{
    struct interview_call *call = ((struct rpc_client_call *)data)->owner;
    Renga__V1__DeleteThreadRequest request = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    struct status ignored = {0};
    cJSON *state = response ? json_parse(response->state_json, strlen(response->state_json), NULL, &ignored) : NULL;
    const cJSON *revision = cJSON_GetObjectItemCaseSensitive(state, "revision");
    bool stays = response ? cJSON_IsNumber(revision) && revision->valuedouble > 0 : call->call.status.code != NOT_FOUND;
    cJSON_Delete(state);
    if (stays) {
        rpc_fail(call->rpc, &call->failure);
        return;
    }
    request.thread_id = run_unconst(call->session_id);
    run_prepare_session(call, false);
    renga__v1__orchestrator__delete_thread(call->service->orchestrator, &request, session_removed, &call->call);
}

/* Deletes the thread of a session whose start failed. */
static void session_remove(struct interview_call *call, const char *thread_id, const struct status *why)
{
    static char revision[] = "revision";
    static char *const needed[] = {revision};
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    call->failure = *why;
    call->session_id = arena_strdup(interview_arena(call), thread_id);
    if (!call->session_id) {
        rpc_fail(call->rpc, &call->failure);
        return;
    }
    request.thread_id = run_unconst(thread_id);
    request.fields = (char **)(uintptr_t)needed;
    request.n_fields = sizeof needed / sizeof *needed;
    run_prepare_session(call, false);
    renga__v1__orchestrator__get_state(call->service->orchestrator, &request, leftover_read, &call->call);
}

/* CANCELLED, RESOURCE_EXHAUSTED if the budget ended the run, or else the run's own code. */
static int failure_code(const Renga__V1__Run *run)
{
    if (run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED)
        return CANCELLED;
    if (run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED)
        return RESOURCE_EXHAUSTED;
    return run->status_code > OK && run->status_code < STATUS_CODES_COUNT ? run->status_code : INTERNAL;
}

static void interview_run_failed(struct interview_call *call, const Renga__V1__Run *run)
{
    struct status st = {0};
    bool spent = run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED;
    const char *text = run->n_failures ? run->failures[0]->message : run->stop_text;
    fail(&st, (enum status_code)failure_code(run), "%s", text);
    if (strcmp(call->action, "start") == 0 && st.code != ALREADY_EXISTS)
        session_remove(call, run->thread_id, &st);
    else
        refuse(call->rpc, &st, spent ? "BUDGET" : *run->reason ? run->reason : NULL);
}

static void interview_answered(struct interview_call *call)
{
    run_answer_reply(call, call->answer);
}

static void interview_reply_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct interview_call *call = ((struct rpc_client_call *)data)->owner;
    interview_make_session(call, response, call->run->updated_ms, interview_answered);
}

static void run_stopped(const Renga__V1__StartRunResponse *response, void *data)
{
    struct interview_call *call = ((struct rpc_client_call *)data)->owner;
    struct status st = call->call.status;
    if (!response) {
        if (st.code == ABORTED && strcmp(call->action, "start") == 0)
            fail(&st, ALREADY_EXISTS, "there is a session '%.128s' already", call->session_id);
        refuse_as(call->rpc, &call->call, &st);
        return;
    }
    bool succeeded = response->run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED &&
                     response->run->stop_reason == RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED;
    if (!succeeded && response->repeated_request && ++call->attempt < ATTEMPTS_MAX) {
        interview_start_run(call, &st);
        return;
    }
    if (!succeeded) {
        interview_run_failed(call, response->run);
        return;
    }
    call->run = rpc_message_copy(interview_arena(call), &response->run->base);
    if (call->run) {
        call->session_id = call->run->thread_id;
        interview_read_session(call, true, interview_reply_loaded);
    } else {
        rpc_fail_with(call->rpc, RESOURCE_EXHAUSTED, "no memory for the call");
    }
}

/* If there is no input, `st` has the reason. */
void interview_start_run(struct interview_call *call, struct status *st)
{
    Renga__V1__StartRunRequest *request = &call->start;
    request->request_id = run_request_id(call);
    if (!call->input || !request->request_id) {
        if (call->input)
            fail(st, RESOURCE_EXHAUSTED, "no memory for the call");
        rpc_fail(call->rpc, st);
        return;
    }
    request->agent = run_unconst(INTERVIEW_AGENT);
    request->thread_id = run_unconst(call->session_id);
    request->input_json = call->input;
    request->wait = true;
    request->cancel_on_disconnect = true;
    request->durability = RENGA__V1__DURABILITY__DURABILITY_EXIT;
    run_prepare_session(call, true);
    renga__v1__orchestrator__start_run(call->service->orchestrator, request, run_stopped, &call->call);
}
