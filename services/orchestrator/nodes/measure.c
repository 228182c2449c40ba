/* Measures how far a piece of research has come: sources, their mean relevance, and the part of the plan's queries that
 * have found any (ResearchProgress). No model is asked. */
#include "input_job.h"

#include "base/hash.h"

#include <string.h>

enum { MEASURE_OF, MEASURE_SCORE, MEASURE_WANTED, MEASURE_SEARCHES, MEASURE_IMPROVED, MEASURE_INTO };

static const struct node_parameter parameters[] = {
    [MEASURE_OF] = {"of", READS_OBJECTS, REQUIRED, "The sources, an object[] (SearchResult)."},
    [MEASURE_SCORE] = {"score", PARAMETER_TEXT, OPTIONAL,
                       "The member that is a source's relevance, 0 to 1; \"relevance_score\" without it."},
    [MEASURE_WANTED] = {"wanted", READS_STRINGS, REQUIRED, "The queries of the plan, a string[]."},
    [MEASURE_SEARCHES] = {"searches", READS_OBJECTS, REQUIRED,
                          "The searches that were made, an object[] (ResearchSearch: query, result_count)."},
    [MEASURE_IMPROVED] = {"improved", READS_OBJECTS, OPTIONAL,
                          "Queries that stood in for others, an object[] of \"base\" and \"query\": what such a query "
                          "finds, its base has found."},
    [MEASURE_INTO] = {"into", WRITES_OBJECT, REQUIRED,
                      "An object (ResearchProgress: data_count, data_quality, coverage)."},
    {.name = NULL},
};
static const char *const outcomes[] = {"measured", NULL};

/* ---- queries that have a result ---------------------------------------------------------------------------------- */

/* A set of texts that the inputs own. */
struct measure_set {
    const char **slots;
    size_t slot_count; /* more than texts */
};

static bool measure_set_open(struct measure_set *set, struct arena *arena, size_t texts)
{
    set->slot_count = 2 * texts + 1;
    set->slots = arena_zalloc(arena, set->slot_count * sizeof *set->slots);
    return set->slots;
}

/* The slot of the text, or a free slot. */
static const char **measure_slot(const struct measure_set *set, const char *text)
{
    for (size_t at = hash_text(text);; at++) {
        const char **slot = &set->slots[at % set->slot_count];
        if (!*slot || strcmp(*slot, text) == 0)
            return slot;
    }
}

static const char *measure_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static bool measure_found(const cJSON *search)
{
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(search, "result_count");
    return cJSON_IsNumber(count) && count->valuedouble > 0;
}

/* False: no memory. */
static bool measure_gather(struct measure_set *set, const struct service_call *run)
{
    const cJSON *searches = service_call_input(run, MEASURE_SEARCHES),
                *pairs = service_call_input(run, MEASURE_IMPROVED);
    const cJSON *item;
    size_t texts = (size_t)cJSON_GetArraySize(searches) + (size_t)cJSON_GetArraySize(pairs);
    if (!measure_set_open(set, task_arena(run->task), texts))
        return false;
    cJSON_ArrayForEach(item, searches)
    {
        const char *query = measure_text(item, "query");
        if (query && measure_found(item))
            *measure_slot(set, query) = query;
    }
    cJSON_ArrayForEach(item, pairs)
    {
        const char *query = measure_text(item, "query"), *base = measure_text(item, "base");
        if (query && base && *measure_slot(set, query))
            *measure_slot(set, base) = base;
    }
    return true;
}

/* Without queries all is covered once there is a source. */
static double measure_coverage(const struct measure_set *set, const cJSON *wanted, bool any)
{
    const cJSON *query;
    int count = 0, found = 0;
    cJSON_ArrayForEach(query, wanted)
    {
        count++;
        found += cJSON_IsString(query) && *measure_slot(set, query->valuestring);
    }
    return count ? (double)found / count : any;
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

/* The mean of those that have a score within 0 and 1. */
static double measure_quality(const cJSON *sources, const char *name)
{
    const cJSON *source;
    double sum = 0;
    int count = 0;
    cJSON_ArrayForEach(source, sources)
    {
        const cJSON *score = cJSON_GetObjectItemCaseSensitive(source, name);
        if (cJSON_IsNumber(score) && score->valuedouble >= 0 && score->valuedouble <= 1) {
            sum += score->valuedouble;
            count++;
        }
    }
    return count ? sum / count : 0;
}

static bool measure_run(struct input_job *job, struct status *st)
{
    struct measure_set set = {0};
    struct json_writer *out = &job->update.out;
    const cJSON *sources = service_call_input(&job->base, MEASURE_OF);
    const char *score = node_argument(task_node(job->base.task), MEASURE_SCORE)->text;
    if (!measure_gather(&set, &job->base))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the searches");
    json_write_object(out, update_field(job->base.task, MEASURE_INTO));
    json_write_int(out, "data_count", cJSON_GetArraySize(sources));
    json_write_double(out, "data_quality", measure_quality(sources, score ? score : "relevance_score"));
    json_write_double(
        out, "coverage",
        measure_coverage(&set, service_call_input(&job->base, MEASURE_WANTED), sources && sources->child));
    json_write_end(out);
    return true;
}

static const char *measure_finish(struct input_job *job, struct update *update)
{
    (void)job;
    (void)update;
    return outcomes[0];
}

static void measure_start(struct task *task)
{
    input_job_start(task_data(task), task, measure_run, measure_finish);
}

extern const struct node_kind measure_kind;
const struct node_kind measure_kind = {
    .name = "measure",
    .help = "Measures how far a piece of research has come; no model is asked.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct input_job),
    .start = measure_start,
    .cancel = input_job_cancel,
};
