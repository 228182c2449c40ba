/* Route: the next action of autonomous research.
 *
 *      no iterations left ---> END          \
 *      too little data ------> RESEARCH      > rules, no model
 *      no draft yet ---------> WRITE        /
 *      else -----------------> a model decides; without a model the existing draft ends the run */
#include "planner_priv.h"

#include "thinking/check.h"
#include "thinking/texts.h"

#include <string.h>

#define ITERATIONS_MAX     100
#define ITERATIONS_DEFAULT 5
#define DATA_MAX           1000
#define DATA_DEFAULT       5
#define REASONING_MAX      ((size_t)4096) /* bytes */
#define ACTION(name)       RENGA__V1__NEXT_ACTION__NEXT_ACTION_##name

struct routing {
    struct thought thought; /* first */
    const Renga__V1__RouteRequest *request;
    Renga__V1__RouteResponse_Closure reply;
    Renga__V1__RouteResponse response;
};

static const struct {
    const char *word;
    Renga__V1__NextAction action;
} choices[] = {{"research", ACTION(RESEARCH)}, {"write", ACTION(WRITE)}, {"end", ACTION(END)}};

static const Renga__V1__ResearchProgress no_progress = RENGA__V1__RESEARCH_PROGRESS__INIT;

/* ---- the request ------------------------------------------------------------------------------------------------- */

static const Renga__V1__ResearchProgress *progress_of(const Renga__V1__RouteRequest *request)
{
    return request->progress ? request->progress : &no_progress;
}

static int32_t iterations_max(const Renga__V1__RouteRequest *request)
{
    return request->max_iterations ? request->max_iterations : ITERATIONS_DEFAULT;
}

static int32_t enough_data(const Renga__V1__RouteRequest *request)
{
    return request->min_data_count ? request->min_data_count : DATA_DEFAULT;
}

static bool check_progress(const Renga__V1__ResearchProgress *progress, struct status *st)
{
    if (progress->data_count < 0)
        return fail_field(st, "progress.data_count", "is %d; it counts sources", progress->data_count);
    return share_fits(st, "progress.data_quality", progress->data_quality) &&
           share_fits(st, "progress.coverage", progress->coverage);
}

