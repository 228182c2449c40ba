/* Writes a text of the agent, filled with the node's inputs, in the language of the run: no model is asked. */
#include "prompt.h"

enum { SAY_PROMPT, SAY_INTO, SAY_PICK };

static const struct node_parameter parameters[] = {
    [SAY_PROMPT] = {.name = "prompt",
                    .type = PARAMETER_PROMPT,
                    .required = true,
                    .help = "The text, one of the prompts: {field} stands for an input of the node."},
    [SAY_INTO] = {.name = "into", .type = PARAMETER_FIELD, .required = true, .help = "Where it goes, a string."},
    [SAY_PICK] = PICK_ROW,
    {.name = NULL},
};
static const char *const outcomes[] = {"said", NULL};

static bool check(const struct node *node, struct status *st)
{
    return output_check(node, SAY_INTO, FIELD_STRING, false, st) && pick_check(node, SAY_PICK, st);
}

/* A list of strings becomes lines, as people read it. */
static void write_lists(cJSON *inputs)
{
    for (cJSON *input = inputs->child, *next; input; input = next) {
        struct buffer lines;
        const cJSON *line;
        next = input->next;
        if (!cJSON_IsArray(input) || !cJSON_IsString(input->child))
            continue;
        buffer_init(&lines, PROMPT_MAX);
        cJSON_ArrayForEach(line, input)
        {
            buffer_printf(&lines, "%s- %s", lines.length ? "\n" : "", cJSON_IsString(line) ? line->valuestring : "");
        }
        cJSON_ReplaceItemInObjectCaseSensitive(inputs, input->string, cJSON_CreateString(buffer_text(&lines)));
        buffer_fini(&lines);
    }
}

static char *fill(struct task *task, struct status *st)
{
    struct service_call run = {0};
    const struct node *node = task_node(task);
    char *text = NULL;
    if (service_call_inputs(&run, task, st) && prompt_values(run.inputs, node, SAY_PICK, run.language, st)) {
        write_lists(run.inputs);
        text = prompt_fill(task, node_argument(node, SAY_PROMPT)->text, run.inputs, run.language, st);
    }
    service_call_close(&run);
    return text;
}

static void start(struct task *task)
{
    struct status st = {0};
    struct update update;
    const char *text = fill(task, &st);
    if (!text) {
        task_fail(task, &st);
        return;
    }
    update_begin(&update);
    json_write_string(&update.out, update_field(task, SAY_INTO), text);
    update_finish(&update, task, outcomes[0]);
}

extern const struct node_kind say_kind;
const struct node_kind say_kind = {
    .name = "say",
    .help = "Writes a text of the agent; no model is asked.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .start = start,
};
