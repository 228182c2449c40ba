/* ImproveQueries: replaces each search query by a better query, after a reviewer's feedback. */
#include "planner_priv.h"

#include "base/text.h"
#include "model_task/check.h"
#include "model_task/texts.h"
#include "words/sentences.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#define QUERIES_MAX   16
#define MISSING_BYTES ((size_t)160) /* of a missing point or claim in a query */
#define MISSING_LEAST 3
#define NAME_BYTES    ((size_t)240) /* of the theme in a query */

struct improvement {
    struct model_task task; /* first */
    const Renga__V1__ImproveQueriesRequest *request;
    Renga__V1__ImproveQueriesResponse_Closure reply;
    Renga__V1__ImproveQueriesResponse response;
};

static void improve_describe(struct model_task *task, cJSON *values)
{
    const Renga__V1__ImproveQueriesRequest *request = ((struct improvement *)task)->request;
    cJSON *queries = cJSON_AddArrayToObject(values, "base_queries");
    for (size_t i = 0; i < request->n_base_queries; i++)
        cJSON_AddItemToArray(queries, cJSON_CreateString(request->base_queries[i]));
    cJSON_AddStringToObject(values, "feedback", request->feedback);
    text_describe(task, values, "theme", request->theme);
}

/* An array with a slot for each query of the request; NULL if out of memory. */
static char **queries_of(struct model_task *task)
{
    struct improvement *improvement = (struct improvement *)task;
    size_t count = improvement->request->n_base_queries;
    improvement->response.queries = model_task_alloc(task, count * sizeof(*improvement->response.queries));
    improvement->response.n_queries = improvement->response.queries ? count : 0;
    return improvement->response.queries;
}

static bool improve_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    const Renga__V1__ImproveQueriesRequest *request = ((struct improvement *)task)->request;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "improved_queries"), *item = list ? list->child : NULL;
    size_t given = (size_t)cJSON_GetArraySize(list);
    if (given != request->n_base_queries)
        return fail(st, DATA_LOSS,
                    "improved_queries: there are %zu; write exactly %zu, one for each query, in their order", given,
                    request->n_base_queries);
    char **queries = queries_of(task);
    for (size_t i = 0; queries && item; i++, item = item->next) {
        queries[i] = text_read(task, item, QUERY_MAX);
        if (!*queries[i])
            queries[i] = request->base_queries[i];
    }
    return true;
}

/* ---- without a model --------------------------------------------------------------------------------------------- */

static bool wants_recent(const char *feedback)
{
    static const char *const words[] = {"最新",   "最近",       "新しい",     "直近",     "recent", "latest",
                                        "newest", "up to date", "up-to-date", "outdated", "current"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(feedback, words[i]))
            return true;
    return false;
}

static int this_year(void)
{
    struct tm now;
    time_t seconds = time(NULL);
    return gmtime_r(&seconds, &now) ? now.tm_year + 1900 : 1970;
}

/* What a feedback misses: points in quotation marks, and claims behind words of the reviewer. */
struct missing {
    struct span list[QUERIES_MAX];
    size_t count;
};

static void missing_add(struct missing *missing, const char *feedback, const char *begin, size_t length)
{
    length = text_cut(begin, length, MISSING_BYTES);
    if (length >= MISSING_LEAST && missing->count < QUERIES_MAX)
        missing->list[missing->count++] =
            (struct span){(size_t)(begin - feedback), (size_t)(begin - feedback) + length};
}

/* A line of the feedback. A quotation that is longer than a point is a claim that a source contradicts. */
static void missing_read_line(struct missing *missing, const char *feedback, const char *line, size_t length)
{
    static const char *const marks[][2] = {{"「", "」"}, {"\"", "\""}, {"“", "”"}};
    static const char *const claims[] = {"No source supports this: ", "No source has a number of this: ",
                                         "情報源に裏付けがありません: ", "どの情報源にもない数値があります: "};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const char *found = memmem(line, length, claims[i], strlen(claims[i]));
        if (!found)
            continue;
        found += strlen(claims[i]);
        missing_add(missing, feedback, found, (size_t)(line + length - found));
        return;
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *begin = memmem(line, length, marks[i][0], strlen(marks[i][0]));
        begin = begin ? begin + strlen(marks[i][0]) : NULL;
        const char *end =
            begin ? memmem(begin, (size_t)(line + length - begin), marks[i][1], strlen(marks[i][1])) : NULL;
        if (!end)
            continue;
        if ((size_t)(end - begin) <= MISSING_BYTES)
            missing_add(missing, feedback, begin, (size_t)(end - begin));
        return;
    }
}