static bool check(const Renga__V1__RouteRequest *request, struct status *st)
{
    if (!request->plan)
        return fail_field(st, "plan", "is missing; give the plan of the research");
    if (request->iteration < 0)
        return fail_field(st, "iteration", "is %d; it counts steps", request->iteration);
    return research_plan_fits(request->plan, "plan", st) && check_progress(progress_of(request), st) &&
           text_fits(st, "feedback", request->feedback, CHECK_FEEDBACK_MAX) &&
           number_fits(st, "max_iterations", request->max_iterations, ITERATIONS_MAX) &&
           number_fits(st, "min_data_count", request->min_data_count, DATA_MAX) &&
           text_fits(st, "human_input", request->human_input, CHECK_QUESTION_MAX) &&
           check_prompting(request->prompting, st) && check_origin_of(request->origin, st);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static void choose(struct thought *thought, Renga__V1__NextAction action, char *reasoning)
{
    struct routing *routing = (struct routing *)thought;
    routing->response.next_action = action;
    routing->response.reasoning = reasoning;
}

static bool choose_by_rule(struct thought *thought)
{
    static const struct note none_left = {.ja = "反復の上限（%s回）に達しました。",
                                          .en = "All %s iterations have been used."};
    static const struct note too_little = {.ja = "データが不足しています（%s件、必要%s件）。",
                                           .en = "There is too little data: results found: %s, needed: %s."};
    static const struct note no_draft = {.ja = "十分なデータ（%s件）が集まったので、ドラフトを作成します。",
                                         .en = "There is enough data (results found: %s) to write a draft from."};
    const Renga__V1__RouteRequest *request = ((struct routing *)thought)->request;
    int32_t count = progress_of(request)->data_count;
    const char *found = thought_printf(thought, "%d", count);
    if (request->iteration >= iterations_max(request)) {
        const char *most = thought_printf(thought, "%d", iterations_max(request));
        choose(thought, ACTION(END), thought_compose(thought, &none_left, most, NULL));
    } else if (count < enough_data(request)) {
        const char *enough = thought_printf(thought, "%d", enough_data(request));
        choose(thought, ACTION(RESEARCH), thought_compose(thought, &too_little, found, enough));
    } else if (!request->has_draft) {
        choose(thought, ACTION(WRITE), thought_compose(thought, &no_draft, found, NULL));
    }
    return ((struct routing *)thought)->response.next_action != ACTION(UNSPECIFIED);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static void describe_plan(struct thought *thought, cJSON *values, const Renga__V1__ResearchPlan *plan)
{
    (void)thought;
    cJSON *shown = cJSON_AddObjectToObject(values, "plan");
    cJSON_AddStringToObject(shown, "theme", plan->theme);
    cJSON *points = cJSON_AddArrayToObject(shown, "investigation_points");
    for (size_t i = 0; i < plan->n_investigation_points; i++)
        cJSON_AddItemToArray(points, cJSON_CreateString(plan->investigation_points[i]));
    cJSON *queries = cJSON_AddArrayToObject(shown, "search_queries");
    for (size_t i = 0; i < plan->n_search_queries; i++)
        cJSON_AddItemToArray(queries, cJSON_CreateString(plan->search_queries[i]));
    cJSON_AddStringToObject(shown, "plan_text", plan->plan_text);
}

static void describe(struct thought *thought, cJSON *values)
{
    const Renga__V1__RouteRequest *request = ((struct routing *)thought)->request;
    const Renga__V1__ResearchProgress *progress = progress_of(request);
    describe_plan(thought, values, request->plan);
    cJSON *shown = cJSON_AddObjectToObject(values, "progress");
    cJSON_AddNumberToObject(shown, "data_count", progress->data_count);
    cJSON_AddNumberToObject(shown, "data_quality", progress->data_quality);
    cJSON_AddNumberToObject(shown, "coverage", progress->coverage);
    cJSON_AddBoolToObject(values, "has_draft", request->has_draft);
    text_describe(thought, values, "feedback", request->feedback);
    text_describe(thought, values, "human_input", request->human_input);
    cJSON_AddNumberToObject(values, "iteration", request->iteration);
    cJSON_AddNumberToObject(values, "max_iterations", iterations_max(request));
    cJSON_AddNumberToObject(values, "min_data_count", enough_data(request));
}

static bool read(struct thought *thought, const cJSON *answer, struct status *st)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "next_action"));
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (word && strcmp(word, choices[i].word) == 0) {
            choose(thought, choices[i].action,
                   text_read(thought, cJSON_GetObjectItemCaseSensitive(answer, "reasoning"), REASONING_MAX));
            return true;
        }
    return fail(st, DATA_LOSS, "next_action: must be \"research\", \"write\" or \"end\"");
}

/* Requests that the rules do not decide have a draft, so the run ends. */
static void simple(struct thought *thought)
{
    static const struct note ends = {.ja = "ドラフトがあるので、ここで終了します。",
                                     .en = "There is a draft, so the run ends with it."};
    choose(thought, ACTION(END), UNCONST(thought_say(thought, &ends)));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void answer(struct thought *thought)
{
    struct routing *routing = (struct routing *)thought;
    Renga__V1__RouteResponse *response = &routing->response;
    response->usage = &thought->usage;
    response->model = UNCONST(thought->model);
    response->degradations = thought->degradations;
    response->n_degradations = thought->degradation_count;
    routing->reply(response, thought->call);
}

static const struct thought_kind route_kind = {
    .name = "route",
    .part = "route",
    .schema = "{\"type\":\"object\",\"properties\":{\"next_action\":{\"type\":\"string\",\"enum\":[\"research\","
              "\"write\",\"end\"]},\"reasoning\":{\"type\":\"string\"}},\"required\":[\"next_action\",\"reasoning\"],"
              "\"additionalProperties\":false}",
    .fallback = {.ja = "今あるドラフトで終了します", .en = "the run ends with the draft that is there"},
    .describe = describe,
    .read = read,
    .simple = simple,
    .reply = answer,
};

void route_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__RouteRequest *request,
                 Renga__V1__RouteResponse_Closure reply)
{
    struct status st = {0};
    if (!check(request, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct routing *routing = thought_create(call, sizeof *routing);
    if (!routing)
        return;
    routing->request = request;
    routing->reply = reply;
    renga__v1__route_response__init(&routing->response);
    thought_init(&routing->thought, &route_kind, &planner->thinker, call, request->prompting, request->origin,
                 request->plan->theme);
    if (choose_by_rule(&routing->thought))
        thought_rule(&routing->thought);
    else
        thought_start(&routing->thought);
}
