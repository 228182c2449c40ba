/* Resume: a person's answer. The state shows whether the request is a repetition, and determines the update. ResumeRun
 * applies the update and resumes the run atomically, and only if the head of the thread is still the checkpoint that
 * was read. So exactly one of two competing answers is accepted.
 *
 *      GetRun ---> GetState: has it this request_id? ---> attached to the run
 *                      ^           | waits
 *                      |           v
 *                      '------ ResumeRun, refused: another was faster ------> went on: as after Research */
#include "autonomous_research.h"

#include "api/refuse.h"
#include "json/json.h"

#include <string.h>

#define ATTEMPTS_MAX 5 /* each retry means that another update or answer came first */

static char *const resume_fields[] = {(char[]){"human_decisions"}, (char[]){"task_plan"}, (char[]){"theme"},
                                      (char[]){"human_input"}};

static void resume_look(struct autonomous_call *call);

/* ---- earlier answers --------------------------------------------------------------------------------------------- */

static const char *resume_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

/* Answers to other runs of the thread do not count. A row for a wait that timed out has no run_id. */
static bool resume_is_of_run(const struct autonomous_call *call, const cJSON *row)
{
    return strcmp(resume_text(row, "run_id"), call->answer->run_id) == 0;
}

static const cJSON *resume_find(const struct autonomous_call *call, const cJSON *state, const char *key,
                                const char *value)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(state, "human_decisions"))
    {
        if (*value && resume_is_of_run(call, row) && strcmp(resume_text(row, key), value) == 0)
            return row;
    }
    return NULL;
}

static unsigned resume_count_rejections(const struct autonomous_call *call, const cJSON *state)
{
    unsigned count = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(state, "human_decisions"))
    {
        count += resume_is_of_run(call, row) && strcmp(resume_text(row, "action"), "reject") == 0;
    }
    return count;
}

static const cJSON *resume_last(const cJSON *state)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(state, "human_decisions");
    return cJSON_GetArrayItem(rows, cJSON_GetArraySize(rows) - 1);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* `row`: the earlier answer; NULL: unknown, because the run continued without a recorded answer to this wait. */
static void resume_refuse_answered(struct autonomous_call *call, const cJSON *row)
{
    struct status st = {0};
    const char *by = resume_text(row, "by");
    if (row)
        fail(&st, FAILED_PRECONDITION, "another answer came first: '%s'%s%.128s%s", resume_text(row, "action"),
             *by ? " by '" : "", by, *by ? "'" : "");
    else
        fail(&st, FAILED_PRECONDITION, "the research does not wait there any more; it has gone on");
    refuse(call->run.call, &st, "ALREADY_ANSWERED");
}

static void resume_refuse_state(struct autonomous_call *call, const Renga__V1__GetStateResponse *state)
{
    struct status st = {0};
    bool current = strcmp(state->run_id, call->answer->run_id) == 0;
    bool works = current && state->run_state <= RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
    fail(&st, FAILED_PRECONDITION, "the run '%.64s' does not wait for a person: it %s", call->answer->run_id,
         works ? "is at work" : "has ended");
    refuse(call->run.call, &st, "NOT_RESUMABLE");
}

