/* A model that works with tools until it has an answer. Each visit of the node is one turn of the model: what its last
 * turn called is run, and with the results it is asked again.
 *
 *      prompt ---> Chat ---> it calls tools: `again`, and the arrow leads back here --.
 *                   |  ^                                                             |
 *                   |  '--- RunTools, a person's answers <----------------------------'
 *                   '--> it says something: `replied`
 *
 * So every turn is a superstep: on disk before its tools run, watched, counted, bounded by `visits` and the budget as
 * any other. After a crash the same calls go out under the same idempotency key, and the tool-runner answers them from
 * its record. The last turn that `most_turns` allows is asked without tools, so that it is an answer. */
#include "prompt.h"
#include "tool_ask.h"
#include "tool_offer.h"
#include "tool_round.h"
#include "turns.h"

#include "renga/v1/llm_gateway.pb-c.h"
#include "thinking/usage.h"

#include <string.h>

#define MOST_TURNS     10 /* where the document does not say */
#define MOST_TURNS_MAX 100
#define ASK_MAX        8192 /* bytes, as ToolDefinition.description */
#define NEW_TURNS      (ROUND_CALLS_MAX + 1)
#define UNCONST(text)  ((char *)(uintptr_t)(text))

enum {
    LOOP_PROMPT,
    LOOP_SYSTEM,
    LOOP_TURNS,
    LOOP_INTO,
    LOOP_FOUND,
    LOOP_ASK,
    LOOP_MOST,
    LOOP_ARGUMENTS,
    LOOP_MODEL,
    LOOP_TOKENS,
    LOOP_PICK,
    LOOP_ROUND
};

static const struct node_parameter parameters[] = {
    [LOOP_PROMPT] = {.name = "prompt",
                     .type = PARAMETER_PROMPT,
                     .help = "What is asked: {field} stands for an input of the node. Without it the conversation must "
                             "end with a turn of the user."},
    [LOOP_SYSTEM] = {.name = "system", .type = PARAMETER_PROMPT, .help = "The rules of the conversation, likewise."},
    [LOOP_TURNS] = {.name = "turns",
                    .type = PARAMETER_FIELD,
                    .required = true,
                    .help = "The conversation, an object[] that appends; one of the inputs."},
    [LOOP_INTO] = {.name = "into", .type = PARAMETER_FIELD, .required = true, .help = "The answer, a string."},
    [LOOP_FOUND] = {.name = "found",
                    .type = PARAMETER_FIELD,
                    .help = "A list that gets what tools found, an object for each round (SubtaskToolResults)."},
    [LOOP_ASK] = {.name = "ask",
                  .type = PARAMETER_TEXT,
                  .help = "The model may ask a person, by a tool \"ask_person\"; this tells it when. The run waits for "
                          "the answer. Without it nobody is asked."},
    [LOOP_MOST] = {.name = "most_turns",
                   .type = PARAMETER_INTEGER,
                   .help = "Most turns of the model for one question, 10 where it is not said; the last is without "
                           "tools."},
    [LOOP_ARGUMENTS] = {.name = "arguments",
                        .type = PARAMETER_JSON,
                        .help = "Arguments that the model does not choose, {ARGUMENT: FIELD}, as in select_tools."},
    [LOOP_MODEL] = {.name = "model", .type = PARAMETER_TEXT, .help = "A route of the gateway; else \"default\"."},
    [LOOP_TOKENS] = {.name = "max_output_tokens", .type = PARAMETER_INTEGER, .help = "Longest turn, in tokens."},
    [LOOP_PICK] = PICK_ROW,
    ROUND_ROWS(LOOP_ROUND),
    {.name = NULL},
};
static const char *const outcomes[] = {"replied", "again", NULL};

static bool check(const struct node *node, struct status *st)
{
    const char *ask = node_argument(node, LOOP_ASK)->text;
    int64_t most = node_argument(node, LOOP_MOST)->number;
    if (ask && strlen(ask) > ASK_MAX)
        return fail_field(st, "ask", "has %zu bytes; at most %d are allowed", strlen(ask), ASK_MAX);
    if (most > MOST_TURNS_MAX)
        return fail_field(st, "most_turns", "is %lld; at most %d are allowed", (long long)most, MOST_TURNS_MAX);
    return round_check(node, LOOP_ROUND, st) && input_check(node, LOOP_TURNS, FIELD_OBJECT, true, st) &&
           output_check(node, LOOP_INTO, FIELD_STRING, false, st) &&
           output_check(node, LOOP_FOUND, FIELD_OBJECT, true, st) && offer_check(node, LOOP_ARGUMENTS, st) &&
           pick_check(node, LOOP_PICK, st);
}

