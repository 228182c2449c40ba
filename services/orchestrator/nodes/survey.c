/* Tells whether all, some or no items of a list have a member that is true, and which ones have not. */
#include "service_call.h"

#include "words/asked.h"
#include "json/json.h"

#include <string.h>

enum { SURVEY_OF, SURVEY_FLAG, SURVEY_LACKING, SURVEY_NAME, SURVEY_QUESTION };

static const struct node_parameter parameters[] = {
    [SURVEY_OF] = {"of", PARAMETER_FIELD, REQUIRED, "The list of objects; an input."},
    [SURVEY_FLAG] = {"flag", PARAMETER_TEXT, REQUIRED, "The member that counts."},
    [SURVEY_LACKING] = {"lacking", WRITES_STRINGS, OPTIONAL,
                        "A string[] that gets the names of the items without the flag."},
    [SURVEY_NAME] = {"name", PARAMETER_TEXT, OPTIONAL, "With \"lacking\": the member that names an item."},
    [SURVEY_QUESTION] = {"question", READS_STRING, OPTIONAL,
                         "With \"name\": a string, an input. If it compares two things, and the names of the two items "
                         "ask the same of each, one item alone counts as none."},
    {.name = NULL},
};
static const char *const outcomes[] = {"all", "some", "none", NULL};

static bool survey_check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, SURVEY_OF)->field;
    if (!node_argument(node, SURVEY_LACKING)->field != !node_argument(node, SURVEY_NAME)->text)
        return fail_field(st, "lacking", "and \"name\" go together; add the other");
    if (node_argument(node, SURVEY_QUESTION)->field && !node_argument(node, SURVEY_NAME)->text)
        return fail_field(st, "question", "is compared with the names of the items; add \"name\" and \"lacking\"");
    if (!of->list)
        return fail_field(st, "of", "'%s' is %s; it must be a list of objects", of->name,
                          field_type_words(of->type, false));
    return true;
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

static const char *survey_name(const struct node *node, const cJSON *list, int item)
{
    const char *member = node_argument(node, SURVEY_NAME)->text;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, item), member));
    return name ? name : "";
}

/* "How old is A?" and "How old is B?": equal but for one place. */
static bool survey_asks_the_same(const char *one, const char *other)
{
    size_t length = strlen(one), second = strlen(other), least = length < second ? length : second;
    size_t begin = 0, end = 0;
    while (begin < least && one[begin] == other[begin])
        begin++;
    while (end < least - begin && one[length - end - 1] == other[second - end - 1])
        end++;
    return 2 * (begin + end) >= least;
}

/* Whether the items are the sides of a comparison, which one side alone does not answer. */
static bool survey_compares(const struct node *node, const cJSON *inputs, const cJSON *list)
{
    const struct field *field = node_argument(node, SURVEY_QUESTION)->field;
    const char *question = field ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(inputs, field->name)) : NULL;
    struct asked asked;
    return question && cJSON_GetArraySize(list) == 2 &&
           survey_asks_the_same(survey_name(node, list, 0), survey_name(node, list, 1)) &&
           asked_read(question, strlen(question), &asked) && asked.type == ASKED_COMPARISON;
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
    good = good < count && survey_compares(node, inputs, list) ? 0 : good;
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
