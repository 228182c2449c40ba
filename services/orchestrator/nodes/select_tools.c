/* Lets a model choose tools: those of the tool-runner, or some of them, are offered to it with the conversation so far.
 *
 *      listed a moment ago? ---no---> ListTools ---.
 *               '----------------------------------+---> Chat ---> chosen: the turn that calls them
 *                                                             '--> none: it calls no tool
 *
 * The conversation begins anew with each try: the results of earlier tools are left out, answers and advice stay. */
#include "prompt.h"
#include "tool_offer.h"
#include "turns.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <string.h>

enum {
    SELECT_PROMPT,
    SELECT_RETRY,
    SELECT_SYSTEM,
    SELECT_TURNS,
    SELECT_TOOLS,
    SELECT_ARGUMENTS,
    SELECT_MODEL,
    SELECT_TOKENS,
    SELECT_PICK,
    SELECT_EXTRACTIVE
};

static const struct node_parameter parameters[] = {
    [SELECT_PROMPT] = {"prompt", PARAMETER_PROMPT, REQUIRED,
                       "What is asked: {field} stands for an input of the node, {{ and }} for braces."},
    [SELECT_RETRY] = {"retry_prompt", PARAMETER_PROMPT, OPTIONAL,
                      "What is asked instead when the conversation has turns already."},
    [SELECT_SYSTEM] = {"system", PARAMETER_PROMPT, OPTIONAL, "The rules of the conversation."},
    [SELECT_TURNS] = {"turns", READS_OBJECTS, REQUIRED,
                      "The conversation, an object[] that appends; it is written anew, without the turns of tools, and "
                      "ends with the turn that calls some."},
    [SELECT_TOOLS] = {"tools", PARAMETER_JSON, OPTIONAL, "Names of the tools to offer; all else."},
    [SELECT_ARGUMENTS] =
        {"arguments", PARAMETER_JSON, OPTIONAL,
         "Arguments that the model does not choose, {ARGUMENT: FIELD}: every tool that has one gets the value of the "
         "field, if it is not empty. Then no other tool is offered that looks anything up."},
    [SELECT_MODEL] = {"model", PARAMETER_TEXT, OPTIONAL, "A route of the gateway; else \"default\"."},
    [SELECT_TOKENS] = {"max_output_tokens", PARAMETER_INTEGER, OPTIONAL, "Longest answer, in tokens."},
    [SELECT_PICK] = PICK_ROW,
    [SELECT_EXTRACTIVE] = {"extractive", PARAMETER_BOOLEAN, OPTIONAL,
                           "True: the gateway's extractive provider chooses, whatever model the run has. The document "
                           "tells the degradation."},
    {.name = NULL},
};
#define SELECT_EMBEDDED "extractive" /* the route of the provider that is no model */
static const char *const outcomes[] = {"chosen", "none", NULL};

static bool select_tools_check(const struct node *node, struct status *st)
{
    return names_check(node, SELECT_TOOLS, st) && offer_check(node, SELECT_ARGUMENTS, st) &&
           pick_check(node, SELECT_PICK, st);
}

