/* Makes a research plan for a theme: autonomous research. */
#include "planner_priv.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "model_task/texts.h"

#include <string.h>

#define QUERIES_DEFAULT 5
#define POINTS_MAX      32
#define PLAN_TEXT_MAX   ((size_t)16384) /* bytes */
#define SUBJECT_MAX     ((size_t)240)   /* bytes of the theme in a text made by a rule */

static int research_most(const Renga__V1__ResearchStyle *style)
{
    return style->max_queries ? style->max_queries : QUERIES_DEFAULT;
}

static const char *research_about(const Renga__V1__PlanRequest *request)
{
    return request->research->theme;
}

static void research_describe_plan(struct model_task *task, cJSON *values)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)task)->request;
    cJSON_AddStringToObject(values, "theme", request->research->theme);
    cJSON_AddNumberToObject(values, "max_queries", research_most(request->research));
    text_describe(task, values, "human_input", request->research->human_input);
    text_describe(task, values, "feedback", request->feedback);
}

static void research_plan(struct model_task *task, struct texts points, struct texts queries, char *plan_text)
{
    struct planning *planning = (struct planning *)task;
    Renga__V1__ResearchPlan *made = &planning->research;
    renga__v1__research_plan__init(made);
    made->theme = planning->request->research->theme;
    made->investigation_points = points.list;
    made->n_investigation_points = points.count;
    made->search_queries = queries.list;
    made->n_search_queries = queries.count;
    made->plan_text = plan_text;
    made->created_ms = clock_wall_ns() / NS_PER_MS;
    planning->response.plan_case = RENGA__V1__PLAN_RESPONSE__PLAN_RESEARCH;
    planning->response.research = made;
}

static bool research_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "search_queries");
    const cJSON *points_list = cJSON_GetObjectItemCaseSensitive(answer, "investigation_points");
    size_t max = (size_t)research_most(((struct planning *)task)->request->research);
    struct texts queries = texts_read(task, list, max, QUERY_MAX, NULL, 0);
    struct texts points = texts_read(task, points_list, POINTS_MAX, POINT_MAX, NULL, 0);
    if (!queries.count && (points.count || cJSON_GetArraySize(list)))
        return fail(st, DATA_LOSS, "search_queries: there is none that says anything; write at least one");
    research_plan(task, points, queries,
                  text_read(task, cJSON_GetObjectItemCaseSensitive(answer, "plan_text"), PLAN_TEXT_MAX));
    return true;
}

/* The theme as a subject: its first line, cut. */
static const char *subject_of(struct model_task *task, const char *theme)
{
    theme += strspn(theme, " \t\r\n");
    char *subject = model_task_text(task, theme, SUBJECT_MAX);
    subject[strcspn(subject, "\r\n")] = '\0';
    return subject;
}

static void fallback(struct model_task *task)
{
    static const struct note text = {.ja = "「%s」について、次の観点から調べます: %s", .en = "Look into \"%s\": %s"};
    const Renga__V1__ResearchStyle *style = ((struct planning *)task)->request->research;
    struct texts points, queries;
    struct buffer names;
    research_plan_fallback(task, style, (size_t)research_most(style), &points, &queries);
    buffer_init(&names, PLAN_TEXT_MAX / 2);
    for (size_t i = 0; i < points.count; i++)
        buffer_printf(&names, "%s%s", i ? (task->japanese ? "、" : "; ") : "", points.list[i]);
    char *list = model_task_text(task, buffer_text(&names), PLAN_TEXT_MAX / 2);
    buffer_fini(&names);
    research_plan(task, points, queries, model_task_compose(task, &text, subject_of(task, style->theme), list));
}

const struct plan_style research_style = {
    .style = RENGA__V1__PLAN_REQUEST__STYLE_RESEARCH,
    .kind =
        {
            .name = "research",
            .part = "plan",
            .schema = "{\"type\":\"object\",\"properties\":{\"theme\":{\"type\":\"string\"},\"investigation_points\":{"
                      "\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"search_queries\":{\"type\":\"array\","
                      "\"items\":{\"type\":\"string\"}},\"plan_text\":{\"type\":\"string\"}},\"required\":[\"theme\","
                      "\"investigation_points\",\"search_queries\",\"plan_text\"],\"additionalProperties\":false}",
            .fallback_note = {.ja = "どのテーマにも当てはまる観点か、見つかった情報源の題名から計画を作りました",
                              .en = "the plan was made of the points that any theme has, or of the titles of sources"},
            .describe = research_describe_plan,
            .read = research_read,
            .fallback = fallback,
            .reply = plan_reply,
        },
    .about = research_about,
};
