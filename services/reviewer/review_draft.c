/* ReviewDraft: is the draft of a research report good enough? A model gives marks; code computes score and verdict. */
#include "draft_priv.h"
#include "findings.h"

#include "base/field_check.h"
#include "model_task/check.h"
#include "model_task/texts.h"

#include <math.h>
#include <string.h>

#define DRAFT_SHOWN_MAX ((size_t)512 << 10)
#define ACTION(name)    RENGA__V1__NEXT_ACTION__NEXT_ACTION_##name

/* The words of the schema and their meanings. Row 0 is for all other words. */
static const char *const types[] = {"", "fact_check", "completeness", "logic", "format"};
static const char *const severities[] = {"", "low", "medium", "high"};

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool review_draft_check(const Renga__V1__ReviewDraftRequest *request, struct status *st)
{
    if (!check_model_request(&request->base, request->prompting, st))
        return false;
    for (size_t i = 0; i < request->n_sources; i++)
        if (!text_is_given(st, path_of("sources", i, "url"), request->sources[i]->url, SIZE_MAX))
            return false;
    return true;
}

/* ---- with a model ------------------------------------------------------------------------------------------------ */

static void review_draft_describe(struct model_task *task, cJSON *values)
{
    static const Renga__V1__ResearchPlan none = RENGA__V1__RESEARCH_PLAN__INIT;
    struct draft_reviewing *reviewing = (struct draft_reviewing *)task;
    const Renga__V1__ReviewDraftRequest *request = reviewing->request;
    const Renga__V1__ResearchPlan *plan = request->plan ? request->plan : &none;
    text_describe(task, values, "theme", plan->theme);
    texts_describe(task, values, "plan", plan->investigation_points, plan->n_investigation_points);
    text_describe(task, values, "earlier_feedback", request->earlier_feedback);
    cJSON_AddStringToObject(values, "draft", model_task_text(task, request->draft, DRAFT_SHOWN_MAX));
    bool all_sources = sources_describe(task, values, request->sources, request->n_sources);
    reviewing->cut = !all_sources || strlen(request->draft) > DRAFT_SHOWN_MAX;
}

static bool read_mark(const cJSON *scores, const char *name, double *mark, struct status *st)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(scores, name);
    *mark = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    return (*mark >= 0 && *mark <= 1) || fail(st, DATA_LOSS, "scores.%s: must be a number from 0 to 1", name);
}

static int word_of(const cJSON *object, const char *name, const char *const *words, int count)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    for (int i = 1; word && i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

static void read_issues(struct draft_reviewing *reviewing, const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        struct model_task *task = &reviewing->task;
        int type = word_of(item, "type", types, 5), severity = word_of(item, "severity", severities, 4);
        char *description = text_read(task, cJSON_GetObjectItemCaseSensitive(item, "description"), DESCRIPTION_MAX);
        if (type && severity && *description)
            draft_add_issue(reviewing, (Renga__V1__DraftIssueType)type, (Renga__V1__IssueSeverity)severity, description,
                            text_read(task, cJSON_GetObjectItemCaseSensitive(item, "location"), LOCATION_MAX));
    }
}

static bool review_draft_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    static const struct note part_only = {
        .ja = "ドラフトまたは情報源が長いため、モデルには一部だけを見せました。",
        .en = "Draft and sources are so long that the model was shown only a part of them.",
    };
    struct draft_reviewing *reviewing = (struct draft_reviewing *)task;
    const char *wanted = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "suggested_action"));
    draft_restart(reviewing);
    const cJSON *scores = cJSON_GetObjectItemCaseSensitive(answer, "scores");
    Renga__V1__DraftScores *marks = &reviewing->scores;
    if (!read_mark(scores, "fact_check", &marks->fact_check, st) ||
        !read_mark(scores, "completeness", &marks->completeness, st) ||
        !read_mark(scores, "logic", &marks->logic, st) || !read_mark(scores, "format", &marks->format, st))
        return false;
    read_issues(reviewing, cJSON_GetObjectItemCaseSensitive(answer, "issues"));
    if (!reviewing->request->plan)
        reviewing->scores.completeness = 1; /* there are no points to cover */
    bool research = wanted && strcmp(wanted, "research") == 0;
    draft_conclude(reviewing, research ? ACTION(RESEARCH) : ACTION(WRITE),
                   text_read(task, cJSON_GetObjectItemCaseSensitive(answer, "feedback"), CHECK_FEEDBACK_MAX));
    if (reviewing->cut)
        model_task_degrade(task, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, OK, &part_only);
    return true;
}

/* ---- without a model --------------------------------------------------------------------------------------------- */

