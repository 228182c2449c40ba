/* AceGenerator.Curate: reflections become a run of the agent "ace_curator", which changes the playbook. */
#include "ace.h"

#include "graph/dataset.h"
#include "rpc/message_json.h"

#include <stdio.h>

#define AGENT "ace_curator"

struct curate_call {
    struct agent_run run; /* first */
    Renga__V1__CurateResponse_Closure reply;
};

static bool curate_check_reflections(const Renga__V1__CurateRequest *request, struct status *st)
{
    for (size_t i = 0; i < request->n_reflections; i++) {
        char field[STATUS_FIELD_MAX];
        snprintf(field, sizeof field, "reflections[%zu]", i);
        if (!ace_check_reflection(field, request->reflections[i], st))
            return false;
    }
    return true;
}

static bool curate_check(const Renga__V1__CurateRequest *request, struct status *st)
{
    return agent_request_check(&request->base, request->options, st) &&
           dataset_check("dataset", request->dataset, st) && curate_check_reflections(request, st);
}

static char *curate_input(const Renga__V1__CurateRequest *request, struct arena *arena)
{
    struct ace_input input;
    ace_input_open(&input);
    json_write_string(&input.out, "dataset", request->dataset);
    json_write_string(&input.out, "query", request->query);
    json_write_array(&input.out, "reflections");
    for (size_t i = 0; i < request->n_reflections; i++)
        message_write_json(&input.out, NULL, &request->reflections[i]->base);
    json_write_end(&input.out);
    json_write_int(&input.out, "token_budget", request->token_budget ? request->token_budget : ACE_TOKEN_BUDGET);
    json_write_int(&input.out, "expected_revision", request->expected_revision);
    json_write_bool(&input.out, "dry_run", request->dry_run);
    json_write_string(&input.out, "source", request->source);
    return ace_input_close(&input, arena);
}

static void curate_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    struct curate_call *call = (struct curate_call *)run;
    Renga__V1__CurateResponse response = RENGA__V1__CURATE_RESPONSE__INIT;
    struct status st = {0};
    cJSON *output = ace_output(run, message);
    if (!output)
        return;
    response.curation = ace_curation(run, output, "bullets", &st);
    response.outcome = ace_outcome(run, message, &st);
    cJSON_Delete(output);
    if (ace_may_reply(run, &st))
        call->reply(&response, run->call);
}

/* The language is that of the first insight. */
static const char *curate_words(const Renga__V1__CurateRequest *request)
{
    return *request->query ? request->query : request->reflections[0]->key_insight;
}

void ace_curate(Renga__V1__AceGenerator_Service *self, const Renga__V1__CurateRequest *request,
                Renga__V1__CurateResponse_Closure reply, void *data)
{
    struct rpc_call *rpc = data;
    struct status st = {0};
    struct curate_call *call = ace_call_open(rpc, curate_check(request, &st), sizeof *call, &st);
    if (!call)
        return;
    call->reply = reply;
    ace_run_init(&call->run, self, rpc, AGENT, curate_words(request), request->options);
    call->run.input_json = curate_input(request, rpc_call_arena(rpc));
    call->run.stopped = curate_stopped;
    agent_run_begin(&call->run);
}
