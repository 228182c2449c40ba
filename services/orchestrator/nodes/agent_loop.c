/* A model that works with tools until it has an answer. Each visit of the node is a turn of the model: its calls are
 * run, and with the results it is asked again.
 *
 *      prompt ---> Chat ---> it calls tools: `again`, and the edge leads back here --.
 *                   |  ^                                                             |
 *                   |  '--- RunTools, a person's answers <----------------------------'
 *                   |--> it calls a tool of the document that has an outcome: that outcome
 *                   |--> it answers, and a task remains: a reminder, `again`
 *                   '--> it answers: `replied`
 *
 * So every turn is a superstep: it is on disk before its tools run, it is watched and counted, and `visits` and the
 * budget bound it as any other. After a crash the same calls go out under the same idempotency key, and the tool-runner
 * answers them from its record. Calls of the document's own tools are taken as soon as the model has answered, in the
 * same step. The last turn that `most_turns` allows is asked without tools, so that it is an answer. If the document
 * has an edge for `limit`, all turns have tools, and the edge is taken instead of a further turn. */
#include "agent_loop.h"

#include "kept_answer.h"

#include <string.h>

#define MOST_TURNS_MAX 100
#define ASK_MAX        8192 /* bytes, as ToolDefinition.description */

static const struct node_parameter parameters[] = {
    [LOOP_PROMPT] = {"prompt", PARAMETER_PROMPT, OPTIONAL,
                     "What is asked: {field} stands for an input of the node. Without it the conversation must end "
                     "with a turn of the user."},
    [LOOP_SYSTEM] = {"system", PARAMETER_PROMPT, OPTIONAL, "The rules of the conversation, likewise."},
    [LOOP_TURNS] = {"turns", READS_OBJECTS, REQUIRED, "The conversation, an object[] that appends; one of the inputs."},
    [LOOP_INTO] = {"into", WRITES_STRING, REQUIRED, "The answer, a string."},
    [LOOP_FOUND] = {"found", WRITES_OBJECTS, OPTIONAL,
                    "A list that gets what tools found, an object for each round (SubtaskToolResults)."},
    [LOOP_ASK] = {"ask", PARAMETER_TEXT, OPTIONAL,
                  "The model may ask a person, by a tool \"ask_person\"; this tells it when. The run waits for the "
                  "answer. Without it nobody is asked."},
    [LOOP_MOST] = {"most_turns", PARAMETER_INTEGER, OPTIONAL,
                   "Most turns of the model for one question, 10 where it is not said; the last is without tools."},
    [LOOP_MOST_OF] = {"most_turns_of", READS_INTEGER, OPTIONAL,
                      "An input that says most_turns, an integer; where it has no value, most_turns counts."},
    [LOOP_ARGUMENTS] = {"arguments", PARAMETER_JSON, OPTIONAL,
                        "Arguments that the model does not choose, {ARGUMENT: FIELD}, as in select_tools."},
    [LOOP_MODEL] = {"model", PARAMETER_TEXT, OPTIONAL, "A route of the gateway; else \"default\"."},
    [LOOP_TOKENS] = {"max_output_tokens", PARAMETER_INTEGER, OPTIONAL, "Longest turn, in tokens."},
    [LOOP_PICK] = PICK_ROW,
    [LOOP_HISTORY] =
        {"history", READS_OBJECTS, OPTIONAL,
         "Turns that stand before the conversation, an object[]; one of the inputs. Those of tools are left out."},
    [LOOP_OWN_TOOLS] =
        {"own_tools", PARAMETER_JSON, OPTIONAL,
         "Tools of the document: NAME: {\"description\": PROMPT, \"parameters\": JSON Schema, \"into\": {ARGUMENT: "
         "FIELD}, \"outcome\", \"result\": FIELD, \"when\": CONDITION, \"refusal\": PROMPT}."},
    [LOOP_REMAINING] =
        {"remaining", PARAMETER_JSON, OPTIONAL,
         "[{\"when\": CONDITION, \"task\": PROMPT}, …]: what must be done before the model may end with an answer."},
    [LOOP_REMAINING_PROMPT] = {"remaining_prompt", PARAMETER_PROMPT, OPTIONAL,
                               "Tells the model what is left: {tasks} is a line for each."},
    [LOOP_CALLS] = {"calls", WRITES_OBJECTS, OPTIONAL,
                    "An object[] that gets each call that has its result: agent (the graph's name), name, "
                    "arguments_json, result_json, error."},
    ROUND_ROWS(LOOP_ROUND),
    {.name = NULL},
};
static const char *const outcomes[] = {LOOP_REPLIED, LOOP_AGAIN, NULL};

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool has_no_runner(const struct node *node)
{
    const char *tools = node_argument(node, LOOP_ROUND)->text;
    return tools && strcmp(tools, "[]") == 0;
}

