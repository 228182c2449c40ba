/* Searches the knowledge base, the web and other sources of the tool-runner: for graphs that know the query, so that no
 * model has to choose. The search has the idempotency key of its task: a paid search is sent once, even if the task is
 * repeated after a crash. */
#include "search_results.h"
#include "service_call.h"

#include "base/text.h"
#include "rpc/message_json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define SEARCH_HITS_MAX       100 /* as SearchRequest.limit */
#define SEARCH_OUTSIDE_MAX    20  /* likewise, if an outside source may be asked */
#define SEARCH_HITS_DEFAULT   10
#define SEARCH_PARAGRAPHS_MAX 20
#define SEARCH_TEXT_MAX       ((size_t)4096) /* bytes of a hit beside results */

enum {
    SEARCH_QUERY,
    SEARCH_COLLECTIONS,
    SEARCH_SOURCES,
    SEARCH_INTO,
    SEARCH_MODE,
    SEARCH_LIMIT,
    SEARCH_LIMIT_OF,
    SEARCH_RESULTS,
    SEARCH_PARAGRAPHS,
};

static const struct node_parameter parameters[] = {
    [SEARCH_QUERY] = {"query", READS_STRING, REQUIRED, "What is looked for, a string."},
    [SEARCH_COLLECTIONS] = {"collections", READS_STRINGS, OPTIONAL,
                            "Collections of the knowledge base, a string[]; all where it is empty."},
    [SEARCH_SOURCES] = {"sources", READS_STRINGS, OPTIONAL,
                        "Sources to ask, a string[]: \"documents\", \"internal\", \"web\", or names of "
                        "tool_runner.search; the knowledge base where it is empty."},
    [SEARCH_INTO] = {"into", WRITES_OBJECTS, REQUIRED, "The hits, an object[] (SearchHit)."},
    [SEARCH_MODE] = {"mode", PARAMETER_TEXT, OPTIONAL, "\"hybrid\" (the default), \"lexical\" or \"vector\"."},
    [SEARCH_LIMIT] = {"limit", PARAMETER_INTEGER, OPTIONAL,
                      "Most hits; 10 where it is not said; at most 20 of sources outside."},
    [SEARCH_LIMIT_OF] = {"limit_of", READS_INTEGER, OPTIONAL,
                         "An integer, one of the inputs, that says how many hits in place of \"limit\"."},
    [SEARCH_RESULTS] =
        {"results", WRITES_OBJECTS, OPTIONAL,
         "An object[] that gets each address once, with at most 500 characters of what it says (SearchResult). "
         "\"into\" then has the hits of these addresses, with at most 4,096 bytes of text."},
    [SEARCH_PARAGRAPHS] = {"paragraphs", PARAMETER_INTEGER, OPTIONAL,
                           "With \"results\", where the knowledge base alone is asked: how many hits are asked for "
                           "each result, 1 to 20, as a document has several paragraphs; 1 without it."},
    {.name = NULL},
};
static const char *const outcomes[] = {"found", "nothing", NULL};
static const char *const mode_words[] = {"hybrid", "lexical", "vector", NULL};
static const Renga__V1__SearchMode modes[] = {
    RENGA__V1__SEARCH_MODE__SEARCH_MODE_HYBRID,
    RENGA__V1__SEARCH_MODE__SEARCH_MODE_LEXICAL,
    RENGA__V1__SEARCH_MODE__SEARCH_MODE_VECTOR,
};

static bool search_node_check(const struct node *node, struct status *st)
{
    if (node_argument(node, SEARCH_PARAGRAPHS)->number > SEARCH_PARAGRAPHS_MAX)
        return fail_field(st, "paragraphs", "must be 1 to %d", SEARCH_PARAGRAPHS_MAX);
    if (node_argument(node, SEARCH_PARAGRAPHS)->number && !node_argument(node, SEARCH_RESULTS)->field)
        return fail_field(st, "paragraphs", "are of results; add \"results\"");
    return word_check(node, SEARCH_MODE, mode_words, st) >= 0;
}

struct search {
    struct service_call base; /* first */
    Renga__V1__SearchRequest request;
    int32_t wanted; /* results; 0: not said */
};

/* How many results are wanted. */
static int32_t search_wanted(const struct search *search)
{
    return search->wanted ? search->wanted : SEARCH_HITS_DEFAULT;
}

