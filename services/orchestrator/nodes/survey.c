/* Tells whether all, some or no items of a list have a member that is true. */
#include "node_kind.h"

#include "base/json.h"

#include <string.h>

enum { SURVEY_OF, SURVEY_FLAG };

static const struct node_parameter parameters[] = {
    [SURVEY_OF] = {.name = "of", .type = PARAMETER_FIELD, .required = true, .help = "The list of objects; an input."},
    [SURVEY_FLAG] = {.name = "flag", .type = PARAMETER_TEXT, .required = true, .help = "The member that counts."},
    {.name = NULL},
};
static const char *const outcomes[] = {"all", "some", "none", NULL};

static bool check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, SURVEY_OF)->field;
    return of->list || fail_field(st, "of", "'%s' is %s; it must be a list of objects", of->name,
                                  field_type_words(of->type, false));
}

/* The outcome of an empty list is `none`. */
static void start(struct task *task)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    const struct node *node = task_node(task);
    const char *state = task_request(task)->state_json, *flag = node_argument(node, SURVEY_FLAG)->text;
    struct status st = {0};
    cJSON *inputs = json_parse(state, strlen(state), NULL, &st);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(inputs, node_argument(node, SURVEY_OF)->field->name), *item;
    int count = 0, good = 0;
    cJSON_ArrayForEach(item, list)
    {
        count++;
        good += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, flag)) ? 1 : 0;
    }
    cJSON_Delete(inputs);
    response.outcome = (char *)(uintptr_t)outcomes[!good ? 2 : good < count ? 1 : 0];
    if (st.code == OK)
        task_finish(task, &response);
    else
        task_fail(task, &st);
}

extern const struct node_kind survey_kind;
const struct node_kind survey_kind = {
    .name = "survey",
    .help = "Looks whether all, some or none of a list have a member that is true.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .start = start,
};