static bool agent_loop_check(const struct node *node, struct status *st)
{
    const char *ask = node_argument(node, LOOP_ASK)->text;
    int64_t most = node_argument(node, LOOP_MOST)->number;
    if (ask && strlen(ask) > ASK_MAX)
        return fail_field(st, "ask", "has %zu bytes; at most %d are allowed", strlen(ask), ASK_MAX);
    if (most > MOST_TURNS_MAX)
        return fail_field(st, "most_turns", "is %lld; at most %d are allowed", (long long)most, MOST_TURNS_MAX);
    return round_check(node, LOOP_ROUND, has_no_runner(node), st) && offer_check(node, LOOP_ARGUMENTS, st) &&
           pick_check(node, LOOP_PICK, st);
}

/* A field that the loop may write in the same visit as a tool is not open to tools. */
static bool check_writes(const struct node *node, const struct loop_plan *plan, struct status *st)
{
    static const size_t rows[] = {LOOP_TURNS, LOOP_FOUND, LOOP_CALLS};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct field *field = node_argument(node, rows[i])->field;
        if (field && own_tools_write(plan->tools, field))
            return fail_field(st, "own_tools", "'%s' is the field of \"%s\"; a tool writes another", field->name,
                              parameters[rows[i]].name);
    }
    return true;
}

static bool check_arrows(const struct node *node, const struct loop_plan *plan, struct status *st)
{
    static const char *const known[] = {LOOP_REPLIED, LOOP_AGAIN, LOOP_LIMIT, LOOP_NO_MODEL, LOOP_UNUSABLE};
    for (size_t i = 0; i < node->edge_count; i++) {
        const char *outcome = node->edges[i].outcome;
        bool good = own_tools_end(plan->tools, outcome);
        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            good |= strcmp(outcome, known[j]) == 0;
        if (!good)
            return fail_field(st, "on",
                              "agent_loop has no outcome '%s'; it has replied, again, limit, no_model, unusable and "
                              "those of its own tools",
                              outcome);
    }
    return true;
}

static const void *agent_loop_prepare(const struct node *node, struct arena *arena, struct status *st)
{
    struct loop_plan *plan = arena_zalloc(arena, sizeof *plan);
    if (!plan) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for an agent_loop");
        return NULL;
    }
    plan->has_limit = node_edge(node, LOOP_LIMIT);
    plan->has_no_model = node_edge(node, LOOP_NO_MODEL);
    plan->has_unusable = node_edge(node, LOOP_UNUSABLE);
    plan->no_runner = has_no_runner(node);
    plan->tools = own_tools_prepare(node, LOOP_OWN_TOOLS, arena, st);
    plan->remaining = plan->tools ? remaining_prepare(node, LOOP_REMAINING, LOOP_REMAINING_PROMPT, arena, st) : NULL;
    return plan->remaining && check_writes(node, plan, st) && check_arrows(node, plan, st) ? plan : NULL;
}

/* ---- the model's turn -------------------------------------------------------------------------------------------- */