struct agent_loop {
    struct service_call base;             /* first */
    struct turns turns;                   /* the conversation, without the rules */
    size_t old_turns;                     /* of them those that stand in the state already */
    char *rules;                          /* NULL: none */
    const Renga__V1__ChatMessage *caller; /* the turn whose calls are to be answered; NULL: none */
    struct tool_asks asks;
    struct tool_round round;
    struct tool_offer offer;
    bool last; /* it must answer */
    Renga__V1__ChatRequest request;
    Renga__V1__ToolChoice choice;
};

/* ---- the conversation -------------------------------------------------------------------------------------------- */

static bool fill(struct agent_loop *talk, size_t row, char **text, struct status *st)
{
    const char *name = node_argument(task_node(talk->base.task), row)->text;
    *text = name ? prompt_fill(talk->base.task, name, talk->base.inputs, talk->base.language, st) : NULL;
    return *text || !name;
}

static bool begin_question(struct agent_loop *talk, struct status *st)
{
    char *text;
    const Renga__V1__ChatMessage *last = talk->turns.count ? talk->turns.list[talk->turns.count - 1] : NULL;
    if (!fill(talk, LOOP_PROMPT, &text, st))
        return false;
    if (text)
        return turns_add(&talk->turns, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, text, st);
    return (last && last->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER) ||
           fail(st, INVALID_ARGUMENT, "the conversation does not end with a turn of the user, and there is no prompt");
}

/* Whether the model has had all turns but one since it was asked. */
static bool is_last(const struct agent_loop *talk)
{
    int64_t most = node_argument(task_node(talk->base.task), LOOP_MOST)->number, had = 0;
    for (size_t i = talk->turns.count; i > 0; i--) {
        const Renga__V1__ChatMessage *turn = talk->turns.list[i - 1];
        if (turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER)
            break;
        had += turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    }
    return had + 1 >= (most ? most : MOST_TURNS);
}

static bool read_turns(struct agent_loop *talk, struct status *st)
{
    struct task *task = talk->base.task;
    const cJSON *history = service_call_input(&talk->base, LOOP_TURNS);
    int count = cJSON_GetArraySize(history);
    if (count > TURNS_MAX - NEW_TURNS)
        return fail(st, INVALID_ARGUMENT, "the conversation has %d turns; at most %d are gone on with", count,
                    TURNS_MAX - NEW_TURNS);
    if (!prompt_values(talk->base.inputs, task_node(task), LOOP_PICK, talk->base.language, st) ||
        !turns_init(&talk->turns, task_arena(task), (size_t)count + NEW_TURNS, st) ||
        !turns_read(&talk->turns, history, false, st) || !fill(talk, LOOP_SYSTEM, &talk->rules, st))
        return false;
    talk->old_turns = talk->turns.count;
    talk->caller = talk->turns.count ? talk->turns.list[talk->turns.count - 1] : NULL;
    if (talk->caller && !talk->caller->n_tool_calls)
        talk->caller = NULL;
    return talk->caller || begin_question(talk, st);
}

/* ---- what its last turn called ----------------------------------------------------------------------------------- */

static bool is_question(const struct agent_loop *talk, const Renga__V1__ToolCall *call)
{
    return node_argument(task_node(talk->base.task), LOOP_ASK)->text && tool_ask_is(call);
}

static bool sort_calls(struct agent_loop *talk, struct status *st)
{
    struct task *task = talk->base.task;
    Renga__V1__ChatMessage *ignored;
    size_t count = talk->caller ? talk->caller->n_tool_calls : 0;
    if (!round_open(&talk->round, &talk->base, LOOP_ROUND, count, st))
        return false;
    for (size_t i = 0; i < count; i++) {
        Renga__V1__ToolCall *call = talk->caller->tool_calls[i];
        bool good = is_question(talk, call)
                        ? tool_ask(&talk->asks, call, i, task_request(task), task_arena(task), &ignored, st)
                        : round_add(&talk->round, call, st);
        if (!good)
            return false;
    }
    return true;
}

