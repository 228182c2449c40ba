/* AceGenerator.Feedback: a person's judgement of a run becomes a run of the agent "ace_feedback".
 *
 *      GetRun: is it finished?  ---> GetState: which bullets were shown?  ---> StartRun, as the other methods
 *
 * A run with a playbook has an object in its state as the node `playbook` writes it: {"dataset", "revision",
 * "bullet_ids"}; or it is one of the generator, whose trajectory tells the same. If no bullet fitted, an agent with the
 * option `playbook` has its lessons, "", in the state, and the data set is that of its name: what a person says may be
 * the first lesson of a playbook. A caller that kept the run itself sends its trajectory, and no run is read. */
#include "ace.h"

#include "api/refuse.h"
#include "base/text.h"
#include "json/json.h"

#include <string.h>

#define AGENT         "ace_feedback"
#define LESSONS_FIELD "playbook_text"  /* of an agent with the option `playbook` */
#define IDS_MAX       100              /* as Trajectory.used_bullet_ids */
#define TEXT_CUT      ((size_t)131072) /* bytes of a text of the run that the agent gets */

struct feedback_call {
    struct agent_run run; /* first */
    const Renga__V1__FeedbackRequest *request;
    Renga__V1__FeedbackResponse_Closure reply;
    struct rpc_client_call get;
    char *asked_thread, *asked_checkpoint, *asked_agent;
    char *dataset;
};

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void feedback_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    struct feedback_call *call = (struct feedback_call *)run;
    Renga__V1__FeedbackResponse response = RENGA__V1__FEEDBACK_RESPONSE__INIT;
    struct status st = {0};
    cJSON *output = ace_output(run, message);
    if (!output)
        return;
    const cJSON *reflection = cJSON_GetObjectItemCaseSensitive(output, "reflection");
    response.dataset = call->dataset;
    if (reflection && reflection->child)
        response.reflection = ace_output_message(run, output, "reflection", &renga__v1__reflection__descriptor, &st);
    response.curation = st.code == OK ? ace_curation(run, output, "bullet_count", &st) : NULL;
    response.outcome = ace_outcome(run, message, &st);
    cJSON_Delete(output);
    if (ace_may_reply(run, &st))
        call->reply(&response, run->call);
}

/* ---- the trajectory of the run ----------------------------------------------------------------------------------- */

struct feedback_facts {
    const cJSON *ids;
    const char *dataset, *query, *answer;
};

static const char *feedback_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

/* The first of these fields that has a text. */
static const char *feedback_first(const cJSON *state, const char *const *names)
{
    for (; *names; names++)
        if (*feedback_text(state, *names))
            return feedback_text(state, *names);
    return "";
}

static bool feedback_read_facts(const cJSON *state, const char *agent, struct feedback_facts *facts)
{
    static const char *const queries[] = {"question", "query", "theme", "text", "input", NULL};
    static const char *const answers[] = {"last_answer", "answer", "report_md", "current_draft", "text", NULL};
    const cJSON *trajectory = cJSON_GetObjectItemCaseSensitive(state, "trajectory"), *field;
    *facts = (struct feedback_facts){.dataset = feedback_text(trajectory, "dataset"),
                                     .ids = cJSON_GetObjectItemCaseSensitive(trajectory, "used_bullet_ids"),
                                     .query = feedback_text(trajectory, "query"),
                                     .answer = feedback_text(trajectory, "generated_answer")};
    if (cJSON_IsArray(facts->ids) && *facts->dataset)
        return true;
    *facts = (struct feedback_facts){.query = feedback_first(state, queries), .answer = feedback_first(state, answers)};
    cJSON_ArrayForEach(field, state)
    {
        const cJSON *ids = cJSON_IsObject(field) ? cJSON_GetObjectItemCaseSensitive(field, "bullet_ids") : NULL;
        if (!cJSON_IsArray(ids) || !*feedback_text(field, "dataset"))
            continue;
        facts->ids = ids;
        facts->dataset = feedback_text(field, "dataset");
        return true;
    }
    facts->dataset = agent;
    return cJSON_IsString(cJSON_GetObjectItemCaseSensitive(state, LESSONS_FIELD));
}

static void feedback_write_text(struct json_writer *out, const char *key, const char *text)
{
    json_write_text(out, key, text, text_cut(text, strlen(text), TEXT_CUT));
}

static void feedback_write_ids(struct json_writer *out, const struct feedback_facts *facts, const char *effect)
{
    const cJSON *id;
    size_t count = 0;
    json_write_array(out, effect ? "tags" : "used_bullet_ids");
    cJSON_ArrayForEach(id, facts->ids)
    {
        if (!cJSON_IsString(id) || count++ == IDS_MAX)
            continue;
        if (!effect) {
            json_write_string(out, NULL, id->valuestring);
            continue;
        }
        json_write_object(out, NULL);
        json_write_string(out, "id", id->valuestring);
        json_write_string(out, "effect", effect);
        json_write_end(out);
    }
    json_write_end(out);
}

/* "bad: the unit is missing" */
static void feedback_write_reason(struct json_writer *out, const Renga__V1__FeedbackRequest *request)
{
    bool good = request->verdict == RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD;
    struct buffer text;
    buffer_init(&text, ACE_REMARK_MAX + 16);
    buffer_printf(&text, "%s%s%s", good ? "good" : "bad", *request->remark ? ": " : "", request->remark);
    json_write_string(out, "because", buffer_text(&text));
    buffer_fini(&text);
}

