/* Plans search queries for a question: deep research, in the first cycle and in later ones. */
#include "planner_priv.h"

#include "model_task/texts.h"

#include <string.h>

#define QUERIES_MAX   3
#define FINDINGS_MAX  32
#define GAPS_MAX      16
#define REASONING_MAX ((size_t)4096)

static int queries_most(const Renga__V1__QueryStyle *style)
{
    return style->max_queries ? style->max_queries : QUERIES_MAX;
}

static const char *queries_about(const Renga__V1__PlanRequest *request)
{
    return request->queries->question;
}

static void queries_describe(struct model_task *task, cJSON *values)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)task)->request;
    const Renga__V1__QueryStyle *style = request->queries;
    cJSON_AddStringToObject(values, "question", style->question);
    cJSON_AddNumberToObject(values, "max_queries", queries_most(style));
    text_describe(task, values, "feedback", request->feedback);
    cJSON *findings = cJSON_AddArrayToObject(values, "findings");
    for (size_t i = 0; i < style->n_findings; i++) {
        cJSON *finding = cJSON_CreateObject();
        cJSON_AddStringToObject(finding, "query", style->findings[i]->query);
        cJSON_AddStringToObject(finding, "summary_md", style->findings[i]->summary_md);
        cJSON_AddItemToArray(findings, finding);
    }
}

static Renga__V1__QueryPlan *queries_plan(struct model_task *task)
{
    struct planning *planning = (struct planning *)task;
    renga__v1__query_plan__init(&planning->queries);
    planning->response.plan_case = RENGA__V1__PLAN_RESPONSE__PLAN_QUERIES;
    planning->response.queries = &planning->queries;
    return &planning->queries;
}

/* Reads the new queries; an earlier query is not repeated. */
static struct texts new_queries(struct model_task *task, const cJSON *list)
{
    const Renga__V1__QueryStyle *style = ((struct planning *)task)->request->queries;
    char *asked[FINDINGS_MAX];
    for (size_t i = 0; i < style->n_findings; i++)
        asked[i] = style->findings[i]->query;
    return texts_read(task, list, (size_t)queries_most(style), QUERY_MAX, asked, style->n_findings);
}

static bool queries_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "queries");
    struct texts queries = new_queries(task, list);
    if (!queries.count && cJSON_GetArraySize(list))
        return fail(st, DATA_LOSS,
                    "queries: all are blank or were asked before; write new ones, or leave the list empty");
    struct texts gaps =
        texts_read(task, cJSON_GetObjectItemCaseSensitive(answer, "gaps"), GAPS_MAX, POINT_MAX, NULL, 0);
    Renga__V1__QueryPlan *made = queries_plan(task);
    made->queries = queries.list;
    made->n_queries = queries.count;
    made->gaps = gaps.list;
    made->n_gaps = gaps.count;
    made->reasoning = text_read(task, cJSON_GetObjectItemCaseSensitive(answer, "reasoning"), REASONING_MAX);
    return true;
}

/* The first cycle searches for the question itself. Later cycles have no queries, since gaps cannot be found without a
 * model. */
static void queries_fallback(struct model_task *task)
{
    const Renga__V1__QueryStyle *style = ((struct planning *)task)->request->queries;
    Renga__V1__QueryPlan *made = queries_plan(task);
    char **list = model_task_alloc(task, sizeof(*list));
    if (!list || style->n_findings)
        return;
    list[0] = model_task_text(task, style->question, QUERY_MAX);
    made->queries = list;
    made->n_queries = 1;
}

const struct plan_style query_style = {
    .style = RENGA__V1__PLAN_REQUEST__STYLE_QUERIES,
    .kind =
        {
            .name = "queries",
            .part = "plan",
            .schema = "{\"type\":\"object\",\"properties\":{\"queries\":{\"type\":\"array\",\"items\":{\"type\":"
                      "\"string\"}},\"gaps\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"reasoning\":{"
                      "\"type\":\"string\"}},\"required\":[\"queries\",\"gaps\",\"reasoning\"],"
                      "\"additionalProperties\":false}",
            .fallback_note = {.ja = "最初は質問そのものを検索し、その後の不足は調べません",
                              .en = "the question itself is searched for at first, and nothing more after that"},
            .describe = queries_describe,
            .read = queries_read,
            .fallback = queries_fallback,
            .reply = plan_reply,
        },
    .about = queries_about,
};