static void missing_read(struct missing *missing, const char *feedback)
{
    missing->count = 0;
    for (const char *line = feedback; *line;) {
        size_t length = strcspn(line, "\n");
        missing_read_line(missing, feedback, line, length);
        line += length + (line[length] == '\n');
    }
}

/* The name in the theme and the words that are missing. */
static const char *improve_for(struct model_task *task, const struct span *words)
{
    const Renga__V1__ImproveQueriesRequest *request = ((struct improvement *)task)->request;
    const char *name = request->theme[0] ? research_theme_name(task, request->theme) : "";
    size_t kept = text_cut(name, strlen(name), NAME_BYTES);
    return model_task_printf(task, "%.*s%s%.*s", (int)kept, name, kept ? " " : "", (int)(words->end - words->begin),
                             request->feedback + words->begin);
}

/* Each missing point of the feedback replaces a query, beginning with the first. If the feedback asks for recent
 * results, "latest" and the year are added to each query. */
static void improve_fallback(struct model_task *task)
{
    const Renga__V1__ImproveQueriesRequest *request = ((struct improvement *)task)->request;
    char **queries = queries_of(task);
    bool recent = wants_recent(request->feedback);
    struct missing missing;
    missing_read(&missing, request->feedback);
    for (size_t i = 0; queries && i < request->n_base_queries; i++) {
        const char *query = i < missing.count ? improve_for(task, &missing.list[i]) : request->base_queries[i];
        const char *word = task->japanese ? "最新" : "latest";
        char *longer = recent ? model_task_printf(task, "%s %s %d", query, word, this_year()) : NULL;
        queries[i] = longer && strlen(longer) <= QUERY_MAX ? longer : UNCONST(query);
    }
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void improve_answer(struct model_task *task)
{
    struct improvement *improvement = (struct improvement *)task;
    Renga__V1__ImproveQueriesResponse *response = &improvement->response;
    response->usage = &task->usage;
    response->model = UNCONST(task->model);
    response->degradations = task->degradations;
    response->n_degradations = task->degradation_count;
    improvement->reply(response, task->call);
}

static const struct model_task_kind improve_kind = {
    .name = "improve",
    .part = "queries",
    .schema = "{\"type\":\"object\",\"properties\":{\"improved_queries\":{\"type\":\"array\",\"items\":{\"type\":"
              "\"string\"}}},"
              "\"required\":[\"improved_queries\"],\"additionalProperties\":false}",
    .fallback_note = {.ja = "検索クエリは元のままか、指摘された不足を規則で組み込んだものです",
                      .en = "the queries are as they were, or were made by rule of what the feedback misses"},
    .describe = improve_describe,
    .read = improve_read,
    .fallback = improve_fallback,
    .reply = improve_answer,
};

void improve_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__ImproveQueriesRequest *request,
                   Renga__V1__ImproveQueriesResponse_Closure reply)
{
    struct status st = {0};
    if (!check_model_request(&request->base, request->prompting, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct improvement *improvement = model_task_create(call, sizeof *improvement);
    if (!improvement)
        return;
    improvement->request = request;
    improvement->reply = reply;
    renga__v1__improve_queries_response__init(&improvement->response);
    model_task_init(&improvement->task, &improve_kind, &planner->client, call, request->prompting, request->origin,
                    request->base_queries[0]);
    if (!text_is_blank(request->feedback)) {
        model_task_start(&improvement->task);
        return;
    }
    improvement->response.queries = request->base_queries;
    improvement->response.n_queries = request->n_base_queries;
    model_task_rule(&improvement->task);
}
