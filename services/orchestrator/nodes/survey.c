/* Tells whether all, some or no items of a list have a member that is true, and which ones have not. */
#include "service_call.h"

#include "json/json.h"

#include <string.h>

enum { SURVEY_OF, SURVEY_FLAG, SURVEY_LACKING, SURVEY_NAME };

static const struct node_parameter parameters[] = {
    [SURVEY_OF] = {.name = "of", .type = PARAMETER_FIELD, .required = true, .help = "The list of objects; an input."},
    [SURVEY_FLAG] = {.name = "flag", .type = PARAMETER_TEXT, .required = true, .help = "The member that counts."},
    [SURVEY_LACKING] = {.name = "lacking",
                        .type = PARAMETER_FIELD,
                        .help = "A string[] that gets the names of the items without the flag."},
    [SURVEY_NAME] = {.name = "name",
                     .type = PARAMETER_TEXT,
                     .help = "With \"lacking\": the member that names an item."},
    {.name = NULL},
};
static const char *const outcomes[] = {"all", "some", "none", NULL};

static bool survey_check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, SURVEY_OF)->field;
    if (!node_argument(node, SURVEY_LACKING)->field != !node_argument(node, SURVEY_NAME)->text)
        return fail_field(st, "lacking", "and \"name\" go together; add the other");
    if (!of->list)
        return fail_field(st, "of", "'%s' is %s; it must be a list of objects", of->name,
                          field_type_words(of->type, false));
    return output_check(node, SURVEY_LACKING, FIELD_STRING, true, st);
}

static bool survey_has_flag(const struct node *node, const cJSON *item)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, node_argument(node, SURVEY_FLAG)->text));
}

static void write_lacking(const struct task *task, const cJSON *list, struct json_writer *out)
{
    const struct node *node = task_node(task);
    const char *name = node_argument(node, SURVEY_NAME)->text, *text;
    const cJSON *item;
    if (!name)
        return;
    json_write_array(out, update_field(task, SURVEY_LACKING));
    cJSON_ArrayForEach(item, list)
    {
        text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
        if (text && !survey_has_flag(node, item))
            json_write_string(out, NULL, text);
    }
    json_write_end(out);
}

/* The outcome of an empty list is `none`. */
static void survey_start(struct task *task)
{
    const struct node *node = task_node(task);
    const char *state = task_request(task)->state_json;
    struct status st = {0};
    struct update update;
    cJSON *inputs = json_parse(state, strlen(state), NULL, &st);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(inputs, node_argument(node, SURVEY_OF)->field->name), *item;
    int count = 0, good = 0;
    if (!inputs) {
        task_fail(task, &st);
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        count++;
        good += survey_has_flag(node, item);
    }
    update_begin(&update);
    write_lacking(task, list, &update.out);
    cJSON_Delete(inputs);
    update_finish(&update, task, outcomes[!good ? 2 : good < count ? 1 : 0]);
}

extern const struct node_kind survey_kind;
const struct node_kind survey_kind = {
    .name = "survey",
    .help = "Looks whether all, some or none of a list have a member that is true.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = survey_check,
    .start = survey_start,
};