/* Its turns, in the order of the calls. */
static bool answer_calls(struct agent_loop *talk, struct status *st)
{
    struct task *task = talk->base.task;
    struct tool_asks asks = {0};
    for (size_t i = 0, ran = 0; talk->caller && i < talk->caller->n_tool_calls; i++) {
        Renga__V1__ToolCall *call = talk->caller->tool_calls[i];
        Renga__V1__ChatMessage *turn;
        if (!is_question(talk, call))
            turn = round_turn(&talk->round, ran++, st);
        else if (!tool_ask(&asks, call, i, task_request(task), task_arena(task), &turn, st))
            return false;
        if (!turn || !turns_put(&talk->turns, turn, st))
            return false;
    }
    return true;
}

static void ask_person(struct agent_loop *talk)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.interrupts = talk->asks.questions;
    response.n_interrupts = talk->asks.count;
    task_finish(talk->base.task, &response);
}

/* ---- the model's turn -------------------------------------------------------------------------------------------- */

static Renga__V1__Usage tools_spent(const struct agent_loop *talk)
{
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.tool_calls = talk->round.results ? (int64_t)talk->round.request.n_calls : 0;
    return usage;
}

static void fail_answered(struct agent_loop *talk, const Renga__V1__ChatFinish *end, const struct status *st)
{
    if (end->usage)
        task_spend(talk->base.task, end->usage);
    task_fail(talk->base.task, st);
}

static bool write_turns(struct agent_loop *talk, struct json_writer *out, const Renga__V1__ChatMessage *said,
                        struct status *st)
{
    const char *found = talk->round.results ? update_field(talk->base.task, LOOP_FOUND) : NULL;
    json_write_array(out, update_field(talk->base.task, LOOP_TURNS));
    for (size_t i = talk->old_turns; i < talk->turns.count; i++)
        turn_write(out, talk->turns.list[i]);
    turn_write(out, said);
    json_write_end(out);
    if (!found)
        return true;
    json_write_array(out, found);
    if (!round_results(&talk->round, out, st))
        return false;
    json_write_end(out);
    return true;
}

static void finish(struct agent_loop *talk, const Renga__V1__ChatMessage *said, const Renga__V1__ChatFinish *end)
{
    struct status st = {0};
    struct update update;
    Renga__V1__Usage usage = tools_spent(talk);
    Renga__V1__Degradation *degradations[ROUND_DEGRADATIONS_MAX];
    bool again = said->n_tool_calls > 0;
    update_begin(&update);
    if (end->usage)
        usage_add(&usage, end->usage);
    update.response.usage = &usage;
    update.response.degradations = degradations;
    if (talk->round.results)
        round_degradations(&talk->round, degradations, &update.response.n_degradations);
    for (size_t i = 0; i < end->n_degradations && update.response.n_degradations < ROUND_DEGRADATIONS_MAX; i++)
        degradations[update.response.n_degradations++] = end->degradations[i];
    bool good = write_turns(talk, &update.out, said, &st);
    if (good && !again)
        json_write_string(&update.out, update_field(talk->base.task, LOOP_INTO), said->content);
    if (good) {
        update_finish(&update, talk->base.task, outcomes[again]);
    } else {
        buffer_fini(&update.text);
        fail_answered(talk, end, &st);
    }
}

static void answered(const Renga__V1__ChatResponse *answer, void *data)
{
    struct agent_loop *talk = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer) {
        service_call_failed(&talk->base);
    } else if (!answer_is_whole(answer, &st)) {
        task_fail(talk->base.task, &st);
    } else if (!finish_may_call(answer->finish, answer->message->refusal, &st) ||
               !offer_complete(&talk->offer, answer->message, &st)) {
        fail_answered(talk, answer->finish, &st);
    } else if (talk->last && answer->message->n_tool_calls) {
        fail(&st, DATA_LOSS, "the model calls tools where it may not any more; give it more turns, or another prompt");
        fail_answered(talk, answer->finish, &st);
    } else {
        finish(talk, answer->message, answer->finish);
    }
}

