#include "remaining.h"

#include "graph/agents.h"
#include "prompt.h"
#include "when.h"
#include "json/json.h"

#include <string.h>

struct remaining_task {
    const struct json_condition *when;
    const char *prompt;
};

struct remaining {
    const char *prompt;
    size_t count;
    struct remaining_task list[];
};

static bool remaining_prepare_item(const struct node *node, struct arena *arena, const cJSON *item,
                                   struct remaining *remaining, struct status *st)
{
    struct status why = {0};
    struct remaining_task *task = &remaining->list[remaining->count];
    const cJSON *when = cJSON_GetObjectItemCaseSensitive(item, "when");
    const char *prompt = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "task"));
    if (!when || !prompt || cJSON_GetArraySize(item) != 2)
        return fail_field(st, "remaining", "[%zu] must be {\"when\": CONDITION, \"task\": PROMPT}", remaining->count);
    if (!agent_prompt(node->graph->agent, prompt, "en"))
        return fail_field(st, "remaining", "[%zu].task: there is no prompt '%.64s' with an English text",
                          remaining->count, prompt);
    task->when = when_compile(node, arena, when, &why);
    if (!task->when)
        return why.code == RESOURCE_EXHAUSTED
                   ? fail(st, why.code, "%s", why.text)
                   : fail_field(st, "remaining", "[%zu].when: %s", remaining->count, why.text);
    task->prompt = arena_strdup(arena, prompt);
    remaining->count++;
    return task->prompt || fail(st, RESOURCE_EXHAUSTED, "no memory for the remaining tasks");
}

const struct remaining *remaining_prepare(const struct node *node, size_t tasks_row, size_t prompt_row,
                                          struct arena *arena, struct status *st)
{
    const char *text = node_argument(node, tasks_row)->text, *prompt = node_argument(node, prompt_row)->text;
    cJSON *tasks = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    const cJSON *item;
    int count = cJSON_GetArraySize(tasks);
    struct remaining *remaining =
        arena_zalloc(arena, sizeof *remaining + (size_t)count * sizeof(struct remaining_task));
    bool good = remaining;
    if (!remaining)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the remaining tasks");
    else if (text && (!cJSON_IsArray(tasks) || count < 1 || count > REMAINING_MAX))
        good = fail_field(st, "remaining", "must be a list of 1 to %d tasks", REMAINING_MAX);
    else if (!text != !prompt)
        good = fail_field(st, text ? "remaining" : "remaining_prompt",
                          "\"remaining\" and \"remaining_prompt\" go together; add the other");
    if (good)
        remaining->prompt = prompt;
    cJSON_ArrayForEach(item, tasks) good = good && remaining_prepare_item(node, arena, item, remaining, st);
    cJSON_Delete(tasks);
    return good ? remaining : NULL;
}

static char *fill_prompt(const struct remaining *remaining, struct task *task, const cJSON *inputs, cJSON *values,
                         const char *language, struct status *st)
{
    struct buffer lines;
    char *text = NULL;
    buffer_init(&lines, PROMPT_MAX);
    for (size_t i = 0; i < remaining->count && st->code == OK; i++) {
        const struct remaining_task *one = &remaining->list[i];
        char *line = NULL;
        if (json_condition_holds(one->when, inputs))
            line = prompt_fill(task, one->prompt, values, language, st);
        if (line)
            buffer_printf(&lines, "%s- %s", lines.length ? "\n" : "", line);
    }
    if (lines.length && st->code == OK) {
        cJSON_DeleteItemFromObjectCaseSensitive(values, "tasks");
        cJSON_AddStringToObject(values, "tasks", buffer_text(&lines));
        text = prompt_fill(task, remaining->prompt, values, language, st);
    }
    buffer_fini(&lines);
    return text;
}

char *remaining_text(const struct remaining *remaining, struct task *task, const cJSON *inputs, size_t pick_row,
                     const char *language, struct status *st)
{
    char *text = NULL;
    cJSON *values = remaining->count ? cJSON_Duplicate(inputs, true) : NULL;
    if (values && prompt_values(values, task_node(task), pick_row, language, st))
        text = fill_prompt(remaining, task, inputs, values, language, st);
    cJSON_Delete(values);
    return text;
}
