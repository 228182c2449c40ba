/* Chooses the way by the node's inputs: the first case whose condition holds gives the outcome. */
#include "input_job.h"
#include "when.h"

#include "json/json.h"

#include <string.h>

#define CASES_MAX 100 /* as outcomes of a node */

enum { CHOOSE_CASES, CHOOSE_ELSE };

static const struct node_parameter parameters[] = {
    [CHOOSE_CASES] = {"cases", PARAMETER_JSON, REQUIRED,
                      "[{\"when\": CONDITION, \"outcome\": NAME}, …], tried in their order. A condition tests an "
                      "input, {\"field\": \"amount\", \"more\": 500}, or joins others."},
    [CHOOSE_ELSE] = {"else", PARAMETER_TEXT, REQUIRED, "The outcome where no case holds."},
    {.name = NULL},
};

struct choice {
    const struct json_condition *when;
    const char *outcome; /* of the node's edge */
};

struct choices {
    size_t count;
    struct choice list[];
};

/* The name as the edge has it. */
static const char *arrow_name(const struct node *node, const char *outcome, const char *parameter, struct status *st)
{
    const struct edge *edge = *outcome ? node_edge(node, outcome) : NULL;
    if (edge)
        return edge->outcome;
    fail_field(st, parameter, "the outcome '%.64s' has no edge; add \"%.64s\" to \"on\"", outcome, outcome);
    return NULL;
}

static bool prepare_case(const struct node *node, struct arena *arena, const cJSON *item, int index,
                         struct choice *choice, struct status *st)
{
    struct status why = {0};
    const cJSON *when = cJSON_GetObjectItemCaseSensitive(item, "when");
    const char *outcome = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "outcome"));
    if (!when || !outcome || cJSON_GetArraySize(item) != 2)
        return fail_field(st, "cases", "[%d] must be {\"when\": CONDITION, \"outcome\": NAME}", index);
    choice->when = when_compile(node, arena, when, &why);
    if (!choice->when)
        return why.code == RESOURCE_EXHAUSTED ? fail(st, why.code, "%s", why.text)
                                              : fail_field(st, "cases", "[%d].when: %s", index, why.text);
    choice->outcome = arrow_name(node, outcome, "cases", st);
    return choice->outcome;
}

static bool arrows_have_cases(const struct node *node, const struct choices *choices, struct status *st)
{
    for (size_t i = 0; i < node->edge_count; i++) {
        const char *outcome = node->edges[i].outcome;
        bool known = strcmp(outcome, node_argument(node, CHOOSE_ELSE)->text) == 0;
        for (size_t j = 0; !known && j < choices->count; j++)
            known = strcmp(outcome, choices->list[j].outcome) == 0;
        if (!known)
            return fail_field(st, "on", "no case has the outcome '%s'; add one, or take the edge out", outcome);
    }
    return true;
}

static const void *choose_prepare(const struct node *node, struct arena *arena, struct status *st)
{
    const char *text = node_argument(node, CHOOSE_CASES)->text;
    cJSON *cases = json_parse(text, strlen(text), NULL, st);
    const cJSON *item;
    int count = cases && cJSON_IsArray(cases) ? cJSON_GetArraySize(cases) : 0;
    struct choices *choices = arena_zalloc(arena, sizeof *choices + (size_t)count * sizeof(struct choice));
    bool good = choices;
    if (!choices)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the cases");
    else if (count < 1 || count > CASES_MAX)
        good = fail_field(st, "cases", "must be a list of 1 to %d cases", CASES_MAX);
    cJSON_ArrayForEach(item, cases)
    {
        good = good && prepare_case(node, arena, item, (int)choices->count, &choices->list[choices->count], st);
        if (good)
            choices->count++;
    }
    cJSON_Delete(cases);
    return good && arrow_name(node, node_argument(node, CHOOSE_ELSE)->text, "else", st) &&
                   arrows_have_cases(node, choices, st)
               ? choices
               : NULL;
}

struct choosing {
    struct input_job base; /* first */
    const char *outcome;
};

static bool choose_run(struct input_job *job, struct status *st)
{
    struct choosing *choosing = (struct choosing *)job;
    const struct node *node = task_node(job->base.task);
    const struct choices *choices = node->prepared;
    (void)st;
    choosing->outcome = node_argument(node, CHOOSE_ELSE)->text;
    for (size_t i = 0; i < choices->count; i++)
        if (json_condition_holds(choices->list[i].when, job->base.inputs)) {
            choosing->outcome = choices->list[i].outcome;
            break;
        }
    return true;
}

static const char *choose_finish(struct input_job *job, struct update *update)
{
    (void)update;
    return ((const struct choosing *)job)->outcome;
}

static void choose_start(struct task *task)
{
    input_job_start_light(task_data(task), task, choose_run, choose_finish);
}

extern const struct node_kind choose_kind;
const struct node_kind choose_kind = {
    .name = "choose",
    .help = "Chooses the way by the first case whose condition holds.",
    .parameters = parameters,
    .prepare = choose_prepare,
    .size = sizeof(struct choosing),
    .start = choose_start,
    .cancel = input_job_cancel,
    .is_pure = true,
};
