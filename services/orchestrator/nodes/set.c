/* Writes values that stand in the document. */
#include "node_kind.h"

#include "base/json.h"

#include <string.h>

enum { SET_VALUES };

static const struct node_parameter parameters[] = {
    [SET_VALUES] = {.name = "values",
                    .type = PARAMETER_JSON,
                    .required = true,
                    .help = "What is written: an object of fields with their values."},
    {.name = NULL},
};
static const char *const outcomes[] = {"done", NULL};

static bool check_value(const struct graph *graph, const cJSON *value, struct status *st)
{
    struct status why = {0};
    const struct field *field = graph_field_wanted(graph, value->string, &why);
    if (!field)
        return fail_field(st, "values", "%s", why.text);
    return field_fits(field, value, &why) || fail_field(st, "values", "'%s' %s", field->name, why.text);
}

static bool check(const struct node *node, struct status *st)
{
    const char *text = node_argument(node, SET_VALUES)->text;
    cJSON *values = json_parse(text, strlen(text), NULL, st), *value;
    if (!values)
        return false;
    bool good = cJSON_IsObject(values) || fail_field(st, "values", "must be an object, {\"FIELD\": value, …}");
    for (value = good ? values->child : NULL; good && value; value = value->next)
        good = check_value(node->graph, value, st);
    cJSON_Delete(values);
    return good;
}

static void start(struct task *task)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.update_json = (char *)(uintptr_t)node_argument(task_node(task), SET_VALUES)->text;
    task_finish(task, &response);
}

extern const struct node_kind set_kind;
const struct node_kind set_kind = {
    .name = "set",
    .help = "Writes values that stand in the document.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .start = start,
    .is_pure = true,
};