static void resume_refuse_graph(struct autonomous_call *call, const char *why)
{
    struct status st = {0};
    fail(&st, FAILED_PRECONDITION, "the run '%.64s' is not one that a person can answer: %s", call->answer->run_id,
         why);
    rpc_fail(call->run.call, &st);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void resume_refused(struct agent_run *run, const struct rpc_client_call *from)
{
    struct autonomous_call *call = (struct autonomous_call *)run;
    enum status_code code = from->status.code;
    if ((code == FAILED_PRECONDITION || code == ABORTED) && ++call->attempts < ATTEMPTS_MAX)
        resume_look(call); /* the state has changed since it was read */
    else if (code == INVALID_ARGUMENT)
        resume_refuse_graph(call, from->status.text);
    else
        agent_call_failed(run, from);
}

static void resume_send(struct autonomous_call *call, const cJSON *fields, const Renga__V1__GetStateResponse *state)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    const Renga__V1__AgentOptions *options = call->answer->options;
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    struct autonomous_wait wait = {.run_id = call->answer->run_id,
                                   .node = state->interrupts[0]->node,
                                   .interrupt_id = state->interrupts[0]->interrupt_id,
                                   .by = rpc_call_principal(call->run.call)->name,
                                   .rejections = resume_count_rejections(call, fields),
                                   .state = fields};
    request.run_id = call->answer->run_id;
    request.expected_checkpoint_id = state->checkpoint ? state->checkpoint->checkpoint_id : (char *)(uintptr_t) "";
    request.budget = options ? options->budget : NULL;
    request.update = autonomous_update(call->answer, &wait, arena);
    if (!request.update) {
        rpc_fail_with(call->run.call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    call->run.refused = resume_refused;
    agent_run_resume(&call->run, &request);
}

/* A repeated request waits for the same run as the first call, and gets the same response. */
static void resume_repeat(struct autonomous_call *call, const cJSON *row)
{
    char digest[65];
    struct status st = {0};
    if (!autonomous_digest(call->answer, digest, rpc_call_arena(call->run.call))) {
        rpc_fail_with(call->run.call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    if (strcmp(digest, resume_text(row, "digest")) == 0) {
        call->run.seen_event_id = 0; /* the run may have stopped already */
        agent_run_attach(&call->run, call->answer->run_id, call->thread_id);
        return;
    }
    fail_field(&st, "options.request_id", "was used for another request; take a new one");
    rpc_fail(call->run.call, &st);
}

static void resume_decide(struct autonomous_call *call, const cJSON *fields, const Renga__V1__GetStateResponse *state)
{
    const char *request_id = call->answer->options ? call->answer->options->request_id : "";
    const char *wanted = call->answer->interrupt_id;
    const cJSON *row = resume_find(call, fields, "request_id", request_id);
    bool waits = state->run_state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING &&
                 strcmp(state->run_id, call->answer->run_id) == 0 && state->n_interrupts;
    if (row) {
        resume_repeat(call, row);
        return;
    }
    row = resume_find(call, fields, "interrupt_id", wanted);
    if (row)
        resume_refuse_answered(call, row);
    else if (call->attempts && !waits) /* the run waited when it was first read */
        resume_refuse_answered(call, resume_last(fields));
    else if (!waits)
        resume_refuse_state(call, state);
    else if (*wanted && strcmp(state->interrupts[0]->interrupt_id, wanted) != 0)
        resume_refuse_answered(call, NULL);
    else if (state->interrupts[0]->kind != RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE)
        resume_refuse_graph(call, "its graph asks a question of its own; answer it on the run itself");
    else
        resume_send(call, fields, state);
}

/* ---- the run as it stands ---------------------------------------------------------------------------------------- */

static void resume_state_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct autonomous_call *call = (struct autonomous_call *)((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!response) {
        agent_call_failed(&call->run, &call->get);
        return;
    }
    cJSON *fields = json_parse(response->state_json, strlen(response->state_json), NULL, &st);
    if (fields)
        resume_decide(call, fields, response);
    else
        rpc_fail(call->run.call, &st);
    cJSON_Delete(fields);
}

static void resume_look(struct autonomous_call *call)
{
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)call->thread_id;
    request.fields = (char **)(uintptr_t)resume_fields;
    request.n_fields = sizeof resume_fields / sizeof *resume_fields;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_state(call->run.orchestrator, &request, resume_state_loaded, &call->get);
}

static void resume_run_loaded(const Renga__V1__GetRunResponse *response, void *data)
{
    struct autonomous_call *call = (struct autonomous_call *)((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!response) {
        agent_call_failed(&call->run, &call->get);
        return;
    }
    if (strcmp(response->run->agent, call->run.agent) != 0) {
        fail(&st, NOT_FOUND, "the run '%s' is one of the agent '%s'; name a run of %s", response->run->run_id,
             response->run->agent, call->run.agent);
        rpc_fail(call->run.call, &st);
        return;
    }
    call->thread_id = arena_strdup(rpc_call_arena(call->run.call), response->run->thread_id);
    bool waits = response->run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    if (!call->show && waits) /* without a stream, earlier events are not needed */
        call->run.seen_event_id = response->run->last_event_id;
    if (call->thread_id)
        resume_look(call);
    else
        rpc_fail_with(call->run.call, RESOURCE_EXHAUSTED, "no memory for the call");
}

void autonomous_resume(struct autonomous_call *call)
{
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = call->answer->run_id;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_run(call->run.orchestrator, &request, resume_run_loaded, &call->get);
}
