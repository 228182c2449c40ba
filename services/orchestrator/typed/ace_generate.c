/* AceGenerator.Generate: a task becomes a run of the agent "ace_generator", whose output has the trajectory. A run that
 * fails, is cancelled or stops without one is a trajectory with FAILURE, too. */
#include "ace.h"

#include "base/clock.h"
#include "base/text.h"
#include "graph/dataset.h"
#include "nodes/trajectory_json.h"
#include "json/json.h"
#include "json/writer.h"

#include <string.h>

#define AGENT     "ace_generator"
#define INPUT_MAX ((size_t)512 << 10) /* bytes: JSON may escape a byte of text as six bytes */
#define TOP_K     10                  /* if the request has none */

struct generate_call {
    struct agent_run run; /* first */
    const Renga__V1__GenerateRequest *request;
    Renga__V1__GenerateResponse_Closure reply;
};

/* ---- the task ---------------------------------------------------------------------------------------------------- */

static bool generate_check(const Renga__V1__GenerateRequest *request, struct status *st)
{
    return agent_request_check(&request->base, request->options, st) && dataset_check("dataset", request->dataset, st);
}

static char *generate_input(const Renga__V1__GenerateRequest *request, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, INPUT_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "query", request->query);
    json_write_string(&out, "dataset", request->dataset);
    json_write_int(&out, "top_k", request->top_k ? request->top_k : TOP_K);
    json_write_end(&out);
    char *copy = json_writer_done(&out) ? arena_strdup(arena, buffer_text(&text)) : NULL;
    buffer_fini(&text);
    return copy;
}

/* ---- the trajectory ---------------------------------------------------------------------------------------------- */

static void generate_answer(struct generate_call *call, Renga__V1__Trajectory *trajectory,
                            Renga__V1__AgentOutcome *outcome)
{
    Renga__V1__GenerateResponse response = RENGA__V1__GENERATE_RESPONSE__INIT;
    response.trajectory = trajectory;
    response.outcome = outcome;
    if (trajectory && outcome)
        call->reply(&response, call->run.call);
    else
        rpc_fail_with(call->run.call, RESOURCE_EXHAUSTED, "no memory for the answer");
}

/* The trajectory of a run without a recorded one. */
static Renga__V1__Trajectory *generate_failure(struct generate_call *call, enum status_code code, const char *text)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    Renga__V1__Trajectory *made = arena_alloc(arena, sizeof *made);
    char *message = arena_printf(arena, "%s: %s", status_code_name((int)code), text);
    if (!made || !message)
        return NULL;
    renga__v1__trajectory__init(made);
    if (strlen(message) > TRAJECTORY_ERROR_MAX)
        message[text_cut(message, strlen(message), TRAJECTORY_ERROR_MAX)] = '\0';
    made->query = call->request->query;
    made->dataset = call->request->dataset;
    made->status = RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_FAILURE;
    made->maybe_error_message_case = RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE_ERROR_MESSAGE;
    made->error_message = message;
    made->created_ms = clock_wall_ns() / NS_PER_MS;
    return made;
}

static Renga__V1__Trajectory *generate_recorded(struct generate_call *call, const Renga__V1__Run *run,
                                                struct status *why)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    cJSON *output = json_parse(run->output_json, strlen(run->output_json), NULL, why);
    const cJSON *recorded = cJSON_GetObjectItemCaseSensitive(output, "trajectory");
    Renga__V1__Trajectory *made = recorded ? trajectory_read_json(recorded, arena, why) : NULL;
    cJSON_Delete(output);
    return made;
}

static void generate_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    struct generate_call *call = (struct generate_call *)run;
    struct status why = {0};
    Renga__V1__Trajectory *made = generate_recorded(call, message, &why);
    bool stopped = message->stop_reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED && *message->stop_text;
    if (!made && stopped)
        made = generate_failure(call, RESOURCE_EXHAUSTED, message->stop_text);
    else if (!made)
        made = generate_failure(call, FAILED_PRECONDITION,
                                *why.text ? why.text : "the graph has ended without a field 'trajectory'");
    generate_answer(call, made, agent_outcome(rpc_call_arena(run->call), message));
}

static bool generate_run_failed(struct agent_run *run, const Renga__V1__Run *message)
{
    struct generate_call *call = (struct generate_call *)run;
    int code = message->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED ? CANCELLED : message->status_code;
    enum status_code known = code > OK && code < STATUS_CODES_COUNT ? (enum status_code)code : INTERNAL;
    generate_answer(call, generate_failure(call, known, message->stop_text),
                    agent_outcome(rpc_call_arena(run->call), message));
    return true;
}

/* An agent that was not loaded, for a fault in its document or a template, is no fault of the request. */
static bool generate_not_started(struct agent_run *run, const struct rpc_client_call *from)
{
    struct generate_call *call = (struct generate_call *)run;
    Renga__V1__AgentOutcome *outcome = arena_alloc(rpc_call_arena(run->call), sizeof *outcome);
    if (from->status.code != NOT_FOUND || rpc_call_cancelled(run->call))
        return false;
    if (outcome) {
        renga__v1__agent_outcome__init(outcome);
        outcome->state = RENGA__V1__RUN_STATE__RUN_STATE_FAILED;
    }
    generate_answer(call, generate_failure(call, from->status.code, from->status.text), outcome);
    return true;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

void ace_generate(Renga__V1__AceGenerator_Service *self, const Renga__V1__GenerateRequest *request,
                  Renga__V1__GenerateResponse_Closure reply, void *data)
{
    struct rpc_call *rpc = data;
    struct status st = {0};
    struct generate_call *call = ace_call_open(rpc, generate_check(request, &st), sizeof *call, &st);
    if (!call)
        return;
    call->request = request;
    call->reply = reply;
    ace_run_init(&call->run, self, rpc, AGENT, request->query, request->options);
    call->run.input_json = generate_input(request, rpc_call_arena(rpc));
    call->run.stopped = generate_stopped;
    call->run.failed = generate_run_failed;
    call->run.not_started = generate_not_started;
    agent_run_begin(&call->run);
}