static char *feedback_input(const struct feedback_call *call, const struct feedback_facts *facts)
{
    const Renga__V1__FeedbackRequest *request = call->request;
    bool good = request->verdict == RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD;
    struct ace_input input;
    ace_input_open(&input);
    json_write_string(&input.out, "dataset", facts->dataset);
    feedback_write_text(&input.out, "query", facts->query);
    feedback_write_text(&input.out, "answer", facts->answer);
    feedback_write_ids(&input.out, facts, NULL);
    feedback_write_ids(&input.out, facts, good ? "BULLET_EFFECT_HELPFUL" : "BULLET_EFFECT_HARMFUL");
    json_write_string(&input.out, "verdict", ace_verdict_word(request->verdict));
    json_write_string(&input.out, "remark", request->remark);
    json_write_string(&input.out, "source", request->run_id);
    feedback_write_reason(&input.out, request);
    return ace_input_close(&input, rpc_call_arena(call->run.call));
}

static void feedback_learn(struct feedback_call *call, const struct feedback_facts *facts)
{
    call->dataset = arena_strdup(rpc_call_arena(call->run.call), facts->dataset);
    call->run.input_json = call->dataset ? feedback_input(call, facts) : NULL;
    agent_run_begin(&call->run);
}

/* The run is one that this server does not have. */
static void feedback_learn_trajectory(struct feedback_call *call, const Renga__V1__Trajectory *trajectory)
{
    cJSON *ids = cJSON_CreateArray();
    for (size_t i = 0; i < trajectory->n_used_bullet_ids; i++)
        cJSON_AddItemToArray(ids, cJSON_CreateString(trajectory->used_bullet_ids[i]));
    struct feedback_facts facts = {
        .ids = ids, .dataset = trajectory->dataset, .query = trajectory->query, .answer = trajectory->generated_answer};
    feedback_learn(call, &facts);
    cJSON_Delete(ids);
}

static void feedback_state_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct feedback_call *call = (struct feedback_call *)((struct rpc_client_call *)data)->owner;
    struct feedback_facts facts;
    struct status st = {0};
    if (!response) {
        agent_call_failed(&call->run, &call->get);
        return;
    }
    cJSON *state = json_parse(response->state_json, strlen(response->state_json), NULL, &st);
    if (!state) {
        rpc_fail(call->run.call, &st);
        return;
    }
    if (feedback_read_facts(state, call->asked_agent, &facts)) {
        feedback_learn(call, &facts);
    } else {
        fail(&st, FAILED_PRECONDITION,
             "the run '%s' is one of the agent '%s', which has no playbook; only a run with a playbook learns from "
             "feedback",
             call->request->run_id, call->asked_agent);
        refuse(call->run.call, &st, "NO_PLAYBOOK");
    }
    cJSON_Delete(state);
}

static void feedback_run_loaded(const Renga__V1__GetRunResponse *response, void *data)
{
    struct feedback_call *call = (struct feedback_call *)((struct rpc_client_call *)data)->owner;
    Renga__V1__GetStateRequest get = RENGA__V1__GET_STATE_REQUEST__INIT;
    struct status st = {0};
    if (!response) {
        agent_call_failed(&call->run, &call->get);
        return;
    }
    if (response->run->state != RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED) {
        fail(&st, FAILED_PRECONDITION, "the run '%s' has no answer: it is still at work, has failed or was cancelled",
             call->request->run_id);
        refuse(call->run.call, &st, "RUN_NOT_FINISHED");
        return;
    }
    call->asked_thread = arena_strdup(rpc_call_arena(call->run.call), response->run->thread_id);
    call->asked_checkpoint = arena_strdup(rpc_call_arena(call->run.call), response->run->checkpoint_id);
    call->asked_agent = arena_strdup(rpc_call_arena(call->run.call), response->run->agent);
    if (!call->asked_thread || !call->asked_checkpoint || !call->asked_agent) {
        rpc_fail_with(call->run.call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    get.thread_id = call->asked_thread;
    get.checkpoint_id = call->asked_checkpoint;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_state(call->run.orchestrator, &get, feedback_state_loaded, &call->get);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool feedback_check(const Renga__V1__FeedbackRequest *request, struct status *st)
{
    if (!*request->run_id && !request->trajectory)
        return fail_field(st, "run_id", "is empty; name the run, or give its trajectory");
    if (request->trajectory && !ace_check_trajectory(request->trajectory, st))
        return false;
    return agent_request_check(&request->base, request->options, st);
}

void ace_feedback(Renga__V1__AceGenerator_Service *self, const Renga__V1__FeedbackRequest *request,
                  Renga__V1__FeedbackResponse_Closure reply, void *data)
{
    struct rpc_call *rpc = data;
    struct status st = {0};
    Renga__V1__GetRunRequest get = RENGA__V1__GET_RUN_REQUEST__INIT;
    struct feedback_call *call = ace_call_open(rpc, feedback_check(request, &st), sizeof *call, &st);
    if (!call)
        return;
    call->request = request;
    call->reply = reply;
    ace_run_init(&call->run, self, rpc, AGENT, request->remark, request->options);
    call->run.stopped = feedback_stopped;
    if (request->trajectory) {
        feedback_learn_trajectory(call, request->trajectory);
        return;
    }
    get.run_id = request->run_id;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_run(call->run.orchestrator, &get, feedback_run_loaded, &call->get);
}