struct select {
    struct service_call base; /* first */
    Renga__V1__ChatRequest request;
    struct turns turns; /* the conversation, without the rules */
    char *rules;        /* NULL: no rules */
    struct tool_offer offer;
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool select_tools_write_turns(struct select *select, struct status *st)
{
    struct task *task = select->base.task;
    const struct node *node = task_node(task);
    const cJSON *history = service_call_input(&select->base, SELECT_TURNS);
    int count = cJSON_GetArraySize(history);
    const char *retry = node_argument(node, SELECT_RETRY)->text, *system = node_argument(node, SELECT_SYSTEM)->text;
    const char *name = count && retry ? retry : node_argument(node, SELECT_PROMPT)->text;
    if (count > TURNS_MAX)
        return fail(st, INVALID_ARGUMENT, "the conversation has %d turns; at most %d are asked with", count, TURNS_MAX);
    if (!prompt_values(select->base.inputs, node, SELECT_PICK, select->base.language, st) ||
        !turns_init(&select->turns, task_arena(task), (size_t)count + 2, st) ||
        !turns_read(&select->turns, history, true, st))
        return false;
    char *text = prompt_fill(task, name, select->base.inputs, select->base.language, st);
    if (!text || !turns_add(&select->turns, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, text, st))
        return false;
    select->rules = system ? prompt_fill(task, system, select->base.inputs, select->base.language, st) : NULL;
    return select->rules || !system;
}

static bool select_tools_write_request(struct select *select, const Renga__V1__ListToolsResponse *tools,
                                       struct status *st)
{
    struct turns all;
    struct task *task = select->base.task;
    const struct node *node = task_node(task);
    const char *model = select->base.model ? select->base.model : node_argument(node, SELECT_MODEL)->text;
    model = node_argument(node, SELECT_EXTRACTIVE)->flag ? SELECT_EMBEDDED : model;
    renga__v1__chat_request__init(&select->request);
    if (!offer_tools(&select->offer, tools, st) || !turns_init(&all, task_arena(task), select->turns.count + 1, st) ||
        (select->rules && !turns_add(&all, RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM, select->rules, st)))
        return false;
    for (size_t i = 0; i < select->turns.count; i++)
        all.list[all.count++] = select->turns.list[i];
    select->request.messages = all.list;
    select->request.n_messages = all.count;
    select->request.tools = select->offer.tools;
    select->request.n_tools = select->offer.count;
    select->request.model = (char *)(uintptr_t)(model ? model : "default");
    select->request.max_output_tokens = (int32_t)node_argument(node, SELECT_TOKENS)->number;
    select->request.idempotency_key = task_request(task)->idempotency_key;
    select->request.origin = &select->base.origin;
    select->request.max_model_calls = task_request(task)->model_requests;
    return true;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static void select_tools_finish(struct select *select, const Renga__V1__ChatResponse *answer)
{
    struct task *task = select->base.task;
    struct update update;
    char *field = (char *)(uintptr_t)update_field(task, SELECT_TURNS);
    bool chosen = answer && answer->message->n_tool_calls;
    update_begin(&update);
    json_write_array(&update.out, field);
    for (size_t i = 0; i < select->turns.count; i++)
        turn_write(&update.out, select->turns.list[i]);
    if (chosen)
        turn_write(&update.out, answer->message);
    json_write_end(&update.out);
    update.response.overwrite_fields = &field;
    update.response.n_overwrite_fields = 1;
    if (answer)
        update.response.usage = answer->finish->usage;
    if (answer && !node_argument(task_node(task), SELECT_EXTRACTIVE)->flag) {
        update.response.degradations = answer->finish->degradations;
        update.response.n_degradations = answer->finish->n_degradations;
    }
    update_finish(&update, task, outcomes[chosen ? 0 : 1]);
}

static void select_tools_answered(const Renga__V1__ChatResponse *answer, void *data)
{
    struct select *select = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer) {
        bool extractive = node_argument(task_node(select->base.task), SELECT_EXTRACTIVE)->flag;
        if (extractive && select->base.call.status.code == NOT_FOUND) /* a gateway without a route to it */
            select_tools_finish(select, NULL);
        else
            service_call_failed(&select->base);
        return;
    }
    if (!answer_is_whole(answer, &st)) {
        task_fail(select->base.task, &st);
        return;
    }
    if (finish_may_call(answer->finish, answer->message->refusal, &st) &&
        offer_complete(&select->offer, answer->message, &st)) {
        select_tools_finish(select, answer);
        return;
    }
    if (answer->finish->usage)
        task_spend(select->base.task, answer->finish->usage);
    task_fail(select->base.task, &st);
}

static void select_tools_ask(struct service_call *call, const Renga__V1__ListToolsResponse *tools)
{
    struct select *select = (struct select *)call;
    struct status st = {0};
    if (!service_call_again(call, PEER_GATEWAY, &st) || !select_tools_write_request(select, tools, &st))
        task_fail(call->task, &st);
    else if (!select->offer.count)
        select_tools_finish(select, NULL);
    else
        renga__v1__llm_gateway__chat(select->base.peer, &select->request, select_tools_answered, &select->base.call);
}

static void select_tools_start(struct task *task)
{
    struct select *select = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&select->base, task, PEER_GATEWAY, &st) && select_tools_write_turns(select, &st) &&
                offer_prepare(&select->offer, &select->base, SELECT_TOOLS, SELECT_ARGUMENTS, &st);
    service_call_close(&select->base);
    if (good)
        offer_list(&select->offer, &select->base, select_tools_ask);
    else
        task_fail(task, &st);
}

extern const struct node_kind select_tools_kind;
const struct node_kind select_tools_kind = {
    .name = "select_tools",
    .help = "Lets a model choose tools.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_inputs = true,
    .check = select_tools_check,
    .size = sizeof(struct select),
    .start = select_tools_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
};