static void review_draft_fallback(struct model_task *task)
{
    struct draft_reviewing *reviewing = (struct draft_reviewing *)task;
    draft_restart(reviewing);
    reviewing->scores = reviewing->weighed;
    reviewing->scores.fact_check = reviewing->facts;
    draft_conclude(reviewing, reviewing->wanted, model_task_text(task, "", 0));
}

/* ---- before either ----------------------------------------------------------------------------------------------- */

static void review_draft_check_run(struct job *job)
{
    struct draft_reviewing *reviewing = CONTAINER_OF(job, struct draft_reviewing, checking);
    draft_facts_check(reviewing);
    draft_weigh(reviewing);
    draft_keep_found(reviewing);
}

static void review_draft_checked(struct job *job)
{
    struct draft_reviewing *reviewing = CONTAINER_OF(job, struct draft_reviewing, checking);
    struct rpc_call *call = reviewing->task.call;
    struct status st = job->status;
    if (st.code == OK && rpc_call_cancelled(call))
        fail(&st, CANCELLED, "the caller went away");
    if (st.code == OK)
        model_task_start(&reviewing->task);
    else
        rpc_fail(call, &st);
}

static void review_draft_left(struct rpc_call *call, void *data)
{
    struct draft_reviewing *reviewing = data;
    job_cancel(&reviewing->checking);
}

/* Code judges first: facts, coverage and form. */
static void review_draft_check_start(struct draft_reviewing *reviewing)
{
    struct rpc_call *call = reviewing->task.call;
    rpc_call_job(call, &reviewing->checking);
    reviewing->checking.run = review_draft_check_run;
    reviewing->checking.ended = review_draft_checked;
    rpc_call_on_cancel(call, review_draft_left, reviewing);
    job_start(&reviewing->checking, rpc_call_received_bytes(call));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void review_draft_answer(struct model_task *task)
{
    struct draft_reviewing *reviewing = (struct draft_reviewing *)task;
    Renga__V1__ReviewDraftResponse *response = &reviewing->response;
    response->review = &reviewing->review;
    response->usage = &task->usage;
    response->model = UNCONST(task->model);
    response->degradations = task->degradations;
    response->n_degradations = task->degradation_count;
    reviewing->reply(response, task->call);
}

#define MARK   "{\"type\":\"number\"}"
#define STRING "{\"type\":\"string\"}"
static const struct model_task_kind review_draft_kind = {
    .name = "draft",
    .part = "review",
    .schema = "{\"type\":\"object\",\"properties\":{\"scores\":{\"type\":\"object\",\"properties\":{"
              "\"fact_check\":" MARK ",\"completeness\":" MARK ",\"logic\":" MARK ",\"format\":" MARK "},"
              "\"required\":[\"fact_check\",\"completeness\",\"logic\",\"format\"],\"additionalProperties\":false},"
              "\"feedback\":" STRING ",\"suggested_action\":{\"type\":\"string\",\"enum\":[\"research\",\"write\"]},"
              "\"issues\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
              "\"type\":{\"type\":\"string\",\"enum\":[\"fact_check\",\"completeness\",\"logic\",\"format\"]},"
              "\"severity\":{\"type\":\"string\",\"enum\":[\"low\",\"medium\",\"high\"]},"
              "\"description\":" STRING ",\"location\":" STRING "},"
              "\"required\":[\"type\",\"severity\",\"description\",\"location\"],\"additionalProperties\":false}}},"
              "\"required\":[\"scores\",\"feedback\",\"suggested_action\",\"issues\"],\"additionalProperties\":false}",
    .fallback_note = {.ja = "語の網羅と出典だけで評価しました（論理は評価していません）",
                      .en = "the draft was judged by coverage and citations alone, its logic not at all"},
    .describe = review_draft_describe,
    .read = review_draft_read,
    .fallback = review_draft_fallback,
    .reply = review_draft_answer,
};

void review_draft_begin(struct reviewer *reviewer, struct rpc_call *call, const Renga__V1__ReviewDraftRequest *request,
                        Renga__V1__ReviewDraftResponse_Closure reply)
{
    struct status st = {0};
    if (!review_draft_check(request, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct draft_reviewing *reviewing = model_task_create(call, sizeof *reviewing);
    if (!reviewing)
        return;
    reviewing->request = request;
    reviewing->reply = reply;
    renga__v1__review_draft_response__init(&reviewing->response);
    renga__v1__draft_review__init(&reviewing->review);
    renga__v1__draft_scores__init(&reviewing->scores);
    const char *about = request->plan && request->plan->theme[0] ? request->plan->theme : request->draft;
    model_task_init(&reviewing->task, &review_draft_kind, &reviewer->client, call, request->prompting, request->origin,
                    about);
    review_draft_check_start(reviewing);
}
