/* Shows something to whoever watches the run: a text of the agent, or a field as it stands. It comes with the result of
 * the node, so it is shown once, when that is on disk. */
#include "prompt.h"

#define SHOWN_MAX ((size_t)65536) /* bytes, as RunNodeResponse.progress_json */

enum { PROGRESS_PROMPT, PROGRESS_OF, PROGRESS_PICK };

static const struct node_parameter parameters[] = {
    [PROGRESS_PROMPT] = {.name = "prompt",
                         .type = PARAMETER_PROMPT,
                         .help = "A text, one of the prompts: {field} stands for an input of the node. It is shown as "
                                 "{\"text\": …}."},
    [PROGRESS_OF] = {.name = "of", .type = PARAMETER_FIELD, .help = "A field that is shown as it stands, an input."},
    [PROGRESS_PICK] = PICK_ROW,
    {.name = NULL},
};
static const char *const outcomes[] = {"shown", NULL};

static bool check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, PROGRESS_OF)->field;
    if ((node_argument(node, PROGRESS_PROMPT)->text != NULL) == (of != NULL))
        return fail_field(st, "prompt", "or \"of\" says what is shown; give one of them");
    return (!of || input_check(node, PROGRESS_OF, of->type, of->list, st)) && pick_check(node, PROGRESS_PICK, st);
}

static bool write_text(struct task *task, struct buffer *shown, struct status *st)
{
    struct json_writer out;
    const char *text = prompt_say(task, PROGRESS_PROMPT, PROGRESS_PICK, st);
    if (!text)
        return false;
    json_writer_init(&out, shown);
    json_write_object(&out, NULL);
    json_write_string(&out, "text", text);
    json_write_end(&out);
    return true;
}

static bool write_field(struct task *task, struct buffer *shown, struct status *st)
{
    struct service_call run = {0};
    struct json_writer out;
    bool good = service_call_inputs(&run, task, st);
    const cJSON *value = good ? service_call_input(&run, PROGRESS_OF) : NULL;
    json_writer_init(&out, shown);
    if (value)
        json_write_tree(&out, NULL, value);
    else
        buffer_print(shown, "null");
    service_call_close(&run);
    return good;
}

/* What is too large to be shown is no reason to fail: the run does not rest on it. */
static void finish(struct task *task, struct buffer *shown)
{
    char *text = (char *)(uintptr_t)buffer_text(shown);
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Degradation unshown = RENGA__V1__DEGRADATION__INIT, *degradations[] = {&unshown};
    response.outcome = (char *)(uintptr_t)outcomes[0];
    if (shown->failed) {
        unshown.part = (char *)(uintptr_t)task_node(task)->name;
        unshown.kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
        unshown.reason = arena_printf(task_arena(task), "has more to show than %zu bytes; nothing is shown", SHOWN_MAX);
        response.degradations = degradations;
        response.n_degradations = unshown.reason != NULL;
    } else {
        response.progress_json = &text;
        response.n_progress_json = 1;
    }
    task_finish(task, &response);
}

static void start(struct task *task)
{
    struct status st = {0};
    struct buffer shown;
    bool text = node_argument(task_node(task), PROGRESS_PROMPT)->text != NULL;
    buffer_init(&shown, SHOWN_MAX);
    if (text ? write_text(task, &shown, &st) : write_field(task, &shown, &st))
        finish(task, &shown);
    else
        task_fail(task, &st);
    buffer_fini(&shown);
}

extern const struct node_kind progress_kind;
const struct node_kind progress_kind = {
    .name = "progress",
    .help = "Shows something to whoever watches.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .start = start,
};
