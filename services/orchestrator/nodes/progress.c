/* Shows a value to the watchers of the run: a text of the agent, a field as it stands, an object of several fields, or
 * a long text in pieces. It comes with the result of the node, so it is shown once, when the result is on disk. */
#include "progress.h"
#include "prompt.h"
#include "shape.h"

#include "base/text.h"

#include <string.h>

#define SHOWN_MAX    ((size_t)65536) /* bytes, as RunNodeResponse.progress_json */
#define PIECE_COMMON ((size_t)4096)  /* bytes of a piece of a text that is not very long */

enum { PROGRESS_PROMPT, PROGRESS_OF, PROGRESS_SHOW, PROGRESS_PIECES, PROGRESS_PICK };

static const struct node_parameter parameters[] = {
    [PROGRESS_PROMPT] =
        {"prompt", PARAMETER_PROMPT, OPTIONAL,
         "A text, one of the prompts: {field} stands for an input of the node. It is shown as {\"text\": …}."},
    [PROGRESS_OF] = {"of", READS_FIELD, OPTIONAL, "A field that is shown as it stands, an input."},
    [PROGRESS_SHOW] = {"show", PARAMETER_JSON, OPTIONAL,
                       "An object that is shown, each member with the path of its value in the inputs, {\"cycle\": "
                       "\"cycle\", \"queries\": \"plan.queries\"}."},
    [PROGRESS_PIECES] = {"pieces", PARAMETER_BOOLEAN, OPTIONAL,
                         "True: the field is a text, which is shown piece by piece, each as {\"text\": …}."},
    [PROGRESS_PICK] = PICK_ROW,
    {.name = NULL},
};
static const char *const outcomes[] = {"shown", NULL};

static bool check_show(const struct node *node, struct status *st)
{
    const char *text = node_argument(node, PROGRESS_SHOW)->text;
    cJSON *show = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    bool good = !text || (show && shape_check(node, "show", show, st));
    cJSON_Delete(show);
    return good;
}

static bool progress_check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, PROGRESS_OF)->field;
    bool prompt = node_argument(node, PROGRESS_PROMPT)->text, show = node_argument(node, PROGRESS_SHOW)->text;
    if (prompt + show + (of != NULL) != 1)
        return fail_field(st, "prompt", "or \"of\" or \"show\" says what is shown; give one of them");
    if (node_argument(node, PROGRESS_PIECES)->flag && (!of || of->list || of->type != FIELD_STRING))
        return fail_field(st, "pieces", "are of a text; name a string in \"of\"");
    return check_show(node, st) && pick_check(node, PROGRESS_PICK, st);
}

static bool progress_write_text(struct task *task, struct buffer *shown, struct status *st)
{
    struct json_writer out;
    const char *text = prompt_say(task, node_argument(task_node(task), PROGRESS_PROMPT)->text, PROGRESS_PICK, st);
    if (!text)
        return false;
    json_writer_init(&out, shown);
    json_write_object(&out, NULL);
    json_write_string(&out, "text", text);
    json_write_end(&out);
    return true;
}

static const cJSON *shown_value(const struct service_call *run, cJSON **made)
{
    const char *text = node_argument(task_node(run->task), PROGRESS_SHOW)->text;
    struct status ignored = {0};
    if (!text)
        return service_call_input(run, PROGRESS_OF);
    cJSON *shape = json_parse(text, strlen(text), NULL, &ignored);
    *made = shape_make(run->inputs, shape);
    cJSON_Delete(shape);
    return *made;
}

static bool progress_write_value(struct task *task, struct buffer *shown, struct status *st)
{
    struct service_call run = {0};
    struct json_writer out;
    cJSON *made = NULL;
    bool good = service_call_inputs(&run, task, st);
    const cJSON *value = good ? shown_value(&run, &made) : NULL;
    json_writer_init(&out, shown);
    if (value)
        json_write_tree(&out, NULL, value);
    else
        buffer_print(shown, "null");
    cJSON_Delete(made);
    service_call_close(&run);
    return good;
}

/* A value that is too large to be shown does not fail the node: the run does not rest on it. */
static void progress_finish(struct task *task, char *const *shown, size_t count)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Degradation unshown = RENGA__V1__DEGRADATION__INIT, *degradations[] = {&unshown};
    response.outcome = (char *)(uintptr_t)outcomes[0];
    if (!shown) {
        unshown.part = (char *)(uintptr_t)task_node(task)->name;
        unshown.kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
        unshown.reason = arena_printf(task_arena(task), "has more to show than %zu bytes; nothing is shown", SHOWN_MAX);
        response.degradations = degradations;
        response.n_degradations = unshown.reason != NULL;
    } else {
        response.progress_json = (char **)(uintptr_t)shown;
        response.n_progress_json = count;
    }
    task_finish(task, &response);
}

/* ---- a text in pieces -------------------------------------------------------------------------------------------- */

/* Bytes of the next piece: whole characters, up to the end of a line if that is near. It is long enough that the rest
 * fits into the pieces that are left. */
static size_t piece_length(const char *text, size_t length, size_t pieces_left)
{
    size_t least = (length + pieces_left - 1) / pieces_left + 4; /* a character may be cut off */
    size_t room = least > PIECE_COMMON ? least : PIECE_COMMON;
    if (length <= room)
        return length;
    size_t cut = text_cut(text, length, room);
    const char *line = memrchr(text, '\n', cut);
    return line && (size_t)(line - text) + 1 >= least ? (size_t)(line - text) + 1 : cut;
}

static char *piece_json(struct arena *arena, const char *text, size_t length)
{
    struct buffer shown;
    struct json_writer out;
    buffer_init(&shown, SHOWN_MAX);
    json_writer_init(&out, &shown);
    json_write_object(&out, NULL);
    json_write_text(&out, "text", text, length);
    json_write_end(&out);
    char *copy = shown.failed ? NULL : arena_strdup(arena, buffer_text(&shown));
    buffer_fini(&shown);
    return copy;
}

bool progress_pieces(struct arena *arena, const char *text, char *pieces[PROGRESS_PIECES_MAX], size_t *count)
{
    *count = 0;
    for (size_t length; *text && *count < PROGRESS_PIECES_MAX; text += length) {
        length = piece_length(text, strlen(text), PROGRESS_PIECES_MAX - *count);
        pieces[*count] = piece_json(arena, text, length);
        if (!pieces[(*count)++])
            return false;
    }
    return true;
}

static void show_pieces(struct task *task)
{
    struct status st = {0};
    struct service_call run = {0};
    char *pieces[PROGRESS_PIECES_MAX];
    size_t count;
    bool good = service_call_inputs(&run, task, &st);
    bool fits = progress_pieces(task_arena(task), good ? service_call_text(&run, PROGRESS_OF) : "", pieces, &count);
    service_call_close(&run);
    if (good)
        progress_finish(task, fits ? pieces : NULL, count);
    else
        task_fail(task, &st);
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static void progress_start(struct task *task)
{
    struct status st = {0};
    struct buffer shown;
    if (node_argument(task_node(task), PROGRESS_PIECES)->flag) {
        show_pieces(task);
        return;
    }
    bool text = node_argument(task_node(task), PROGRESS_PROMPT)->text != NULL;
    buffer_init(&shown, SHOWN_MAX);
    bool good = text ? progress_write_text(task, &shown, &st) : progress_write_value(task, &shown, &st);
    char *only = (char *)(uintptr_t)buffer_text(&shown);
    if (good)
        progress_finish(task, shown.failed ? NULL : &only, 1);
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
    .names_inputs = true,
    .check = progress_check,
    .start = progress_start,
};
