/* AceGenerator.Adapt: samples become a run of the agent "ace_adapt". Each sample is an event of the stream, with the id
 * of the run's event, so that a client that reconnects misses no event. */
#include "ace_adapt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT       "ace_adapt"
#define TOP_K       10       /* if the request has none */
#define NORMAL_95   1.959964 /* the normal distribution's 97.5th percentile */
#define SAMPLES_MAX ((size_t)3145728)

/* ---- the input --------------------------------------------------------------------------------------------------- */

static void adapt_write_sample(struct json_writer *out, const Renga__V1__AceSample *sample, size_t number)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", number);
    json_write_object(out, NULL);
    json_write_string(out, "id", *sample->id ? sample->id : name);
    json_write_string(out, "query", sample->query);
    json_write_string(out, "ground_truth", sample->ground_truth);
    json_write_string(out, "match", answer_match_words[ace_answer_match(sample->match)]);
    if (*sample->test_output)
        json_write_string(out, "test_output", sample->test_output);
    if (*sample->remark)
        json_write_string(out, "remark", sample->remark);
    json_write_end(out);
}

static const char *adapt_mode_word(Renga__V1__AdaptMode mode)
{
    return mode == RENGA__V1__ADAPT_MODE__ADAPT_MODE_OFFLINE  ? "offline"
           : mode == RENGA__V1__ADAPT_MODE__ADAPT_MODE_ONLINE ? "online"
                                                              : "evaluate";
}

static char *adapt_input(const Renga__V1__AdaptRequest *request, struct arena *arena, struct status *st)
{
    bool offline = request->mode == RENGA__V1__ADAPT_MODE__ADAPT_MODE_OFFLINE;
    struct ace_input input;
    ace_input_open(&input);
    json_write_string(&input.out, "dataset", request->dataset);
    json_write_string(&input.out, "mode", adapt_mode_word(request->mode));
    json_write_int(&input.out, "epochs", offline && request->epochs ? request->epochs : 1);
    json_write_int(&input.out, "rounds", request->reflection_rounds ? request->reflection_rounds : 1);
    json_write_int(&input.out, "token_budget", request->token_budget ? request->token_budget : ACE_TOKEN_BUDGET);
    json_write_int(&input.out, "top_k", request->top_k ? request->top_k : TOP_K);
    json_write_array(&input.out, "samples");
    size_t begin = input.text.length;
    for (size_t i = 0; i < request->n_samples; i++)
        adapt_write_sample(&input.out, request->samples[i], i + 1);
    size_t size = input.text.length - begin;
    json_write_end(&input.out);
    char *made = ace_input_close(&input, arena);
    if (!made)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (size > SAMPLES_MAX - 1024)
        fail_field(st, "samples", "take %zu bytes as JSON; together they may take 3 MiB", size);
    return made;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Wilson score interval. Without a judged sample the interval is unknown. */
static void adapt_interval(Renga__V1__AdaptResult *result)
{
    double n = result->judged, z = NORMAL_95;
    if (n <= 0) {
        result->accuracy_high = 1;
        return;
    }
    double share = result->correct / n, middle = share + z * z / (2 * n);
    double spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)), scale = 1 + z * z / n;
    result->accuracy_low = fmax(0, (middle - spread) / scale);
    result->accuracy_high = fmin(1, (middle + spread) / scale);
}

static void adapt_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    struct adapt_call *call = (struct adapt_call *)run;
    Renga__V1__AdaptEvent event = RENGA__V1__ADAPT_EVENT__INIT;
    struct status st = {0};
    cJSON *output = ace_output(run, message);
    if (!output)
        return;
    cJSON *around = cJSON_CreateObject();
    cJSON_AddItemReferenceToObject(around, "result", output);
    event.result = ace_output_message(run, around, "result", &renga__v1__adapt_result__descriptor, &st);
    cJSON_Delete(around);
    cJSON_Delete(output);
    if (event.result)
        event.result->outcome = ace_outcome(run, message, &st);
    if (!ace_may_reply(run, &st) || !event.result)
        return;
    adapt_interval(event.result);
    event.event_id = run->last_event_id;
    event.time_ms = run->last_event_ms;
    event.event_case = RENGA__V1__ADAPT_EVENT__EVENT_RESULT;
    call->show(&event, run->call);
    call->show(NULL, run->call);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

void ace_adapt(Renga__V1__AceGenerator_Service *self, const Renga__V1__AdaptRequest *request,
               Renga__V1__AdaptEvent_Closure reply, void *data)
{
    struct rpc_call *rpc = data;
    struct status st = {0};
    struct adapt_call *call = ace_call_open(rpc, ace_adapt_check(request, &st), sizeof *call, &st);
    if (!call)
        return;
    call->show = reply;
    ace_run_init(&call->run, self, rpc, AGENT, request->samples[0]->query, request->options);
    renga__v1__usage__init(&call->usage);
    call->run.input_json = adapt_input(request, rpc_call_arena(rpc), &st);
    call->run.came = ace_adapt_came;
    call->run.stopped = adapt_stopped;
    if (st.code == OK)
        agent_run_begin(&call->run);
    else
        rpc_fail(rpc, &st);
}