/* Adds a tool of the node behind the tools of the tool-runner, and replaces a tool of the same name. */
static void agent_loop_add_tool(struct tool_offer *offer, Renga__V1__ToolDefinition *tool)
{
    offer_drop(offer, tool->name);
    size_t place = offer->count < OFFER_TOOLS_MAX ? offer->count : OFFER_TOOLS_MAX - 1;
    offer->tools[place] = tool;
    offer->takes[place] = 0;
    offer->count = place + 1;
}

static bool agent_loop_write_tools(struct agent_loop *talk, const Renga__V1__ListToolsResponse *tools,
                                   struct status *st)
{
    const char *when = node_argument(task_node(talk->base.task), LOOP_ASK)->text;
    struct tool_offer *offer = &talk->offer;
    size_t own = own_tools_count(talk->plan->tools);
    Renga__V1__ToolDefinition *ask = when ? tool_ask_definition(task_arena(talk->base.task), when) : NULL;
    if (when && !ask)
        return fail(st, RESOURCE_EXHAUSTED, "the tools take more memory than an attempt may have");
    if (tools && !offer_tools(offer, tools, st))
        return false;
    if (offer->count > OFFER_TOOLS_MAX - own - 1)
        offer->count = OFFER_TOOLS_MAX - own - 1;
    for (size_t i = 0; i < own; i++)
        agent_loop_add_tool(offer, talk->own[i]);
    if (ask)
        agent_loop_add_tool(offer, ask);
    talk->request.tools = offer->tools;
    talk->request.n_tools = offer->count;
    if (talk->last && offer->count) {
        renga__v1__tool_choice__init(&talk->choice);
        talk->choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE;
        talk->request.tool_choice = &talk->choice;
    }
    return true;
}

static void ask_model(struct service_call *call, const Renga__V1__ListToolsResponse *tools)
{
    struct agent_loop *talk = (struct agent_loop *)call;
    struct status st = {0};
    if (service_call_again(call, PEER_GATEWAY, &st) && loop_write_request(talk, &st) &&
        agent_loop_write_tools(talk, tools, &st))
        renga__v1__llm_gateway__chat(call->peer, &talk->request, loop_answered, &call->call);
    else
        task_fail(call->task, &st);
}

/* ---- before the model's turn ------------------------------------------------------------------------------------- */

static void end_stuck(struct agent_loop *talk)
{
    bool japanese = strcmp(talk->base.language, "ja") == 0;
    loop_end_with(talk, LOOP_UNUSABLE, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK,
                  japanese ? "モデルが続けて誤ったツール呼び出しをしました。"
                           : "the model called tools in vain, three turns in a row");
}

/* All calls have their answers. */
static void agent_loop_go_on(struct agent_loop *talk)
{
    struct status st = {0};
    if (!loop_answer_calls(talk, &st))
        task_fail(talk->base.task, &st);
    else if (talk->plan->has_unusable && loop_is_stuck(talk))
        end_stuck(talk);
    else if (talk->plan->no_runner)
        ask_model(&talk->base, NULL);
    else
        offer_list(&talk->offer, &talk->base, ask_model);
}

static bool take_results(struct agent_loop *talk, const Renga__V1__RunToolsResponse *answer, struct status *st)
{
    answer = service_call_keep(&talk->base, &answer->base);
    if (!answer)
        return fail(st, RESOURCE_EXHAUSTED, "the results of tools take more memory than an attempt may have");
    return round_take(&talk->round, answer, st);
}

static void agent_loop_ran(const Renga__V1__RunToolsResponse *answer, void *data)
{
    struct agent_loop *talk = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer || talk->base.cancelled) {
        service_call_failed(&talk->base);
        return;
    }
    bool good = take_results(talk, answer, &st);
    Renga__V1__Usage usage = loop_tools_spent(talk);
    task_spend(talk->base.task, &usage); /* if it fails from here on */
    if (good)
        agent_loop_go_on(talk);
    else
        task_fail(talk->base.task, &st);
}

static void run_pending(struct agent_loop *talk)
{
    struct status st = {0};
    if (!talk->round.request.n_calls)
        agent_loop_go_on(talk);
    else if (service_call_again(&talk->base, PEER_TOOL_RUNNER, &st))
        renga__v1__tool_runner__run_tools(talk->base.peer, &talk->round.request, agent_loop_ran, &talk->base.call);
    else
        task_fail(talk->base.task, &st);
}

