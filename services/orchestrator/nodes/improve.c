/* Asks the planner to rewrite search queries after feedback: a new query for each, in their order. */
#include "service_call.h"

#include "base/text.h"

#include "renga/v1/planner.pb-c.h"

#include <string.h>

#define IMPROVED_MAX 16             /* as ImproveQueriesRequest.base_queries */
#define QUERY_MAX    ((size_t)1024) /* bytes, likewise */

enum { IMPROVE_QUERIES, IMPROVE_FEEDBACK, IMPROVE_THEME, IMPROVE_INTO, IMPROVE_PAIRS, IMPROVE_PROMPTING };

static const struct node_parameter parameters[] = {
    [IMPROVE_QUERIES] =
        {"queries", READS_STRINGS, REQUIRED,
         "The queries so far, a string[], of which the first 16 are taken. Without any, the theme is the one query."},
    [IMPROVE_FEEDBACK] = {"feedback", READS_STRING, REQUIRED, "What was missed, a string; empty changes no query."},
    [IMPROVE_THEME] = {"theme", READS_STRING, OPTIONAL, "What is being studied, a string."},
    [IMPROVE_INTO] = {"into", WRITES_STRINGS, REQUIRED, "Better ones, a string[]."},
    [IMPROVE_PAIRS] = {"pairs", WRITES_OBJECTS, OPTIONAL,
                       "An object[] that gets {\"base\", \"query\"} for each query that is another one now."},
    PROMPTING_ROWS(IMPROVE_PROMPTING),
    {.name = NULL},
};
static const char *const outcomes[] = {"improved", NULL};

struct improving {
    struct service_call base; /* first */
    Renga__V1__ImproveQueriesRequest request;
    char *only[1];
};

static void improve_write_pairs(const struct improving *improving, const Renga__V1__ImproveQueriesResponse *answer,
                                struct json_writer *out)
{
    const Renga__V1__ImproveQueriesRequest *request = &improving->request;
    const char *pairs = update_field(improving->base.task, IMPROVE_PAIRS);
    if (!pairs)
        return;
    json_write_array(out, pairs);
    for (size_t i = 0; i < answer->n_queries && i < request->n_base_queries; i++) {
        if (strcmp(answer->queries[i], request->base_queries[i]) == 0)
            continue;
        json_write_object(out, NULL);
        json_write_string(out, "base", request->base_queries[i]);
        json_write_string(out, "query", answer->queries[i]);
        json_write_end(out);
    }
    json_write_end(out);
}

static void improve_answered(const Renga__V1__ImproveQueriesResponse *answer, void *data)
{
    struct improving *improving = ((struct rpc_client_call *)data)->owner;
    struct task *task = improving->base.task;
    struct update update;
    if (!answer) {
        service_call_failed(&improving->base);
        return;
    }
    update_begin(&update);
    json_write_strings(&update.out, update_field(task, IMPROVE_INTO), answer->queries, answer->n_queries);
    improve_write_pairs(improving, answer, &update.out);
    update.response.usage = answer->usage;
    update.response.degradations = answer->degradations;
    update.response.n_degradations = answer->n_degradations;
    update_finish(&update, task, outcomes[0]);
}

/* A theme may be longer than a query. */
static void improve_take_theme(struct improving *improving)
{
    char *theme = improving->request.theme;
    size_t length = strlen(theme);
    improving->only[0] = arena_strndup(task_arena(improving->base.task), theme, text_cut(theme, length, QUERY_MAX));
    improving->request.base_queries = improving->only;
    improving->request.n_base_queries = improving->only[0] && *improving->only[0];
}

static bool improve_write_request(struct improving *improving, struct status *st)
{
    struct service_call *base = &improving->base;
    Renga__V1__ImproveQueriesRequest *request = &improving->request;
    renga__v1__improve_queries_request__init(request);
    if (!service_call_texts(base, IMPROVE_QUERIES, &request->base_queries, &request->n_base_queries, st))
        return false;
    if (request->n_base_queries > IMPROVED_MAX)
        request->n_base_queries = IMPROVED_MAX;
    request->feedback = service_call_text(base, IMPROVE_FEEDBACK);
    request->theme = service_call_text(base, IMPROVE_THEME);
    if (!request->n_base_queries)
        improve_take_theme(improving);
    service_call_prompt(base, IMPROVE_PROMPTING);
    request->prompting = &base->prompting;
    request->origin = &base->origin;
    return true;
}

static void improve_start(struct task *task)
{
    struct improving *improving = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&improving->base, task, PEER_PLANNER, &st) && improve_write_request(improving, &st);
    service_call_close(&improving->base);
    if (good)
        renga__v1__planner__improve_queries(improving->base.peer, &improving->request, improve_answered,
                                            &improving->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind improve_kind;
const struct node_kind improve_kind = {
    .name = "improve",
    .help = "Has the planner rewrite search queries after feedback.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct improving),
    .start = improve_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
    .has_fallback = true,
};
