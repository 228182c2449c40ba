#include "agent_loop.h"

#include "proto/usage.h"
#include "rpc/details.h"
#include "json/json.h"

#include <string.h>

#define TAKEN   "{\"ok\":true}" /* the result of an own tool's call that was taken */
#define NOT_RUN "ABORTED: it was not run, since an earlier call ended the turn; call it again where it is still needed"

/* The end of a visit after the model has answered. */
struct ending {
    struct agent_loop *talk;
    struct own_calls calls;
    const Renga__V1__ChatMessage *said;
    const Renga__V1__ChatFinish *end;
    const char *outcome; /* of the call that ended the visit; NULL: no call did */
};

Renga__V1__Usage loop_tools_spent(const struct agent_loop *talk)
{
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.tool_calls = talk->round.results ? (int64_t)talk->round.request.n_calls : 0;
    return usage;
}

/* ---- without an answer that can be used -------------------------------------------------------------------------- */

static void end_spent(struct agent_loop *talk, const char *outcome, Renga__V1__DegradationKind kind, const char *reason,
                      int code, const Renga__V1__Usage *spent)
{
    struct update update;
    Renga__V1__Usage usage = loop_tools_spent(talk);
    Renga__V1__Degradation degradation = RENGA__V1__DEGRADATION__INIT, *list[] = {&degradation};
    update_begin(&update);
    if (spent)
        usage_add(&usage, spent);
    update.response.usage = &usage;
    degradation.part = UNCONST(task_node(talk->base.task)->name);
    degradation.kind = kind;
    degradation.reason = UNCONST(reason);
    degradation.status_code = code;
    update.response.degradations = list;
    update.response.n_degradations = reason ? 1 : 0;
    update_finish(&update, talk->base.task, outcome);
}

void loop_end_with(struct agent_loop *talk, const char *outcome, Renga__V1__DegradationKind kind, const char *reason)
{
    end_spent(talk, outcome, kind, reason, OK, NULL);
}

static bool loop_is_japanese(const struct agent_loop *talk)
{
    return strcmp(talk->base.language, "ja") == 0;
}

void loop_end_without_model(struct agent_loop *talk)
{
    loop_end_with(talk, LOOP_NO_MODEL, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE,
                  loop_is_japanese(talk) ? "言語モデルが設定されていません。" : "no language model is set up");
}

/* The model's answer, or the failure of its call, is of no use: the document may go on without it. */
static void end_unusable(struct agent_loop *talk, const struct status *st, const Renga__V1__Usage *spent)
{
    char *reason = arena_printf(
        task_arena(talk->base.task), "%s: %s",
        loop_is_japanese(talk) ? "モデルの回答を使えません" : "the model's answers cannot be used", st->text);
    if (talk->plan->has_unusable) {
        end_spent(talk, LOOP_UNUSABLE, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK, reason ? reason : "",
                  (int)st->code, spent);
        return;
    }
    if (spent)
        task_spend(talk->base.task, spent);
    task_fail(talk->base.task, st);
}

/* DATA_LOSS: the gateway has an answer that broke its rules, also after repair. With any other status the call itself
 * failed. */
static void agent_loop_end_call_failed(struct agent_loop *talk)
{
    size_t size;
    Renga__V1__Usage spent = RENGA__V1__USAGE__INIT;
    const void *details = rpc_client_call_metadata(&talk->base.call, RPC_DETAILS_KEY, &size);
    if (!talk->plan->has_unusable || talk->base.cancelled || talk->base.call.status.code != DATA_LOSS) {
        service_call_failed(&talk->base);
        return;
    }
    if (details)
        usage_of_details(details, size, &spent);
    end_unusable(talk, &talk->base.call.status, &spent);
}

/* ---- calls of the turn ------------------------------------------------------------------------------------------- */

static bool loop_refuse_unknown(struct ending *ending, const Renga__V1__ToolCall *call, struct status *st)
{
    struct buffer text;
    struct agent_loop *talk = ending->talk;
    buffer_init(&text, UPDATE_BYTES_MAX);
    buffer_printf(&text, "NOT_FOUND: there is no tool '%.64s'; there are", call->name);
    for (size_t i = 0; i < talk->request.n_tools; i++)
        buffer_printf(&text, "%s %s", i ? "," : "", talk->request.tools[i]->name);
    const char *error = arena_strdup(task_arena(talk->base.task), buffer_text(&text));
    buffer_fini(&text);
    return loop_add_result(talk, call, NULL, error ? error : "NOT_FOUND: there is no such tool", st);
}