static bool search_is_inside(const Renga__V1__SearchRequest *request)
{
    for (size_t i = 0; i < request->n_sources; i++)
        if (strcmp(request->sources[i], "documents") != 0 && strcmp(request->sources[i], "internal") != 0)
            return false;
    return true;
}

/* A document may have many paragraphs that fit, and is a single result. */
static int32_t search_limit(const struct search *search)
{
    int64_t paragraphs = node_argument(task_node(search->base.task), SEARCH_PARAGRAPHS)->number;
    int64_t most = search_wanted(search) * (paragraphs ? paragraphs : 1);
    if (paragraphs < 2 || !search_is_inside(&search->request) || search_wanted(search) >= SEARCH_OUTSIDE_MAX)
        return search->wanted;
    return (int32_t)(most < SEARCH_OUTSIDE_MAX ? most : SEARCH_OUTSIDE_MAX);
}

/* Beside results a long text is cut, so that the hits of many searches side by side fit into a field. */
static void search_write_hit(struct update *update, const struct search *search, const Renga__V1__SearchHit *hit,
                             bool short_text)
{
    Renga__V1__SearchHit shown = *hit;
    size_t length = strlen(hit->snippet), most = text_cut(hit->snippet, length, SEARCH_TEXT_MAX);
    if (short_text && most < length)
        shown.snippet = arena_strndup(task_arena(search->base.task), hit->snippet, most);
    if (shown.snippet)
        message_write_json(&update->out, NULL, &shown.base);
}

static void search_write_hits(struct update *update, const struct search *search,
                              const Renga__V1__SearchResponse *answer)
{
    const char *name = update_field(search->base.task, SEARCH_RESULTS);
    struct search_results results;
    if (name)
        search_results_sort(&results, answer->hits, answer->n_hits, (size_t)search_wanted(search));
    json_write_array(&update->out, update_field(search->base.task, SEARCH_INTO));
    for (size_t i = 0; i < answer->n_hits; i++)
        if (!name || (i < results.count && results.of[i] >= 0))
            search_write_hit(update, search, answer->hits[i], name != NULL);
    json_write_end(&update->out);
    if (!name)
        return;
    json_write_array(&update->out, name);
    search_results_write(&results, &update->out);
    json_write_end(&update->out);
}

static void search_node_searched(const Renga__V1__SearchResponse *answer, void *data)
{
    struct search *search = ((struct rpc_client_call *)data)->owner;
    struct update update;
    if (!answer) {
        service_call_failed(&search->base);
        return;
    }
    update_begin(&update);
    search_write_hits(&update, search, answer);
    update.response.usage = answer->usage;
    update.response.degradations = answer->degradations;
    update.response.n_degradations = answer->n_degradations;
    update_finish(&update, search->base.task, outcomes[answer->n_hits ? 0 : 1]);
}

static int32_t search_told(const struct search *search)
{
    const cJSON *told = service_call_input(&search->base, SEARCH_LIMIT_OF);
    if (cJSON_IsNumber(told) && told->valuedouble >= 1 && told->valuedouble <= SEARCH_HITS_MAX)
        return (int32_t)told->valuedouble;
    return (int32_t)node_argument(task_node(search->base.task), SEARCH_LIMIT)->number;
}

static bool search_write_request(struct search *search, struct status *st)
{
    const struct node *node = task_node(search->base.task);
    renga__v1__search_request__init(&search->request);
    search->request.query = service_call_text(&search->base, SEARCH_QUERY);
    search->request.mode = modes[word_check(node, SEARCH_MODE, mode_words, st)];
    search->wanted = search_told(search);
    search->request.origin = &search->base.origin;
    search->request.idempotency_key = task_request(search->base.task)->idempotency_key;
    if (!service_call_texts(&search->base, SEARCH_SOURCES, &search->request.sources, &search->request.n_sources, st) ||
        !service_call_texts(&search->base, SEARCH_COLLECTIONS, &search->request.collections,
                            &search->request.n_collections, st))
        return false;
    search->request.limit = search_limit(search);
    return true;
}

static void start(struct task *task)
{
    struct search *search = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&search->base, task, PEER_TOOL_RUNNER, &st) && search_write_request(search, &st);
    service_call_close(&search->base);
    if (good)
        renga__v1__tool_runner__search(search->base.peer, &search->request, search_node_searched, &search->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind search_kind;
const struct node_kind search_kind = {
    .name = "search",
    .help = "Searches the knowledge base, the web and other sources.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = search_node_check,
    .size = sizeof(struct search),
    .start = start,
    .cancel = service_call_cancel,
    .travels = true,
};
