/* Converts the state of a stopped run to AutonomousResearchResult. If the output is too large for one message, it is
 * read field by field. If the fields are long, a worker thread makes the result. */
#include "autonomous_research.h"

#include <string.h>

static char *const result_fields[] = {
    (char[]){"current_draft"},   (char[]){"citations"},      (char[]){"research_data"}, (char[]){"task_plan"},
    (char[]){"iteration_count"}, (char[]){"review"},         (char[]){"stop_reason"},   (char[]){"decisions"},
    (char[]){"searches"},        (char[]){"human_decisions"}};
#define FIELDS (sizeof result_fields / sizeof *result_fields)

static void autonomous_research_result_read_next(struct autonomous_call *call);

static void result_refuse(struct autonomous_call *call, const struct status *why)
{
    struct status st = {0};
    if (why->code == RESOURCE_EXHAUSTED)
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the result");
    else
        fail(&st, FAILED_PRECONDITION, "the run '%s' has stopped, but its state is not that of autonomous research: %s",
             call->run.run_id, why->text);
    rpc_fail(call->run.call, &st);
}

/* ---- the result from the fields ---------------------------------------------------------------------------------- */

static void result_make(struct job *job)
{
    struct autonomous_call *call = CONTAINER_OF(job, struct autonomous_call, job);
    autonomous_make_result(call, &call->status);
}

static void result_made(struct job *job)
{
    struct autonomous_call *call = CONTAINER_OF(job, struct autonomous_call, job);
    if (job->status.code != OK)
        rpc_fail(call->run.call, &job->status);
    else if (call->status.code != OK)
        result_refuse(call, &call->status);
    else
        autonomous_answer(call);
}

static void result_start(struct autonomous_call *call)
{
    rpc_call_job(call->run.call, &call->job);
    call->job.run = result_make;
    call->job.ended = result_made;
    job_start(&call->job, call->part_bytes);
}

/* ---- the fields -------------------------------------------------------------------------------------------------- */

static bool result_take_part(struct autonomous_call *call, const char *json)
{
    struct status st = {0};
    size_t length = strlen(json);
    char *copy = arena_strndup(rpc_call_arena(call->run.call), json, length);
    if (copy) {
        call->parts[call->part_count++] = copy;
        call->part_bytes += length;
        return true;
    }
    fail(&st, RESOURCE_EXHAUSTED, "no memory");
    result_refuse(call, &st);
    return false;
}

static void autonomous_research_result_field_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct autonomous_call *call = (struct autonomous_call *)((struct rpc_client_call *)data)->owner;
    if (!response)
        agent_call_failed(&call->run, &call->get);
    else if (!result_take_part(call, response->state_json))
        return;
    else if (call->part_count == FIELDS)
        result_start(call);
    else
        autonomous_research_result_read_next(call);
}

static void autonomous_research_result_read_next(struct autonomous_call *call)
{
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = call->ended->thread_id;
    request.checkpoint_id = call->ended->checkpoint_id;
    request.fields = (char **)(uintptr_t)&result_fields[call->part_count];
    request.n_fields = 1;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_state(call->run.orchestrator, &request, autonomous_research_result_field_loaded,
                                       &call->get);
}

/* The message of the run is freed after this callback, so the call keeps a copy in its arena. */
void autonomous_read(struct autonomous_call *call, const Renga__V1__Run *run)
{
    struct status st = {0};
    struct arena *arena = rpc_call_arena(call->run.call);
    call->ended = rpc_message_copy(arena, &run->base);
    call->parts = arena_alloc(arena, FIELDS * sizeof *call->parts);
    if (!call->ended || !call->parts) {
        fail(&st, RESOURCE_EXHAUSTED, "no memory");
        result_refuse(call, &st);
    } else if (run->output_omitted) {
        autonomous_research_result_read_next(call);
    } else if (result_take_part(call, run->output_json)) {
        result_start(call);
    }
}
