/* Plans subtasks for a question: the help desk. */
#include "planner_priv.h"

#include "thinking/check.h"
#include "thinking/texts.h"

#define SUBTASKS_MAX     32
#define SUBTASKS_DEFAULT 8
#define SUBTASK_MAX      ((size_t)4096) /* bytes */
#define TOOLS_MAX        64
#define TOOL_MAX         ((size_t)1024)

static int most(const Renga__V1__SubtaskStyle *style)
{
    return style->max_subtasks ? style->max_subtasks : SUBTASKS_DEFAULT;
}

static bool check(const Renga__V1__PlanRequest *request, struct status *st)
{
    const Renga__V1__SubtaskStyle *style = request->subtasks;
    return text_is_given(st, "subtasks.question", style->question, CHECK_QUESTION_MAX) &&
           number_fits(st, "subtasks.max_subtasks", style->max_subtasks, SUBTASKS_MAX) &&
           texts_fit(st, "subtasks.tools", style->tools, style->n_tools, TOOLS_MAX, TOOL_MAX);
}

static const char *about(const Renga__V1__PlanRequest *request)
{
    return request->subtasks->question;
}

static void describe(struct thought *thought, cJSON *values)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)thought)->request;
    cJSON_AddStringToObject(values, "question", request->subtasks->question);
    cJSON_AddNumberToObject(values, "max_subtasks", most(request->subtasks));
    texts_describe(thought, values, "tools", request->subtasks->tools, request->subtasks->n_tools);
    text_describe(thought, values, "feedback", request->feedback);
}

static void plan(struct thought *thought, char **subtasks, size_t count)
{
    struct planning *planning = (struct planning *)thought;
    renga__v1__subtask_plan__init(&planning->subtasks);
    planning->subtasks.subtasks = subtasks;
    planning->subtasks.n_subtasks = count;
    planning->response.plan_case = RENGA__V1__PLAN_RESPONSE__PLAN_SUBTASKS;
    planning->response.subtasks = &planning->subtasks;
}

static bool read(struct thought *thought, const cJSON *answer, struct status *st)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "subtasks");
    int max = most(((struct planning *)thought)->request->subtasks);
    struct texts texts = texts_read(thought, list, (size_t)max, SUBTASK_MAX, NULL, 0);
    if (!texts.count && cJSON_GetArraySize(list))
        return fail(st, DATA_LOSS, "subtasks: all are blank; write what is to be answered, or leave the list empty");
    plan(thought, texts.list, texts.count);
    return true;
}

static void simple(struct thought *thought)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)thought)->request;
    char **whole = thought_alloc(thought, sizeof(*whole));
    if (whole)
        whole[0] = thought_text(thought, request->subtasks->question, SUBTASK_MAX);
    plan(thought, whole, whole != NULL);
}

const struct plan_style subtask_style = {
    .style = RENGA__V1__PLAN_REQUEST__STYLE_SUBTASKS,
    .kind =
        {
            .name = "subtasks",
            .part = "plan",
            .schema = "{\"type\":\"object\",\"properties\":{\"subtasks\":{\"type\":\"array\",\"items\":{\"type\":"
                      "\"string\"}}},\"required\":[\"subtasks\"],\"additionalProperties\":false}",
            .fallback = {.ja = "質問を分けずに一つのサブタスクとしました",
                         .en = "the question was kept whole, as one subtask"},
            .describe = describe,
            .read = read,
            .simple = simple,
            .reply = plan_reply,
        },
    .check = check,
    .about = about,
};
