/* Makes a research plan for a theme: autonomous research. */
#include "planner_priv.h"

#include "base/clock.h"
#include "thinking/check.h"
#include "thinking/texts.h"

#include <string.h>

#define QUERIES_MAX     16
#define QUERIES_DEFAULT 5
#define POINTS_MAX      32
#define PLAN_TEXT_MAX   ((size_t)16384) /* bytes */
#define SUBJECT_MAX     ((size_t)240)   /* bytes of the theme in a query made by a rule */

/* Points that fit all themes: the text of the point, and its search query. */
static const struct {
    struct note point, query;
} angles[] = {
    {{.ja = "概要と背景", .en = "Overview and background"}, {.ja = "%s", .en = "%s"}},
    {{.ja = "現状と主な事実", .en = "Present state and main facts"}, {.ja = "%s 現状", .en = "%s current state"}},
    {{.ja = "課題と論点", .en = "Problems and open questions"}, {.ja = "%s 課題", .en = "%s problems"}},
    {{.ja = "事例", .en = "Examples"}, {.ja = "%s 事例", .en = "%s examples"}},
    {{.ja = "今後の見通し", .en = "Outlook"}, {.ja = "%s 今後", .en = "%s outlook"}},
};
#define ANGLES (sizeof angles / sizeof angles[0])

static int most(const Renga__V1__ResearchStyle *style)
{
    return style->max_queries ? style->max_queries : QUERIES_DEFAULT;
}

bool research_plan_fits(const Renga__V1__ResearchPlan *plan, const char *field, struct status *st)
{
    return text_fits(st, field_in(field, "theme"), plan->theme, CHECK_QUESTION_MAX) &&
           texts_fit(st, field_in(field, "investigation_points"), plan->investigation_points,
                     plan->n_investigation_points, POINTS_MAX, POINT_MAX) &&
           texts_fit(st, field_in(field, "search_queries"), plan->search_queries, plan->n_search_queries, QUERIES_MAX,
                     QUERY_MAX) &&
           text_fits(st, field_in(field, "plan_text"), plan->plan_text, PLAN_TEXT_MAX);
}

static bool check(const Renga__V1__PlanRequest *request, struct status *st)
{
    const Renga__V1__ResearchStyle *style = request->research;
    return text_is_given(st, "research.theme", style->theme, CHECK_QUESTION_MAX) &&
           number_fits(st, "research.max_queries", style->max_queries, QUERIES_MAX) &&
           text_fits(st, "research.human_input", style->human_input, CHECK_QUESTION_MAX);
}

static const char *about(const Renga__V1__PlanRequest *request)
{
    return request->research->theme;
}

static void describe(struct thought *thought, cJSON *values)
{
    const Renga__V1__PlanRequest *request = ((struct planning *)thought)->request;
    cJSON_AddStringToObject(values, "theme", request->research->theme);
    cJSON_AddNumberToObject(values, "max_queries", most(request->research));
    text_describe(thought, values, "human_input", request->research->human_input);
    text_describe(thought, values, "feedback", request->feedback);
}

static void plan(struct thought *thought, struct texts points, struct texts queries, char *plan_text)
{
    struct planning *planning = (struct planning *)thought;
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

static bool read(struct thought *thought, const cJSON *answer, struct status *st)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "search_queries");
    const cJSON *points_list = cJSON_GetObjectItemCaseSensitive(answer, "investigation_points");
    size_t max = (size_t)most(((struct planning *)thought)->request->research);
    struct texts queries = texts_read(thought, list, max, QUERY_MAX, NULL, 0);
    struct texts points = texts_read(thought, points_list, POINTS_MAX, POINT_MAX, NULL, 0);
    if (!queries.count && (points.count || cJSON_GetArraySize(list)))
        return fail(st, DATA_LOSS, "search_queries: there is none that says anything; write at least one");
    plan(thought, points, queries,
         text_read(thought, cJSON_GetObjectItemCaseSensitive(answer, "plan_text"), PLAN_TEXT_MAX));
    return true;
}

static struct texts room_for(struct thought *thought, size_t count)
{
    struct texts texts = {.list = thought_alloc(thought, count * sizeof(*texts.list))};
    texts.count = texts.list ? count : 0;
    return texts;
}

/* The theme as a subject: its first line, cut. */
static const char *subject_of(struct thought *thought, const char *theme)
{
    theme += strspn(theme, " \t\r\n");
    char *subject = thought_text(thought, theme, SUBJECT_MAX);
    subject[strcspn(subject, "\r\n")] = '\0';
    return subject;
}

static void simple(struct thought *thought)
{
    static const struct note text = {
        .ja = "「%s」について、概要、現状、課題、事例、今後の見通しを順に調べます。",
        .en = "Look into \"%s\": its background, its present state, its problems, examples and the outlook.",
    };
    const Renga__V1__ResearchStyle *style = ((struct planning *)thought)->request->research;
    const char *subject = subject_of(thought, style->theme);
    size_t max = (size_t)most(style);
    struct texts points = room_for(thought, ANGLES), queries = room_for(thought, max < ANGLES ? max : ANGLES);
    for (size_t i = 0; i < points.count; i++)
        points.list[i] = UNCONST(thought_say(thought, &angles[i].point));
    for (size_t i = 0; i < queries.count; i++)
        queries.list[i] = thought_compose(thought, &angles[i].query, subject, NULL);
    plan(thought, points, queries, thought_compose(thought, &text, subject, NULL));
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
            .fallback = {.ja = "どのテーマにも当てはまる観点から計画を作りました",
                         .en = "the plan was made of the points that any theme has"},
            .describe = describe,
            .read = read,
            .simple = simple,
            .reply = plan_reply,
        },
    .check = check,
    .about = about,
};
