/* Writes a text in Markdown with a section for each object of a list: a heading and the text below it. No model is
 * asked. */
#include "service_call.h"

#include <string.h>

#define SECTIONS_MAX ((size_t)1 << 20) /* bytes of the text */
#define LEVEL_COMMON 2
#define LEVEL_MAX    6

enum { SECTIONS_OF, SECTIONS_HEADING, SECTIONS_TEXT, SECTIONS_LEVEL, SECTIONS_INTO };

static const struct node_parameter parameters[] = {
    [SECTIONS_OF] = {"of", READS_OBJECTS, REQUIRED, "The list, an object[]."},
    [SECTIONS_HEADING] = {"heading", PARAMETER_TEXT, REQUIRED,
                          "The member of each object that is the heading of its section."},
    [SECTIONS_TEXT] = {"text", PARAMETER_TEXT, REQUIRED,
                       "The member that stands below it, Markdown. An object without it has no section."},
    [SECTIONS_LEVEL] = {"level", PARAMETER_INTEGER, OPTIONAL, "The level of the headings, 1 to 6; 2 without it."},
    [SECTIONS_INTO] = {"into", WRITES_STRING, REQUIRED, "The text, a string."},
    {.name = NULL},
};
static const char *const outcomes[] = {"written", "nothing", NULL};

static bool sections_check(const struct node *node, struct status *st)
{
    if (node_argument(node, SECTIONS_LEVEL)->number > LEVEL_MAX)
        return fail_field(st, "level", "must be 1 to %d", LEVEL_MAX);
    return true;
}

static const char *sections_member(const cJSON *item, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
    return text && *text ? text : NULL;
}

/* A heading is a single line. */
static void sections_print_line(struct buffer *out, const char *text)
{
    for (; *text; text++)
        buffer_put(out, *text == '\n' || *text == '\r' ? ' ' : *text);
}

static void sections_write_one(const struct node *node, const cJSON *item, struct buffer *out)
{
    static const char marks[] = "######";
    int64_t level = node_argument(node, SECTIONS_LEVEL)->number;
    const char *heading = sections_member(item, node_argument(node, SECTIONS_HEADING)->text);
    const char *text = sections_member(item, node_argument(node, SECTIONS_TEXT)->text);
    if (!text)
        return;
    buffer_print(out, out->length ? "\n\n" : "");
    if (heading) {
        buffer_printf(out, "%.*s ", (int)(level ? level : LEVEL_COMMON), marks);
        sections_print_line(out, heading);
        buffer_print(out, "\n\n");
    }
    buffer_print(out, text);
}

static void sections_start(struct task *task)
{
    struct service_call run = {0};
    struct status st = {0};
    struct update update;
    struct buffer text;
    const cJSON *item;
    if (!service_call_inputs(&run, task, &st)) {
        service_call_close(&run);
        task_fail(task, &st);
        return;
    }
    buffer_init(&text, SECTIONS_MAX);
    cJSON_ArrayForEach(item, service_call_input(&run, SECTIONS_OF)) sections_write_one(task_node(task), item, &text);
    service_call_close(&run);
    update_begin(&update);
    bool any = text.length > 0;
    if (text.failed)
        update.text.failed = true;
    else if (any)
        json_write_string(&update.out, update_field(task, SECTIONS_INTO), buffer_text(&text));
    buffer_fini(&text);
    update_finish(&update, task, outcomes[any ? 0 : 1]);
}

extern const struct node_kind sections_kind;
const struct node_kind sections_kind = {
    .name = "sections",
    .help = "Writes a section for each object of a list; no model is asked.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = sections_check,
    .start = sections_start,
};
