/* Plans subtasks for a question: the help desk. */
#include "planner_priv.h"

#include "model_task/texts.h"

#define SUBTASKS_DEFAULT 8
#define SUBTASK_MAX      ((size_t)4096) /* bytes */

static int subtasks_most(const Renga__V1__SubtaskStyle *style)
{
    return style->max_subtasks ? style->max_subtasks : SUBTASKS_DEFAULT;
}

static const char *subtasks_about(const Renga__V1__PlanRequest *request)
{
    return request->subtasks->question;
}

static void subtasks_describe(struct model_task *task, cJSON *values)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)task)->request;
    cJSON_AddStringToObject(values, "question", request->subtasks->question);
    cJSON_AddNumberToObject(values, "max_subtasks", subtasks_most(request->subtasks));
    texts_describe(task, values, "tools", request->subtasks->tools, request->subtasks->n_tools);
    text_describe(task, values, "feedback", request->feedback);
}

static void subtasks_plan(struct model_task *task, char **subtasks, size_t count)
{
    struct planning *planning = (struct planning *)task;
    renga__v1__subtask_plan__init(&planning->subtasks);
    planning->subtasks.subtasks = subtasks;
    planning->subtasks.n_subtasks = count;
    planning->response.plan_case = RENGA__V1__PLAN_RESPONSE__PLAN_SUBTASKS;
    planning->response.subtasks = &planning->subtasks;
}

static bool subtasks_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "subtasks");
    int max = subtasks_most(((struct planning *)task)->request->subtasks);
    struct texts texts = texts_read(task, list, (size_t)max, SUBTASK_MAX, NULL, 0);
    if (!texts.count && cJSON_GetArraySize(list))
        return fail(st, DATA_LOSS, "subtasks: all are blank; write what is to be answered, or leave the list empty");
    subtasks_plan(task, texts.list, texts.count);
    return true;
}

static void subtasks_fallback(struct model_task *task)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)task)->request;
    char **whole = model_task_alloc(task, sizeof(*whole));
    if (whole)
        whole[0] = model_task_text(task, request->subtasks->question, SUBTASK_MAX);
    subtasks_plan(task, whole, whole != NULL);
}

const struct plan_style subtask_style = {
    .style = RENGA__V1__PLAN_REQUEST__STYLE_SUBTASKS,
    .kind =
        {
            .name = "subtasks",
            .part = "plan",
            .schema = "{\"type\":\"object\",\"properties\":{\"subtasks\":{\"type\":\"array\",\"items\":{\"type\":"
                      "\"string\"}}},\"required\":[\"subtasks\"],\"additionalProperties\":false}",
            .fallback_note = {.ja = "質問を分けずに一つのサブタスクとしました",
                              .en = "the question was kept whole, as one subtask"},
            .describe = subtasks_describe,
            .read = subtasks_read,
            .fallback = subtasks_fallback,
            .reply = plan_reply,
        },
    .about = subtasks_about,
};
