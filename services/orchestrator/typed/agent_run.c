#include "agent_run.h"

#include "api/refuse.h"
#include "json/writer.h"

#include "google/rpc/error_details.pb-c.h"

#include <string.h>

#define WATCH_MAX_MS       (INT64_C(7) * 24 * 3600 * 1000)
#define READER_PATIENCE_MS 60000 /* as in the contract of the typed services */
#define CONFIGURATION_MAX  4096  /* bytes: a language and a model */
#define INFO_URL           "type.googleapis.com/google.rpc.ErrorInfo"

static char *agent_run_unconst(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

void agent_call_failed(struct agent_run *run, const struct rpc_client_call *from)
{
    struct status st = from->status;
    if (st.code == CANCELLED && !rpc_call_cancelled(run->call))
        st.code = UNAVAILABLE; /* the orchestrator went away; the caller did not cancel */
    if (st.code == OK)
        fail(&st, UNAVAILABLE, "the run is watched no more, and has not stopped; ask again with the same request_id");
    refuse_as(run->call, from, &st);
}

static void add_run_failed(struct agent_run *run, const char *reason)
{
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    Google__Rpc__ErrorInfo__MetadataEntry entry = GOOGLE__RPC__ERROR_INFO__METADATA_ENTRY__INIT, *list[] = {&entry};
    info.reason = agent_run_unconst(*reason ? reason : "RUN_FAILED");
    info.domain = agent_run_unconst("renga");
    entry.key = agent_run_unconst("run_id");
    entry.value = agent_run_unconst(run->run_id);
    info.metadata = list;
    info.n_metadata = 1;
    uint8_t *bytes = arena_alloc(rpc_call_arena(run->call), google__rpc__error_info__get_packed_size(&info));
    if (bytes) /* the details are optional */
        rpc_call_add_detail(run->call, INFO_URL, bytes, google__rpc__error_info__pack(&info, bytes));
}

static void run_failed(struct agent_run *run, const Renga__V1__Run *message)
{
    struct status st = {0};
    bool cancelled = message->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED;
    int code = cancelled ? CANCELLED : message->status_code;
    fail(&st, code > OK && code < STATUS_CODES_COUNT ? (enum status_code)code : INTERNAL, "%s", message->stop_text);
    add_run_failed(run, message->reason);
    rpc_fail(run->call, &st);
}

/* ---- the caller leaves ------------------------------------------------------------------------------------------- */

static void agent_run_prepare(struct agent_run *run, struct rpc_client_call *call, bool on_behalf)
{
    if (!run->principal.name)
        run->principal = *rpc_call_principal(run->call);
    rpc_client_call_init(call, rpc_call_loop(run->call), on_behalf ? run->call : NULL);
    call->principal = &run->principal;
    call->owner = run;
    if (!on_behalf)
        call->trace = rpc_call_trace_apart(run->call);
}

void agent_call_prepare(struct agent_run *run, struct rpc_client_call *call)
{
    agent_run_prepare(run, call, true);
}

static void agent_run_cancelled(const Renga__V1__CancelRunResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    (void)response; /* the caller has disconnected and cannot receive it */
    rpc_fail(run->call, &run->end);
}

/* Whether the caller no longer waits. A client call on behalf of the caller's call has the same deadline, and may end
 * before the caller's call does. */
static bool agent_run_is_gone(const struct agent_run *run, const struct rpc_client_call *from)
{
    return rpc_call_cancelled(run->call) || from->status.code == DEADLINE_EXCEEDED;
}

static void agent_run_give_up(struct agent_run *run, const struct rpc_client_call *from)
{
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    bool late = from->status.code == DEADLINE_EXCEEDED;
    fail(&run->end, late ? DEADLINE_EXCEEDED : CANCELLED, late ? "the deadline passed" : "the caller went away");
    if (!run->run_id || (run->options && run->options->keep_running)) {
        rpc_fail(run->call, &run->end);
        return;
    }
    request.run_id = agent_run_unconst(run->run_id);
    request.reason = agent_run_unconst("the caller that waited for it went away");
    request.caller_left = true;
    agent_run_prepare(run, &run->cancel, false);
    renga__v1__orchestrator__cancel_run(run->orchestrator, &request, agent_run_cancelled, &run->cancel);
}

/* ---- the run has stopped ----------------------------------------------------------------------------------------- */

static void agent_run_watch(struct agent_run *run);

/* A time-out or another caller has resumed the run since it stopped. */
static bool is_at_work(const Renga__V1__Run *message)
{
    return message->state == RENGA__V1__RUN_STATE__RUN_STATE_QUEUED ||
           message->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
}

static void watch_on(struct agent_run *run)
{
    run->told = false;
    run->seen_event_id = run->last_event_id;
    agent_run_watch(run);
}

static void agent_run_read_run(struct agent_run *run);

static void agent_run_taken_up(const Renga__V1__ResumeRunResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    if (rpc_call_cancelled(run->call))
        agent_run_give_up(run, &run->start);
    else if (response)
        watch_on(run);
    else if (run->start.status.code == FAILED_PRECONDITION)
        agent_run_read_run(run); /* another caller may have been faster */
    else
        agent_call_failed(run, &run->start);
}

/* Another caller of the same call went away, and took the run along that this one still waits for: one that repeats
 * the call, perhaps since its first connection was lost. Many callers may leave so, one after another. */
static bool agent_run_take_up(struct agent_run *run, const Renga__V1__Run *message)
{
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    if (message->state != RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED ||
        message->stop_reason != RENGA__V1__STOP_REASON__STOP_REASON_CALLER_LEFT ||
        message->last_event_id == run->taken_up_at)
        return false;
    run->taken_up_at = message->last_event_id;
    request.run_id = agent_run_unconst(run->run_id);
    agent_run_prepare(run, &run->start, false);
    renga__v1__orchestrator__resume_run(run->orchestrator, &request, agent_run_taken_up, &run->start);
    return true;
}

static void run_came(const Renga__V1__GetRunResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    if (agent_run_is_gone(run, &run->get))
        agent_run_give_up(run, &run->get);
    else if (!response)
        agent_call_failed(run, &run->get);
    else if (response->run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED ||
             response->run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING)
        run->stopped(run, response->run);
    else if (is_at_work(response->run))
        watch_on(run);
    else if (agent_run_take_up(run, response->run))
        return;
    else if (!run->failed || !run->failed(run, response->run))
        run_failed(run, response->run);
}

/* The STOPPED event of a run that has SUCCEEDED has all that `stopped` reads, unless it omits the output. The run does
 * not change after it. */
static void agent_run_succeeded(struct agent_run *run, const Renga__V1__RunStopped *stopped)
{
    Renga__V1__Run message = RENGA__V1__RUN__INIT;
    message.run_id = agent_run_unconst(run->run_id);
    message.thread_id = agent_run_unconst(run->thread_id);
    message.agent = agent_run_unconst(run->agent);
    message.state = stopped->state;
    message.stop_reason = stopped->stop_reason;
    message.stop_text = stopped->stop_text;
    message.output_json = stopped->output_json;
    message.output_omitted = stopped->output_omitted;
    message.usage = stopped->usage;
    message.degradations = stopped->degradations;
    message.n_degradations = stopped->n_degradations;
    message.last_event_id = run->last_event_id;
    run->stopped(run, &message);
}

static void agent_run_read_run(struct agent_run *run)
{
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = agent_run_unconst(run->run_id);
    agent_run_prepare(run, &run->get, true);
    renga__v1__orchestrator__get_run(run->orchestrator, &request, run_came, &run->get);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

bool agent_event_is_new(const struct agent_run *run, int64_t event_id)
{
    return !run->options || event_id > run->options->after_event_id;
}

Renga__V1__AgentAccepted agent_accepted(const struct agent_run *run)
{
    Renga__V1__AgentAccepted accepted = RENGA__V1__AGENT_ACCEPTED__INIT;
    accepted.run_id = agent_run_unconst(run->run_id);
    accepted.thread_id = agent_run_unconst(run->thread_id);
    return accepted;
}

/* ---- the run as it happens --------------------------------------------------------------------------------------- */

static void agent_run_reader_sleeps(struct timer *timer)
{
    struct agent_run *run = CONTAINER_OF(timer, struct agent_run, patience);
    fail(&run->end, RESOURCE_EXHAUSTED, "nothing was read for %d s; come back with the last event_id you saw",
         READER_PATIENCE_MS / 1000);
    rpc_client_call_cancel(&run->watch);
}

static void agent_run_writable(struct rpc_call *call, void *data)
{
    struct agent_run *run = data;
    if (!run->paused)
        return;
    run->paused = false;
    loop_disarm(rpc_call_loop(call), &run->patience);
    rpc_client_call_resume(&run->watch);
}

static void watch_ended(struct agent_run *run)
{
    loop_disarm(rpc_call_loop(run->call), &run->patience);
    if (run->end.code != OK)
        rpc_fail(run->call, &run->end);
    else if (agent_run_is_gone(run, &run->watch))
        agent_run_give_up(run, &run->watch);
    else if (run->success)
        agent_run_succeeded(run, run->success);
    else if (run->told)
        agent_run_read_run(run);
    else
        agent_call_failed(run, &run->watch);
}

static void agent_run_event_came(const Renga__V1__RunEvent *event, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        watch_ended(run);
        return;
    }
    if (rpc_call_cancelled(run->call) || run->end.code != OK)
        return;
    run->last_event_id = event->event_id;
    run->last_event_ms = event->time_ms;
    if (event->event_case == RENGA__V1__RUN_EVENT__EVENT_STOPPED) {
        run->told = true;
        bool is_enough = event->stopped->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED &&
                         !event->stopped->output_omitted && !run->reads_whole_run;
        if (is_enough)
            run->success = rpc_message_copy(rpc_call_arena(run->call), &event->stopped->base);
    }
    run->came(run, event);
    if (run->paused || rpc_call_writable(run->call))
        return;
    run->paused = true;
    rpc_client_call_pause(&run->watch);
    loop_arm_after(rpc_call_loop(run->call), &run->patience, READER_PATIENCE_MS);
}

static void agent_run_watch(struct agent_run *run)
{
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    request.run_id = agent_run_unconst(run->run_id);
    request.after_event_id = run->seen_event_id;
    agent_run_prepare(run, &run->watch, true);
    run->watch.timeout_ms = WATCH_MAX_MS;
    renga__v1__orchestrator__watch_run(run->orchestrator, &request, agent_run_event_came, &run->watch);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

void agent_run_attach(struct agent_run *run, const char *run_id, const char *thread_id)
{
    run->run_id = arena_strdup(rpc_call_arena(run->call), run_id);
    run->thread_id = arena_strdup(rpc_call_arena(run->call), thread_id);
    run->patience.expired = agent_run_reader_sleeps;
    rpc_call_on_writable(run->call, agent_run_writable, run);
    if (!run->run_id || !run->thread_id)
        rpc_fail_with(run->call, RESOURCE_EXHAUSTED, "no memory for the call");
    else if (rpc_call_cancelled(run->call))
        agent_run_give_up(run, &run->start);
    else
        agent_run_watch(run);
}

static void agent_run_started(const Renga__V1__StartRunResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    if (response)
        agent_run_attach(run, response->run->run_id, response->run->thread_id);
    else if (!run->not_started || !run->not_started(run, &run->start))
        agent_call_failed(run, &run->start);
}

static void agent_run_resumed(const Renga__V1__ResumeRunResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    if (response)
        agent_run_attach(run, response->run->run_id, response->run->thread_id);
    else if (run->refused)
        run->refused(run, &run->start);
    else
        agent_call_failed(run, &run->start);
}

void agent_run_resume(struct agent_run *run, const Renga__V1__ResumeRunRequest *request)
{
    agent_run_prepare(run, &run->start, false);
    renga__v1__orchestrator__resume_run(run->orchestrator, request, agent_run_resumed, &run->start);
}

static char *configuration(struct agent_run *run)
{
    struct buffer text;
    struct json_writer out;
    const Renga__V1__AgentOptions *options = run->options;
    buffer_init(&text, CONFIGURATION_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "language", options && *options->language ? options->language : run->language);
    if (options && *options->model)
        json_write_string(&out, "model", options->model);
    json_write_end(&out);
    char *copy = arena_strdup(rpc_call_arena(run->call), buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

static void add_options(Renga__V1__StartRunRequest *request, const Renga__V1__AgentOptions *options)
{
    request->request_id = options->request_id;
    request->thread_id = options->thread_id;
    request->budget = options->budget;
    request->timeout_ms = options->timeout_ms;
    request->labels = (Renga__V1__StartRunRequest__LabelsEntry **)options->labels; /* same entry layout */
    request->n_labels = options->n_labels;
}

/* StartRun is not cancelled when the caller disconnects: its response names the run that has to be cancelled. */
void agent_run_start(struct agent_run *run)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.agent = agent_run_unconst(run->agent);
    request.input_json = agent_run_unconst(run->input_json);
    request.configuration_json = configuration(run);
    if (!run->input_json || !request.configuration_json) {
        rpc_fail_with(run->call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    if (run->options)
        add_options(&request, run->options);
    if (run->on_thread)
        request.thread_id = agent_run_unconst(run->on_thread);
    request.checkpoint_id = agent_run_unconst(run->on_checkpoint);
    request.interrupt_before = (char **)(uintptr_t)run->interrupt_before;
    request.n_interrupt_before = run->interrupt_count;
    request.interrupt_timeout = run->interrupt_timeout;
    const struct rpc_metadata checked = {.key = COLLECTIONS_CHECKED_KEY, .value = "1", .size = 1};
    agent_run_prepare(run, &run->start, false);
    run->start.metadata = &checked;
    run->start.metadata_count = 1;
    renga__v1__orchestrator__start_run(run->orchestrator, &request, agent_run_started, &run->start);
    run->start.metadata = NULL;
    run->start.metadata_count = 0;
}

void agent_run_begin(struct agent_run *run)
{
    if (run->options && run->options->after_event_id && !*run->options->request_id) {
        fail_field(&run->end, "options.after_event_id",
                   "is %lld, but names no event of a new run; add the request_id of the call that it continues",
                   (long long)run->options->after_event_id);
        rpc_fail(run->call, &run->end);
    } else if (run->tool_runner && run->collection_count) {
        agent_collections_check(run);
    } else {
        agent_run_start(run);
    }
}
