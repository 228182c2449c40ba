/* Converts the output of the run to AgentResult. */
#include "helpdesk.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <string.h>

#define RESULT_BYTES_MAX ((size_t)4 << 20) /* as AgentResult, less AROUND_BYTES */
#define AROUND_BYTES     ((size_t)64 << 10)
#define ANSWER_MAX       ((size_t)262144) /* bytes, as AgentResult.answer */
#define CITATIONS_MAX    1000
#define CITED_MAX        256 /* as Subtask.citations */
#define TRIES_MAX        16  /* as Subtask.tool_results */

static void helpdesk_result_least(size_t *count, size_t most)
{
    if (*count > most)
        *count = most;
}

static Renga__V1__Subtask *read_subtask(struct helpdesk_call *call, const cJSON *item, size_t number, struct status *st)
{
    const struct subtask_note *note = &call->subtasks[number];
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "subtask"));
    struct arena *arena = rpc_call_arena(call->run.call);
    Renga__V1__Subtask *subtask =
        (Renga__V1__Subtask *)message_read_json(&renga__v1__subtask__descriptor, item, arena, st);
    if (!subtask)
        return NULL;
    subtask->task_name = arena_strdup(arena, name ? name : "");
    if (!cJSON_HasObjectItem(item, "found")) /* of a graph in the place of ours */
        subtask->found = subtask->is_completed;
    subtask->maybe_found_case = RENGA__V1__SUBTASK__MAYBE_FOUND_FOUND;
    bool failed = note->status_code && !subtask->found;
    subtask->status_code = failed ? note->status_code : 0;
    subtask->message = (char *)(uintptr_t)(failed && note->message ? note->message : "");
    subtask->usage = (Renga__V1__Usage *)(uintptr_t)&note->usage;
    helpdesk_result_least(&subtask->n_tool_results, TRIES_MAX);
    helpdesk_result_least(&subtask->n_reflection_results, TRIES_MAX);
    helpdesk_result_least(&subtask->n_citations, CITED_MAX);
    if (!subtask->task_name)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    return subtask->task_name ? subtask : NULL;
}

static bool read_subtasks(struct helpdesk_call *call, const cJSON *list, Renga__V1__AgentResult *result,
                          struct status *st)
{
    const cJSON *item;
    result->subtasks = arena_alloc(rpc_call_arena(call->run.call), HELPDESK_SUBTASKS_MAX * sizeof(*result->subtasks));
    if (!result->subtasks)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    cJSON_ArrayForEach(item, list)
    {
        if (result->n_subtasks == HELPDESK_SUBTASKS_MAX)
            return true;
        result->subtasks[result->n_subtasks] = read_subtask(call, item, result->n_subtasks, st);
        if (!result->subtasks[result->n_subtasks++])
            return false;
    }
    return true;
}

static bool read_plan(const cJSON *list, Renga__V1__AgentResult *result, struct arena *arena, struct status *st)
{
    const cJSON *item;
    Renga__V1__SubtaskPlan *plan = result->plan = arena_alloc(arena, sizeof *plan);
    if (!plan)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    renga__v1__subtask_plan__init(plan);
    plan->subtasks = arena_alloc(arena, HELPDESK_SUBTASKS_MAX * sizeof(*plan->subtasks));
    cJSON_ArrayForEach(item, list)
    {
        char *text = cJSON_IsString(item) && plan->subtasks ? arena_strdup(arena, item->valuestring) : NULL;
        if (text && plan->n_subtasks < HELPDESK_SUBTASKS_MAX)
            plan->subtasks[plan->n_subtasks++] = text;
    }
    return plan->subtasks || fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
}

static bool read_citations(const cJSON *list, Renga__V1__AgentResult *result, struct arena *arena, struct status *st)
{
    const cJSON *item;
    result->citations = arena_alloc(arena, (size_t)cJSON_GetArraySize(list) * sizeof(*result->citations));
    if (!result->citations)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    cJSON_ArrayForEach(item, list)
    {
        if (result->n_citations == CITATIONS_MAX)
            return true;
        ProtobufCMessage *citation = message_read_json(&renga__v1__citation__descriptor, item, arena, st);
        result->citations[result->n_citations++] = (Renga__V1__Citation *)citation;
        if (!citation)
            return false;
    }
    return true;
}

/* Removes the output of the tools, from the last subtask to the first, until the result fits. */
static void cut_tools(Renga__V1__AgentResult *result)
{
    for (size_t i = result->n_subtasks; i-- > 0;) {
        const Renga__V1__Subtask *subtask = result->subtasks[i];
        for (size_t try = 0; try < subtask->n_tool_results; try++)
            for (size_t tool = 0; tool < subtask->tool_results[try]->n_results; tool++) {
                Renga__V1__SubtaskToolResult *one = subtask->tool_results[try]->results[tool];
                one->truncated = one->truncated || one->n_results || *one->text;
                one->n_results = 0;
                one->text = (char *)(uintptr_t) "";
            }
        if (renga__v1__agent_result__get_packed_size(result) <= RESULT_BYTES_MAX - AROUND_BYTES)
            return;
    }
}

/* The answer, followed by the parts without an answer. */
static bool helpdesk_result_read_answer(const cJSON *output, Renga__V1__AgentResult *result, struct arena *arena)
{
    const char *answer = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(output, "last_answer"));
    const char *missing = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(output, "missing_text"));
    bool cited = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(output, "citations")) > 0;
    bool both = cited && answer && *answer && missing && *missing;
    char *text = arena_printf(arena, "%s%s%s", answer ? answer : "", both ? "\n\n" : "", both ? missing : "");
    if (text)
        text[text_cut(text, strlen(text), ANSWER_MAX)] = '\0';
    result->answer = text;
    return text;
}

static bool read_output(struct helpdesk_call *call, const cJSON *output, Renga__V1__AgentResult *result,
                        struct status *st)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    if (!helpdesk_result_read_answer(output, result, arena))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    return read_plan(cJSON_GetObjectItemCaseSensitive(output, "plan"), result, arena, st) &&
           read_subtasks(call, cJSON_GetObjectItemCaseSensitive(output, "subtask_results"), result, st) &&
           read_citations(cJSON_GetObjectItemCaseSensitive(output, "citations"), result, arena, st);
}

Renga__V1__AgentResult *helpdesk_result(struct helpdesk_call *call, const Renga__V1__Run *run, struct status *st)
{
    struct status why = {0};
    struct arena *arena = rpc_call_arena(call->run.call);
    Renga__V1__AgentResult *result = arena_alloc(arena, sizeof *result);
    cJSON *output = json_parse(run->output_json, strlen(run->output_json), NULL, &why);
    if (result)
        renga__v1__agent_result__init(result);
    bool good = result && output && read_output(call, output, result, &why);
    cJSON_Delete(output);
    if (!good) {
        fail(st, why.code == RESOURCE_EXHAUSTED || !result ? RESOURCE_EXHAUSTED : FAILED_PRECONDITION,
             "the run '%s' has ended, but its output is not that of a help desk: %s", run->run_id,
             run->output_omitted ? "it is longer than 3145728 bytes" : why.text);
        return NULL;
    }
    if (!*result->answer && !result->n_citations && !helpdesk_partial(call, result)) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
        return NULL;
    }
    result->question = call->request->question;
    result->outcome = agent_outcome(arena, run);
    if (!helpdesk_tell(call, result)) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
        return NULL;
    }
    if (renga__v1__agent_result__get_packed_size(result) > RESULT_BYTES_MAX - AROUND_BYTES)
        cut_tools(result);
    return result;
}
