/* Writes values that stand in the document, and values that are made of the node's inputs. */
#include "node_kind.h"
#include "shape.h"

#include "base/json.h"
#include "base/json_writer.h"

#include <string.h>

#define COPIED_MAX ((size_t)3 << 20) /* bytes, as RunNodeResponse.update_json */

enum { SET_VALUES, SET_COPY, SET_COUNT, SET_OVERWRITE };

static const struct node_parameter parameters[] = {
    [SET_VALUES] = {.name = "values",
                    .type = PARAMETER_JSON,
                    .help = "What is written: an object of fields with their values."},
    [SET_COPY] = {.name = "copy",
                  .type = PARAMETER_JSON,
                  .help = "An object of fields, each with the path of its value in the inputs, \"plan.queries\" or "
                          "\"outcomes[].note\", or with an object of paths. A value that is not there is not written."},
    [SET_COUNT] = {.name = "count",
                   .type = PARAMETER_JSON,
                   .help = "An object of fields, each with the path of a list: how many items it has."},
    [SET_OVERWRITE] = {.name = "overwrite",
                       .type = PARAMETER_BOOLEAN,
                       .help = "True: the values stand in place of what was there, past the reducers of the fields."},
    {.name = NULL},
};
static const char *const outcomes[] = {"done", NULL};

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool check_value(const struct node *node, size_t row, const cJSON *value, struct status *st)
{
    struct status why = {0};
    const char *parameter = parameters[row].name;
    const struct field *field = graph_field_wanted(node->graph, value->string, &why);
    if (!field)
        return fail_field(st, parameter, "%s", why.text);
    if (row == SET_VALUES)
        return field_fits(field, value, &why) || fail_field(st, parameter, "'%s' %s", field->name, why.text);
    if (row == SET_COUNT && (field->list || (field->type != FIELD_INTEGER && field->type != FIELD_ANY)))
        return fail_field(st, parameter, "'%s' is %s; a count is an integer", field->name,
                          field_type_words(field->type, field->list));
    if (row == SET_COUNT && !cJSON_IsString(value))
        return fail_field(st, parameter, "'%s' must have the path of a list", field->name);
    return shape_check(node, parameter, value, st);
}

static bool check_row(const struct node *node, size_t row, struct status *st)
{
    const char *text = node_argument(node, row)->text;
    cJSON *values = text ? json_parse(text, strlen(text), NULL, st) : NULL, *value;
    if (!text)
        return true;
    bool good = cJSON_IsObject(values) || fail_field(st, parameters[row].name, "must be an object, {\"FIELD\": …}");
    for (value = good ? values->child : NULL; good && value; value = value->next)
        good = check_value(node, row, value, st);
    cJSON_Delete(values);
    return good;
}

static bool check(const struct node *node, struct status *st)
{
    if (!node_argument(node, SET_VALUES)->text && !node_argument(node, SET_COPY)->text &&
        !node_argument(node, SET_COUNT)->text)
        return fail_field(st, "values", "is not there, and neither are \"copy\" and \"count\"; nothing would be set");
    return check_row(node, SET_VALUES, st) && check_row(node, SET_COPY, st) && check_row(node, SET_COUNT, st);
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

static cJSON *row_tree(const struct task *task, size_t row, struct status *st)
{
    const char *text = node_argument(task_node(task), row)->text;
    return text ? json_parse(text, strlen(text), NULL, st) : NULL;
}

static void add_copies(const struct task *task, const cJSON *inputs, cJSON *values, struct status *st)
{
    cJSON *copies = row_tree(task, SET_COPY, st);
    const cJSON *copy;
    cJSON_ArrayForEach(copy, copies)
    {
        cJSON *value = shape_make(inputs, copy);
        if (value)
            cJSON_AddItemToObject(values, copy->string, value);
    }
    cJSON_Delete(copies);
}

static void add_counts(const struct task *task, const cJSON *inputs, cJSON *values, struct status *st)
{
    cJSON *counts = row_tree(task, SET_COUNT, st);
    const cJSON *count;
    cJSON_ArrayForEach(count, counts)
    {
        cJSON *list = shape_make(inputs, count);
        cJSON_AddNumberToObject(values, count->string, cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0);
        cJSON_Delete(list);
    }
    cJSON_Delete(counts);
}

/* NULL with `st` filled. */
static cJSON *all_values(struct task *task, struct status *st)
{
    const char *state = task_request(task)->state_json;
    cJSON *inputs = json_parse(state, strlen(state), NULL, st), *values = NULL;
    if (inputs)
        values =
            node_argument(task_node(task), SET_VALUES)->text ? row_tree(task, SET_VALUES, st) : cJSON_CreateObject();
    if (values) {
        add_copies(task, inputs, values, st);
        add_counts(task, inputs, values, st);
    }
    cJSON_Delete(inputs);
    return values;
}

/* The names stay in `values`, which the caller frees. */
static bool list_fields(struct task *task, const cJSON *values, Renga__V1__RunNodeResponse *response, struct status *st)
{
    const cJSON *value;
    response->overwrite_fields = arena_alloc(task_arena(task), (size_t)cJSON_GetArraySize(values) * sizeof(char *));
    if (!response->overwrite_fields)
        return fail(st, RESOURCE_EXHAUSTED, "the values take more memory than an attempt may have");
    cJSON_ArrayForEach(value, values)
    {
        response->overwrite_fields[response->n_overwrite_fields++] = value->string;
    }
    return true;
}

static bool write_all(struct task *task, const cJSON *values, struct buffer *text, struct status *st)
{
    struct json_writer out;
    json_writer_init(&out, text);
    json_write_tree(&out, NULL, values);
    return json_writer_done(&out) ||
           fail(st, RESOURCE_EXHAUSTED, "what node '%s' has to write is longer than %zu bytes", task_node(task)->name,
                COPIED_MAX);
}

static void start(struct task *task)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    bool overwrite = node_argument(task_node(task), SET_OVERWRITE)->flag;
    struct status st = {0};
    struct buffer text;
    cJSON *values = all_values(task, &st);
    buffer_init(&text, COPIED_MAX);
    bool good =
        values && write_all(task, values, &text, &st) && (!overwrite || list_fields(task, values, &response, &st));
    response.update_json = (char *)(uintptr_t)buffer_text(&text);
    if (good)
        task_finish(task, &response);
    else
        task_fail(task, &st);
    buffer_fini(&text);
    cJSON_Delete(values);
}

extern const struct node_kind set_kind;
const struct node_kind set_kind = {
    .name = "set",
    .help = "Writes values that stand in the document, or that are made of the inputs.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .start = start,
    .is_pure = true,
};
