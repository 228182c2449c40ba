/* Writes values that stand in the document, and values that are made of the node's inputs. */
#include "input_job.h"
#include "shape.h"

#include "json/json.h"
#include "json/writer.h"

#include <string.h>

enum { SET_VALUES, SET_COPY, SET_COUNT, SET_OVERWRITE };

static const struct node_parameter parameters[] = {
    [SET_VALUES] = {"values", PARAMETER_JSON, OPTIONAL, "What is written: an object of fields with their values."},
    [SET_COPY] = {"copy", PARAMETER_JSON, OPTIONAL,
                  "An object of fields, each with the path of its value in the inputs, \"plan.queries\" or "
                  "\"outcomes[].note\", or with an object of paths. A value that is not there is not written."},
    [SET_COUNT] = {"count", PARAMETER_JSON, OPTIONAL,
                   "An object of fields, each with the path of a list: how many items it has."},
    [SET_OVERWRITE] = {"overwrite", PARAMETER_BOOLEAN, OPTIONAL,
                       "True: the values stand in place of what was there, past the reducers of the fields."},
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

static bool set_check(const struct node *node, struct status *st)
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

static void set_add_counts(const struct task *task, const cJSON *inputs, cJSON *values, struct status *st)
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

/* NULL with `st` filled. `inputs` is NULL if no value is made of them. */
static cJSON *all_values(const struct task *task, const cJSON *inputs, struct status *st)
{
    cJSON *values =
        node_argument(task_node(task), SET_VALUES)->text ? row_tree(task, SET_VALUES, st) : cJSON_CreateObject();
    if (values && inputs) {
        add_copies(task, inputs, values, st);
        set_add_counts(task, inputs, values, st);
    }
    return values;
}

static bool list_field(struct task *task, Renga__V1__RunNodeResponse *response, const char *name)
{
    char *copy = arena_strdup(task_arena(task), name);
    if (copy)
        response->overwrite_fields[response->n_overwrite_fields++] = copy;
    return copy;
}

static bool list_fields(struct task *task, const cJSON *values, Renga__V1__RunNodeResponse *response, struct status *st)
{
    const cJSON *value;
    response->overwrite_fields = arena_alloc(task_arena(task), (size_t)cJSON_GetArraySize(values) * sizeof(char *));
    bool good = response->overwrite_fields;
    cJSON_ArrayForEach(value, values)
    {
        good = good && list_field(task, response, value->string);
    }
    return good || fail(st, RESOURCE_EXHAUSTED, "the values take more memory than an attempt may have");
}

static bool set_write_all(struct task *task, const cJSON *inputs, struct update *update, struct status *st)
{
    const cJSON *value;
    bool overwrite = node_argument(task_node(task), SET_OVERWRITE)->flag;
    cJSON *values = all_values(task, inputs, st);
    cJSON_ArrayForEach(value, values)
    {
        json_write_tree(&update->out, value->string, value);
    }
    bool good = values && (!overwrite || list_fields(task, values, &update->response, st));
    cJSON_Delete(values);
    return good;
}

static bool set_run(struct input_job *job, struct status *st)
{
    return set_write_all(job->base.task, job->base.inputs, &job->update, st);
}

static const char *set_finish(struct input_job *job, struct update *update)
{
    (void)job;
    (void)update;
    return outcomes[0];
}

/* Constants need no inputs, which may have some MiB. */
static void set_start(struct task *task)
{
    const struct node *node = task_node(task);
    struct status st = {0};
    struct update update;
    if (node_argument(node, SET_COPY)->text || node_argument(node, SET_COUNT)->text) {
        input_job_start_light(task_data(task), task, set_run, set_finish);
        return;
    }
    update_begin(&update);
    if (set_write_all(task, NULL, &update, &st)) {
        update_finish(&update, task, outcomes[0]);
        return;
    }
    buffer_fini(&update.text);
    task_fail(task, &st);
}

extern const struct node_kind set_kind;
const struct node_kind set_kind = {
    .name = "set",
    .help = "Writes values that stand in the document, or that are made of the inputs.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = set_check,
    .size = sizeof(struct input_job),
    .start = set_start,
    .cancel = input_job_cancel,
    .is_pure = true,
};