static bool take_own(struct ending *ending, const struct own_tool *tool, const Renga__V1__ToolCall *call,
                     struct status *st)
{
    const char *refused;
    struct agent_loop *talk = ending->talk;
    if (!own_tool_call(&ending->calls, tool, call->arguments_json, &refused, st))
        return false;
    if (refused)
        return loop_add_result(talk, call, NULL, refused, st);
    ending->outcome = own_tool_outcome(tool);
    if (own_tool_result(tool)) /* it is answered when the node is visited again */
        return true;
    if (!loop_add_result(talk, call, TAKEN, NULL, st))
        return false;
    if (ending->outcome)
        talk->turns.list[talk->turns.count - 1]->name = UNCONST(LOOP_ENDED);
    return true;
}

/* Calls that no own tool answers wait for the next visit. */
static bool loop_call_waits(const struct agent_loop *talk, const Renga__V1__ToolCall *call)
{
    return !own_tool_find(talk->plan->tools, call->name) && (loop_is_question(talk, call) || !talk->plan->no_runner);
}

static bool take_calls(struct ending *ending, struct status *st)
{
    struct agent_loop *talk = ending->talk;
    const Renga__V1__ChatMessage *said = ending->said;
    size_t taken = 0;
    for (; taken < said->n_tool_calls && !ending->outcome; taken++) {
        const Renga__V1__ToolCall *call = said->tool_calls[taken];
        const struct own_tool *tool = own_tool_find(talk->plan->tools, call->name);
        if (loop_call_waits(talk, call))
            continue;
        if (!(tool ? take_own(ending, tool, call, st) : loop_refuse_unknown(ending, call, st)))
            return false;
    }
    for (size_t i = 0; ending->outcome && i < said->n_tool_calls; i++) /* the others, before and behind it */
        if ((i >= taken || loop_call_waits(talk, said->tool_calls[i])) &&
            !loop_add_result(talk, said->tool_calls[i], NULL, NOT_RUN, st))
            return false;
    return true;
}

/* ---- remaining tasks --------------------------------------------------------------------------------------------- */

