/* Route: the next action of autonomous research.
 *
 *      no iterations left ---> END          \
 *      too little data ------> RESEARCH      > rules, no model
 *      no draft yet ---------> WRITE        /
 *      else -----------------> a model decides; without a model the existing draft ends the run */
#include "planner_priv.h"

#include "model_task/check.h"
#include "model_task/texts.h"

#include <string.h>

#define ITERATIONS_DEFAULT 5
#define DATA_DEFAULT       5
#define REASONING_MAX      ((size_t)4096) /* bytes */
#define ACTION(name)       RENGA__V1__NEXT_ACTION__NEXT_ACTION_##name

struct routing {
    struct model_task task; /* first */
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

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static void choose(struct model_task *task, Renga__V1__NextAction action, char *reasoning)
{
    struct routing *routing = (struct routing *)task;
    routing->response.next_action = action;
    routing->response.reasoning = reasoning;
}

static bool choose_by_rule(struct model_task *task)
{
    static const struct note none_left = {.ja = "反復の上限（%s回）に達しました。",
                                          .en = "All %s iterations have been used."};
    static const struct note too_little = {.ja = "データが不足しています（%s件、必要%s件）。",
                                           .en = "There is too little data: results found: %s, needed: %s."};
    static const struct note no_draft = {.ja = "十分なデータ（%s件）が集まったので、ドラフトを作成します。",
                                         .en = "There is enough data (results found: %s) to write a draft from."};
    const Renga__V1__RouteRequest *request = ((struct routing *)task)->request;
    int32_t count = progress_of(request)->data_count;
    const char *found = model_task_printf(task, "%d", count);
    if (request->iteration >= iterations_max(request)) {
        const char *most = model_task_printf(task, "%d", iterations_max(request));
        choose(task, ACTION(END), model_task_compose(task, &none_left, most, NULL));
    } else if (count < enough_data(request)) {
        const char *enough = model_task_printf(task, "%d", enough_data(request));
        choose(task, ACTION(RESEARCH), model_task_compose(task, &too_little, found, enough));
    } else if (!request->has_draft) {
        choose(task, ACTION(WRITE), model_task_compose(task, &no_draft, found, NULL));
    }
    return ((struct routing *)task)->response.next_action != ACTION(UNSPECIFIED);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static void describe_plan(struct model_task *task, cJSON *values, const Renga__V1__ResearchPlan *plan)
{
    (void)task;
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

static void route_describe(struct model_task *task, cJSON *values)
{
    const Renga__V1__RouteRequest *request = ((struct routing *)task)->request;
    const Renga__V1__ResearchProgress *progress = progress_of(request);
    describe_plan(task, values, request->plan);
    cJSON *shown = cJSON_AddObjectToObject(values, "progress");
    cJSON_AddNumberToObject(shown, "data_count", progress->data_count);
    cJSON_AddNumberToObject(shown, "data_quality", progress->data_quality);
    cJSON_AddNumberToObject(shown, "coverage", progress->coverage);
    cJSON_AddBoolToObject(values, "has_draft", request->has_draft);
    text_describe(task, values, "feedback", request->feedback);
    text_describe(task, values, "human_input", request->human_input);
    cJSON_AddNumberToObject(values, "iteration", request->iteration);
    cJSON_AddNumberToObject(values, "max_iterations", iterations_max(request));
    cJSON_AddNumberToObject(values, "min_data_count", enough_data(request));
}

static bool route_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "next_action"));
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (word && strcmp(word, choices[i].word) == 0) {
            choose(task, choices[i].action,
                   text_read(task, cJSON_GetObjectItemCaseSensitive(answer, "reasoning"), REASONING_MAX));
            return true;
        }
    return fail(st, DATA_LOSS, "next_action: must be \"research\", \"write\" or \"end\"");
}

/* Requests that the rules do not decide have a draft, so the run ends. */
static void route_fallback(struct model_task *task)
{
    static const struct note ends = {.ja = "ドラフトがあるので、ここで終了します。",
                                     .en = "There is a draft, so the run ends with it."};
    choose(task, ACTION(END), UNCONST(model_task_note_text(task, &ends)));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void route_answer(struct model_task *task)
{
    struct routing *routing = (struct routing *)task;
    Renga__V1__RouteResponse *response = &routing->response;
    response->usage = &task->usage;
    response->model = UNCONST(task->model);
    response->degradations = task->degradations;
    response->n_degradations = task->degradation_count;
    routing->reply(response, task->call);
}

static const struct model_task_kind route_kind = {
    .name = "route",
    .part = "route",
    .schema = "{\"type\":\"object\",\"properties\":{\"next_action\":{\"type\":\"string\",\"enum\":[\"research\","
              "\"write\",\"end\"]},\"reasoning\":{\"type\":\"string\"}},\"required\":[\"next_action\",\"reasoning\"],"
              "\"additionalProperties\":false}",
    .fallback_note = {.ja = "今あるドラフトで終了します", .en = "the run ends with the draft that is there"},
    .describe = route_describe,
    .read = route_read,
    .fallback = route_fallback,
    .reply = route_answer,
};

void route_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__RouteRequest *request,
                 Renga__V1__RouteResponse_Closure reply)
{
    struct status st = {0};
    if (!check_model_request(&request->base, request->prompting, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct routing *routing = model_task_create(call, sizeof *routing);
    if (!routing)
        return;
    routing->request = request;
    routing->reply = reply;
    renga__v1__route_response__init(&routing->response);
    model_task_init(&routing->task, &route_kind, &planner->client, call, request->prompting, request->origin,
                    request->plan->theme);
    if (choose_by_rule(&routing->task))
        model_task_rule(&routing->task);
    else
        model_task_start(&routing->task);
}