/* ---- is there a model? ------------------------------------------------------------------------------------------- */

/* A route that is missing from the list is asked anyway: the answer names its provider. */
static bool is_embedded(const struct agent_loop *talk, const Renga__V1__ListModelsResponse *models)
{
    const char *own = node_argument(task_node(talk->base.task), LOOP_MODEL)->text;
    const char *name = talk->base.model ? talk->base.model : own ? own : "default";
    for (size_t i = 0; i < models->n_models; i++) {
        const Renga__V1__Model *model = models->models[i];
        bool embedded = model->n_deployments > 0 && strcmp(model->name, name) == 0;
        for (size_t j = 0; embedded && j < model->n_deployments; j++)
            embedded =
                model->deployments[j]->target && strcmp(model->deployments[j]->target->provider, LOOP_EMBEDDED) == 0;
        if (embedded)
            return true;
    }
    return false;
}

static void judge_models(struct agent_loop *talk, const Renga__V1__ListModelsResponse *models)
{
    if (is_embedded(talk, models))
        loop_end_without_model(talk);
    else
        run_pending(talk);
}

static void models_came(const Renga__V1__ListModelsResponse *answer, void *data)
{
    struct agent_loop *talk = ((struct rpc_client_call *)data)->owner;
    enum status_code code = talk->base.call.status.code;
    if (!talk->base.cancelled && !answer && (code == UNIMPLEMENTED || code == PERMISSION_DENIED)) {
        run_pending(talk); /* it cannot be told before the answer */
        return;
    }
    if (!answer || talk->base.cancelled) {
        service_call_failed(&talk->base);
        return;
    }
    kept_answer_keep(task_services(talk->base.task)->models, &answer->base);
    judge_models(talk, answer);
}

static void find_model(struct agent_loop *talk)
{
    struct status st = {0};
    struct task *task = talk->base.task;
    const Renga__V1__ListModelsResponse *known = kept_answer_recall(task_services(task)->models, task_arena(task));
    if (known) {
        judge_models(talk, known);
        return;
    }
    renga__v1__list_models_request__init(&talk->models);
    if (service_call_again(&talk->base, PEER_GATEWAY, &st))
        renga__v1__llm_gateway__list_models(talk->base.peer, &talk->models, models_came, &talk->base.call);
    else
        task_fail(task, &st);
}

/* ---- a visit ----------------------------------------------------------------------------------------------------- */

static void ask_person(struct agent_loop *talk)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.interrupts = talk->asks.questions;
    response.n_interrupts = talk->asks.count;
    task_finish(talk->base.task, &response);
}

static void agent_loop_start(struct task *task)
{
    struct agent_loop *talk = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&talk->base, task, PEER_GATEWAY, &st) && loop_read(talk, &st) &&
                loop_sort_calls(talk, &st) && offer_prepare(&talk->offer, &talk->base, LOOP_ROUND, LOOP_ARGUMENTS, &st);
    service_call_close(&talk->base);
    if (!good && talk->unfit && talk->plan->has_unusable)
        loop_end_with(talk, LOOP_UNUSABLE, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK,
                      arena_strdup(task_arena(task), st.text));
    else if (!good)
        task_fail(task, &st);
    else if (talk->over)
        loop_end_with(talk, LOOP_LIMIT, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_UNSPECIFIED, NULL);
    else if (talk->asks.open)
        ask_person(talk);
    else if (talk->plan->has_no_model && !talk->had)
        find_model(talk);
    else
        run_pending(talk);
}

extern const struct node_kind agent_loop_kind;
const struct node_kind agent_loop_kind = {
    .name = "agent_loop",
    .help = "A model that works with tools until it has an answer; one turn a visit.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_outcomes = true,
    .check = agent_loop_check,
    .prepare = agent_loop_prepare,
    .size = sizeof(struct agent_loop),
    .start = agent_loop_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
};