static bool loop_remind(struct ending *ending, bool *reminded, struct status *st)
{
    struct agent_loop *talk = ending->talk;
    *reminded = false;
    if (ending->said->n_tool_calls || talk->last)
        return true;
    char *text = remaining_text(talk->plan->remaining, talk->base.task, ending->calls.inputs, LOOP_PICK,
                                talk->base.language, st);
    if (!text)
        return st->code == OK;
    *reminded = true;
    if (!turns_add(&talk->turns, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, text, st))
        return false;
    talk->turns.list[talk->turns.count - 1]->name = UNCONST(LOOP_REMINDER);
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool loop_write_turns(struct agent_loop *talk, struct json_writer *out, struct status *st)
{
    const char *found = talk->round.results ? update_field(talk->base.task, LOOP_FOUND) : NULL;
    json_write_array(out, update_field(talk->base.task, LOOP_TURNS));
    for (size_t i = talk->old_turns; i < talk->turns.count; i++)
        turn_write(out, talk->turns.list[i]);
    json_write_end(out);
    if (!found)
        return true;
    json_write_array(out, found);
    if (!round_results(&talk->round, out, st))
        return false;
    json_write_end(out);
    return true;
}

static void loop_write_calls(struct agent_loop *talk, struct json_writer *out)
{
    const struct node *node = task_node(talk->base.task);
    const char *field = update_field(talk->base.task, LOOP_CALLS);
    if (!field || !talk->calls)
        return;
    json_write_array(out, field);
    for (const struct loop_call *call = talk->calls; call; call = call->next) {
        json_write_object(out, NULL);
        json_write_string(out, "agent", node->graph->name);
        json_write_string(out, "name", call->name);
        json_write_string(out, "arguments_json", call->arguments);
        json_write_string(out, "result_json", call->result);
        json_write_string(out, "error", call->error);
        json_write_end(out);
    }
    json_write_end(out);
}

static void loop_write_end(struct ending *ending, bool replied, const char *outcome)
{
    struct agent_loop *talk = ending->talk;
    struct status st = {0};
    struct update update;
    Renga__V1__Usage usage = loop_tools_spent(talk);
    Renga__V1__Degradation *degradations[ROUND_DEGRADATIONS_MAX];
    const Renga__V1__ChatFinish *end = ending->end;
    const cJSON *field;
    update_begin(&update);
    if (end->usage)
        usage_add(&usage, end->usage);
    update.response.usage = &usage;
    update.response.degradations = degradations;
    if (talk->round.results)
        round_degradations(&talk->round, degradations, &update.response.n_degradations);
    for (size_t i = 0; i < end->n_degradations && update.response.n_degradations < ROUND_DEGRADATIONS_MAX; i++)
        degradations[update.response.n_degradations++] = end->degradations[i];
    bool good = loop_write_turns(talk, &update.out, &st);
    loop_write_calls(talk, &update.out);
    cJSON_ArrayForEach(field, ending->calls.update) json_write_tree(&update.out, field->string, field);
    if (replied)
        json_write_string(&update.out, update_field(talk->base.task, LOOP_INTO), ending->said->content);
    if (good) {
        update_finish(&update, talk->base.task, outcome);
    } else {
        buffer_fini(&update.text);
        if (end->usage)
            task_spend(talk->base.task, end->usage);
        task_fail(talk->base.task, &st);
    }
}

static void loop_finish(struct agent_loop *talk, Renga__V1__ChatMessage *said, const Renga__V1__ChatFinish *end)
{
    static char silence[] = "…"; /* a counted turn must not be empty when it is sent again */
    if (!said->n_tool_calls && !*said->content)
        said->content = silence;
    struct status st = {0};
    struct task *task = talk->base.task;
    const char *state = task_request(task)->state_json;
    struct ending ending = {.talk = talk, .said = said, .end = end};
    bool reminded = false;
    ending.calls = (struct own_calls){.task = task, .pick_row = LOOP_PICK, .language = talk->base.language};
    ending.calls.inputs = json_parse(state, strlen(state), NULL, &st);
    ending.calls.update = cJSON_CreateObject();
    bool good = ending.calls.inputs && turns_put(&talk->turns, said, &st) && take_calls(&ending, &st) &&
                loop_remind(&ending, &reminded, &st);
    bool again = said->n_tool_calls > 0 || reminded;
    if (good) {
        loop_write_end(&ending, !again, ending.outcome ? ending.outcome : again ? LOOP_AGAIN : LOOP_REPLIED);
    } else {
        if (end->usage)
            task_spend(task, end->usage);
        task_fail(task, &st);
    }
    cJSON_Delete(ending.calls.inputs);
    cJSON_Delete(ending.calls.update);
}

/* ---- the model has answered -------------------------------------------------------------------------------------- */

static bool loop_end_is_embedded(const Renga__V1__ChatFinish *end)
{
    return end->answered_by && strcmp(end->answered_by->provider, LOOP_EMBEDDED) == 0;
}

void loop_answered(const Renga__V1__ChatResponse *answer, void *data)
{
    struct agent_loop *talk = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer) {
        agent_loop_end_call_failed(talk);
        return;
    }
    if (!answer_is_whole(answer, &st)) {
        task_fail(talk->base.task, &st);
        return;
    }
    const Renga__V1__ChatFinish *end = answer->finish;
    if (talk->plan->has_no_model && loop_end_is_embedded(end)) {
        loop_end_without_model(talk);
        return;
    }
    if (!finish_may_call(end, answer->message->refusal, &st)) {
        end_unusable(talk, &st, end->usage);
    } else if (!offer_complete(&talk->offer, answer->message, &st)) {
        if (end->usage)
            task_spend(talk->base.task, end->usage);
        task_fail(talk->base.task, &st);
    } else if (talk->last && answer->message->n_tool_calls) {
        fail(&st, DATA_LOSS, "the model calls tools where it may not any more; give it more turns, or another prompt");
        end_unusable(talk, &st, end->usage);
    } else if (answer->message->n_tool_calls > ROUND_CALLS_MAX) {
        fail(&st, DATA_LOSS, "a turn of the model calls %zu tools; at most %d are run", answer->message->n_tool_calls,
             ROUND_CALLS_MAX);
        end_unusable(talk, &st, end->usage);
    } else {
        loop_finish(talk, answer->message, end);
    }
}