static bool write_tools(struct agent_loop *talk, const Renga__V1__ListToolsResponse *tools, struct status *st)
{
    const char *when = node_argument(task_node(talk->base.task), LOOP_ASK)->text;
    struct tool_offer *offer = &talk->offer;
    if (!offer_tools(offer, tools, st))
        return false;
    talk->request.tools = offer->tools;
    if (when) {
        offer_drop(offer, TOOL_ASK_NAME);
        size_t place = offer->count < OFFER_TOOLS_MAX ? offer->count : OFFER_TOOLS_MAX - 1;
        offer->tools[place] = tool_ask_definition(task_arena(talk->base.task), when);
        offer->takes[place] = 0;
        offer->count = place + 1;
        if (!offer->tools[place])
            return fail(st, RESOURCE_EXHAUSTED, "the tools take more memory than an attempt may have");
    }
    talk->request.n_tools = offer->count;
    if (talk->last && offer->count) {
        renga__v1__tool_choice__init(&talk->choice);
        talk->choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE;
        talk->request.tool_choice = &talk->choice;
    }
    return true;
}

static bool write_request(struct agent_loop *talk, const Renga__V1__ListToolsResponse *tools, struct status *st)
{
    struct turns all;
    struct task *task = talk->base.task;
    const char *model = talk->base.model ? talk->base.model : node_argument(task_node(task), LOOP_MODEL)->text;
    renga__v1__chat_request__init(&talk->request);
    if (!turns_init(&all, task_arena(task), talk->turns.count + 1, st) ||
        (talk->rules && !turns_add(&all, RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM, talk->rules, st)))
        return false;
    for (size_t i = 0; i < talk->turns.count; i++)
        all.list[all.count++] = talk->turns.list[i];
    talk->request.messages = all.list;
    talk->request.n_messages = all.count;
    talk->request.model = UNCONST(model ? model : "default");
    talk->request.max_output_tokens = (int32_t)node_argument(task_node(task), LOOP_TOKENS)->number;
    talk->request.idempotency_key = task_request(task)->idempotency_key;
    talk->request.origin = &talk->base.origin;
    talk->last = is_last(talk);
    return write_tools(talk, tools, st);
}

static void ask_model(struct service_call *call, const Renga__V1__ListToolsResponse *tools)
{
    struct agent_loop *talk = (struct agent_loop *)call;
    struct status st = {0};
    if (service_call_again(call, PEER_GATEWAY, &st) && write_request(talk, tools, &st))
        renga__v1__llm_gateway__chat(call->peer, &talk->request, answered, &call->call);
    else
        task_fail(call->task, &st);
}

/* ---- on the way to it -------------------------------------------------------------------------------------------- */

/* With all that was called answered. */
static void go_on(struct agent_loop *talk)
{
    struct status st = {0};
    if (answer_calls(talk, &st))
        offer_list(&talk->offer, &talk->base, ask_model);
    else
        task_fail(talk->base.task, &st);
}

static bool take_results(struct agent_loop *talk, const Renga__V1__RunToolsResponse *answer, struct status *st)
{
    answer = service_call_keep(&talk->base, &answer->base);
    if (!answer)
        return fail(st, RESOURCE_EXHAUSTED, "the results of tools take more memory than an attempt may have");
    return round_take(&talk->round, answer, st);
}

static void ran(const Renga__V1__RunToolsResponse *answer, void *data)
{
    struct agent_loop *talk = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer || talk->base.cancelled) {
        service_call_failed(&talk->base);
        return;
    }
    bool good = take_results(talk, answer, &st);
    Renga__V1__Usage usage = tools_spent(talk);
    task_spend(talk->base.task, &usage); /* should it fail from here on */
    if (good)
        go_on(talk);
    else
        task_fail(talk->base.task, &st);
}

static void start(struct task *task)
{
    struct agent_loop *talk = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&talk->base, task, PEER_GATEWAY, &st) && read_turns(talk, &st) &&
                sort_calls(talk, &st) && offer_prepare(&talk->offer, &talk->base, LOOP_ROUND, LOOP_ARGUMENTS, &st);
    service_call_close(&talk->base);
    if (good && talk->asks.open)
        ask_person(talk);
    else if (good && !talk->round.request.n_calls)
        go_on(talk);
    else if (good && service_call_again(&talk->base, PEER_TOOL_RUNNER, &st))
        renga__v1__tool_runner__run_tools(talk->base.peer, &talk->round.request, ran, &talk->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind agent_loop_kind;
const struct node_kind agent_loop_kind = {
    .name = "agent_loop",
    .help = "A model that works with tools until it has an answer; one turn a visit.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .size = sizeof(struct agent_loop),
    .start = start,
    .cancel = service_call_cancel,
    .travels = true,
};
