/* Selects objects of a list whose text is too short to be of use, for example results of a search with a single line of
 * a page. So a document may look for more. */
#include "service_call.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

#define THIN_MOST 100

enum { THIN_OF, THIN_TEXT, THIN_BELOW, THIN_ADDRESS, THIN_MOST_ROW, THIN_INTO };

static const struct node_parameter parameters[] = {
    [THIN_OF] = {"of", READS_OBJECTS, REQUIRED, "The list, an object[]."},
    [THIN_TEXT] = {"text", PARAMETER_TEXT, REQUIRED,
                   "The member that is looked at, a string; one that is not there is empty."},
    [THIN_BELOW] = {"below", PARAMETER_INTEGER, REQUIRED, "Texts with fewer characters are thin."},
    [THIN_ADDRESS] = {"address", PARAMETER_TEXT, OPTIONAL,
                      "A member: only objects are selected in which it is an address of the web."},
    [THIN_MOST_ROW] = {"most", PARAMETER_INTEGER, OPTIONAL, "Most that are selected, 1 to 100; 5 without it."},
    [THIN_INTO] = {"into", WRITES_OBJECTS, REQUIRED, "They, an object[]."},
    {.name = NULL},
};
static const char *const outcomes[] = {"some", "none", NULL};

#define THIN_MOST_DEFAULT 5

static bool thin_check(const struct node *node, struct status *st)
{
    if (node_argument(node, THIN_MOST_ROW)->number > THIN_MOST)
        return fail_field(st, "most", "must be 1 to %d", THIN_MOST);
    return true;
}

static const char *thin_member(const cJSON *item, const char *name)
{
    const char *text = name ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name)) : NULL;
    return text ? text : "";
}

static bool thin_selects(const struct node *node, const cJSON *item)
{
    const char *address = node_argument(node, THIN_ADDRESS)->text;
    const char *text = thin_member(item, node_argument(node, THIN_TEXT)->text), *at = thin_member(item, address);
    size_t length = strlen(text), below = (size_t)node_argument(node, THIN_BELOW)->number;
    bool web = strncasecmp(at, "http://", 7) == 0 || strncasecmp(at, "https://", 8) == 0;
    return (web || !address) && (!length || (below && text_cut_characters(text, length, below - 1) == length));
}

static void thin_start(struct task *task)
{
    struct service_call run = {0};
    struct status st = {0};
    struct update update;
    int64_t most = node_argument(task_node(task), THIN_MOST_ROW)->number, count = 0;
    const cJSON *item;
    if (!service_call_inputs(&run, task, &st)) {
        service_call_close(&run);
        task_fail(task, &st);
        return;
    }
    update_begin(&update);
    json_write_array(&update.out, update_field(task, THIN_INTO));
    cJSON_ArrayForEach(item, service_call_input(&run, THIN_OF))
    {
        if (count == (most ? most : THIN_MOST_DEFAULT) || !thin_selects(task_node(task), item))
            continue;
        json_write_tree(&update.out, NULL, item);
        count++;
    }
    json_write_end(&update.out);
    service_call_close(&run);
    update_finish(&update, task, outcomes[count ? 0 : 1]);
}

extern const struct node_kind thin_kind;
const struct node_kind thin_kind = {
    .name = "thin",
    .help = "Selects objects whose text is too short.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = thin_check,
    .start = thin_start,
};
