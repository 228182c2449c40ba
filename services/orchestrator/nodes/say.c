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

static void start(struct task *task)
{
    struct status st = {0};
    struct update update;
    const char *text = prompt_say(task, SAY_PROMPT, SAY_PICK, &st);
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
