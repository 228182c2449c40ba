#include "search/search.h"

#include "base/clock.h"
#include "base/text.h"
#include "instance/tool_runner_instance.h"
#include "record/records.h"
#include "record/request_name.h"
#include "search/fuse.h"
#include "search/search_priv.h"

#include <stdlib.h>
#include <string.h>

#define SEARCH_MS           60000 /* the longest search */
#define SEARCH_EMBED_MS     10000 /* how long it waits for the vector of its query */
#define SEARCH_SPARE_MAX_MS 500   /* left of the caller's time, for the answer of the sources that were in time */
#define SEARCH_BYTES_MAX    ((size_t)32 << 20)

enum search_stage { SEARCH_CHECKED, SEARCH_LOCK, SEARCH_READ, SEARCH_VECTOR, SEARCH_LEGS, SEARCH_OVER };

static void search_step(struct search *search);

void search_advance(struct search *search)
{
    search->waits--;
    search_step(search);
}

void search_degrade(struct search *search, const char *part, Renga__V1__DegradationKind kind, enum status_code code,
                    const char *reason)
{
    if (search->degradation_count == SEARCH_DEGRADATIONS_MAX)
        return;
    Renga__V1__Degradation *degradation = &search->degradations[search->degradation_count];
    renga__v1__degradation__init(degradation);
    degradation->part = arena_strdup(&search->arena, part);
    degradation->reason = arena_strdup(&search->arena, reason);
    degradation->kind = kind;
    degradation->status_code = (int32_t)code;
    search->degradation_count += degradation->part && degradation->reason;
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

static void search_key_lock_granted(struct key_lock *key_lock)
{
    search_advance(CONTAINER_OF(key_lock, struct search, key_lock));
}

static void search_acquire_key_lock(struct search *search)
{
    if (!search->idempotency_key[0])
        return;
    search->key_lock = (struct key_lock){.loop = search->runner->loop, .granted = search_key_lock_granted};
    search->has_key_lock = true;
    if (!key_lock_acquire(search->runner->shared->key_locks, &search->key_lock, search->name.tenant, search->name.key))
        search->waits++;
}

static void search_rows_read(struct store_scan *scan)
{
    struct search *search = CONTAINER_OF(scan, struct search, rows);
    if (scan->status.code != OK)
        fail(&search->status, UNAVAILABLE, "the record of searches cannot be read: %.400s", scan->status.text);
    search_advance(search);
}

static void search_read_record(struct search *search)
{
    if (!search->idempotency_key[0])
        return;
    search->store = records_open(search->runner->shared->records, search->runner->loop, &search->status);
    if (!search->store)
        return;
    store_scan_init(&search->rows, search->runner->loop, search_rows_read);
    record_range(&search->arena, &search->name, &search->rows.from, &search->rows.to);
    if (search->arena.exhausted) {
        fail(&search->status, RESOURCE_EXHAUSTED, "no memory for a search");
        return;
    }
    search->scanned = true;
    search->waits++;
    store_scan(search->store, &search->rows);
}

/* ---- the vector -------------------------------------------------------------------------------------------------- */

static bool search_wants_vector(const struct search *search)
{
    const struct search_sources *sources = search->runner->shared->sources;
    for (size_t i = 0; i < sources->count; i++) { /* stand-ins too */
        const struct search_source *source = &sources->sites[i]->setup->source;
        if (source->provider->wants_vector && source->provider->wants_vector(source))
            for (size_t k = 0; k < search->subquery_count; k++)
                if (search->subqueries[k]->site == sources->sites[i])
                    return true;
    }
    return false;
}

static void search_vector_received(struct embedding *embedding, const Renga__V1__EmbedResponse *response)
{
    struct search *search = CONTAINER_OF(embedding, struct search, embedding);
    const Renga__V1__Embedding *first = response ? response->embeddings[0] : NULL;
    search->embeds = false;
    if (first) {
        search->vector = arena_copy(&search->arena, first->values, first->n_values * sizeof *first->values);
        search->dimensions = search->vector ? first->n_values : 0;
    } else if (!search->cancelled) {
        search_degrade(search, "vectors", RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL,
                       embedding->call.status.code, embedding->call.status.text);
    }
    if (response && response->usage) {
        search->usage.input_tokens += response->usage->input_tokens;
        search->usage.model_calls += response->usage->model_calls;
        search->usage.cost_micros += response->usage->cost_micros;
        search->usage.estimated |= response->usage->estimated;
    }
    search_advance(search);
}

static void source_call_vector(struct search *search)
{
    struct knowledge *knowledge = search->runner->shared->knowledge;
    struct rpc_client_call *call = &search->embedding.call;
    int64_t left_ms = (search->deadline_ns - clock_now_ns()) / NS_PER_MS;
    if (!search_wants_vector(search))
        return;
    if (!knowledge->embedding_model) {
        search_degrade(search, "vectors", RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, FAILED_PRECONDITION,
                       "no vector of the query was made: set tool_runner.embedding_model");
        return;
    }
    search->embedding.knowledge = knowledge;
    search->embedding.inputs = &search->query;
    search->embedding.count = 1;
    search->embedding.priority = RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE;
    search->embedding.received = search_vector_received;
    rpc_client_call_init(call, search->runner->loop, search->place.parent);
    call->trace = search->place.trace;
    call->principal = search->place.principal;
    call->timeout_ms = left_ms < SEARCH_EMBED_MS ? (left_ms > 1 ? left_ms : 1) : SEARCH_EMBED_MS;
    search->embeds = true;
    search->waits++;
    embedding_begin(&search->embedding);
}

/* ---- the subqueries
 * ---------------------------------------------------------------------------------------------------- */

static void search_start_legs(struct search *search)
{
    size_t count = search->subquery_count; /* stand-ins come behind them */
    search->waits++;                       /* subqueries may be over at once */
    for (size_t i = 0; i < count; i++)
        search_subquery_start(search->subqueries[i]);
    search->waits--;
}

static bool search_is_replaced(const struct search *search, const struct search_subquery *failed)
{
    for (size_t i = 0; failed->is_replaced && i < search->subquery_count; i++)
        if (search->subqueries[i]->replaces == search_subquery_name(failed))
            return search->subqueries[i]->status.code == OK || search_is_replaced(search, search->subqueries[i]);
    return false;
}

static void search_report_subquery(struct search *search, const struct search_subquery *subquery)
{
    bool replaced = search_is_replaced(search, subquery);
    if (subquery->status.code != OK)
        search_degrade(search, search_subquery_name(subquery),
                       replaced ? RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK
                                : RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL,
                       subquery->status.code, subquery->status.text);
    else if (subquery->partial)
        search_degrade(search, search_subquery_name(subquery), RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL,
                       OK, subquery->partial);
}

/* The reason why there is no answer: of the caller's own fault, or of the first source. */
static bool search_legs_failed(struct search *search)
{
    bool any = false;
    for (size_t i = 0; i < search->subquery_count; i++) {
        const struct search_subquery *subquery = search->subqueries[i];
        if (subquery->status.field[0]) {
            search->status = subquery->status;
            return true;
        }
        any |= subquery->status.code == OK;
    }
    if (!any)
        search->status = search->subqueries[0]->status;
    return !any;
}

static size_t search_gather(const struct search *search, struct fuse_list *lists)
{
    size_t count = 0;
    for (size_t i = 0; i < search->subquery_count; i++) {
        const struct search_subquery *subquery = search->subqueries[i];
        Renga__V1__SearchHit **next = subquery->hits;
        for (size_t k = 0; subquery->status.code == OK && k < subquery->list_count; k++) {
            const struct search_setup *setup = subquery->site ? subquery->site->setup : NULL;
            if (subquery->lists[k])
                lists[count++] = (struct fuse_list){.hits = next,
                                                    .count = subquery->lists[k],
                                                    .of_web = setup && strcmp(setup->group, SEARCH_WEB) == 0,
                                                    .keeps_scores = !setup || setup->source.provider->scores_compare};
            next += subquery->lists[k];
        }
    }
    return count;
}

static void search_fuse(struct search *search)
{
    struct fuse_list lists[SEARCH_SUBQUERIES_MAX * SEARCH_LISTS_MAX];
    size_t count, kept = 0;
    if (search_legs_failed(search))
        return;
    for (size_t i = 0; i < search->subquery_count; i++)
        search_report_subquery(search, search->subqueries[i]);
    count = search_gather(search, lists);
    search->hits = arena_alloc(&search->arena, (size_t)search->limit * sizeof(*search->hits));
    search->hit_count =
        search->hits ? fuse_lists(&search->arena, lists, count, search->hits, (size_t)search->limit) : 0;
    for (size_t i = 0; i < search->hit_count; i++)
        if (search->hits[i]->score >= search->min_score)
            search->hits[kept++] = search->hits[i];
    search->hit_count = kept;
    if (search->arena.exhausted)
        fail(&search->status, RESOURCE_EXHAUSTED, "no memory for the results");
}

/* ---- its way ----------------------------------------------------------------------------------------------------- */

static void search_enter(struct search *search)
{
    switch (search->stage) {
    case SEARCH_LOCK:
        search_acquire_key_lock(search);
        return;
    case SEARCH_READ:
        search_read_record(search);
        return;
    case SEARCH_VECTOR:
        source_call_vector(search);
        return;
    case SEARCH_LEGS:
        search_start_legs(search);
        return;
    default:
        return;
    }
}

static void search_end(struct search *search)
{
    if (search->has_key_lock)
        key_lock_release(search->runner->shared->key_locks, &search->key_lock);
    search->has_key_lock = false;
    if (search->cancelled)
        fail(&search->status, CANCELLED, "the caller left");
    else if (search->status.code == OK)
        search_fuse(search);
    search->ended(search);
}

static void search_step(struct search *search)
{
    while (!search->waits && !search->cancelled && search->status.code == OK && search->stage != SEARCH_OVER) {
        search->stage++;
        search_enter(search);
    }
    if (!search->waits)
        search_end(search);
}

static void search_deferred(struct work *work)
{
    search_advance(CONTAINER_OF(work, struct search, step));
}

/* `ended` never runs within a function of search.h. */
static void search_step_later(struct search *search)
{
    if (search->step.queued)
        return;
    search->waits++;
    search->step.run = search_deferred;
    loop_defer(search->runner->loop, &search->step);
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

void search_init(struct search *search, struct tool_runner *runner)
{
    *search = (struct search){.runner = runner, .idempotency_key = "", .thread_id = "", .run_id = ""};
    renga__v1__usage__init(&search->usage);
    arena_init(&search->arena, NULL, 0, SEARCH_BYTES_MAX);
}

static bool search_check(const struct search *search, struct status *st)
{
    size_t length = strlen(search->query), tenant = strlen(search->place.principal->tenant);
    if (text_is_blank(search->query))
        return fail_field(st, "query", "is empty; say what is looked for");
    if (length > SEARCH_QUERY_MAX)
        return fail_field(st, "query", "has %zu bytes; at most %d are possible", length, SEARCH_QUERY_MAX);
    if (search->source_count > SEARCH_NAMES_MAX)
        return fail_field(st, "sources", "are %zu; at most %d are possible", search->source_count, SEARCH_NAMES_MAX);
    if (search->limit < 0 || search->limit > SEARCH_LIMIT_MAX)
        return fail_field(st, "limit", "is %d; 1 to %d are possible where a source outside is asked, and 0 means %d",
                          search->limit, SEARCH_LIMIT_MAX, SEARCH_LIMIT);
    if (!(search->min_score >= 0 && search->min_score <= 1))
        return fail_field(st, "min_score", "is %g; 0 to 1 are possible", search->min_score);
    if (search->idempotency_key[0] && tenant > RECORD_TENANT_MAX)
        return fail(st, FAILED_PRECONDITION, "the tenant's name has %zu bytes; at most %d are allowed", tenant,
                    RECORD_TENANT_MAX);
    return request_check_name("idempotency_key", search->idempotency_key, SEARCH_KEY_MAX, false, st) &&
           request_check_name("origin.thread_id", search->thread_id, SEARCH_KEY_MAX, false, st) &&
           request_check_name("origin.run_id", search->run_id, SEARCH_KEY_MAX, false, st);
}

/* Of the caller's time a little is left, so that a slow source does not take the answers of the others along. */
static int64_t search_deadline(const struct search *search)
{
    int64_t now_ns = clock_now_ns(), longest_ns = now_ns + SEARCH_MS * NS_PER_MS;
    int64_t callers_ns = search->place.deadline_ns;
    if (callers_ns >= longest_ns)
        return longest_ns;
    int64_t spare_ns = (callers_ns - now_ns) / 10;
    return callers_ns - (spare_ns < SEARCH_SPARE_MAX_MS * NS_PER_MS ? spare_ns : SEARCH_SPARE_MAX_MS * NS_PER_MS);
}

bool search_start(struct search *search, struct status *st)
{
    if (!search_check(search, st))
        return false;
    search->limit = search->limit ? search->limit : SEARCH_LIMIT;
    search->deadline_ns = search_deadline(search);
    search->name = (struct record_name){.tenant = search->place.principal->tenant,
                                        .key = search->idempotency_key,
                                        .thread = search->thread_id,
                                        .run = search->run_id};
    if (!search_choose(search, st))
        return false;
    search_step_later(search);
    return true;
}

void search_cancel(struct search *search)
{
    if (search->cancelled || search->stage == SEARCH_OVER)
        return;
    search->cancelled = true;
    search_step_later(search); /* parts of it may end at once */
    if (search->stage == SEARCH_LOCK && search->has_key_lock &&
        key_lock_release(search->runner->shared->key_locks, &search->key_lock)) {
        search->has_key_lock = false;
        search->waits--;
    }
    if (search->embeds)
        rpc_client_call_cancel(&search->embedding.call);
    for (size_t i = 0; i < search->subquery_count; i++)
        search_subquery_cancel(search->subqueries[i]);
}

void search_fini(struct search *search)
{
    for (size_t i = 0; i < search->subquery_count; i++)
        search_subquery_fini(search->subqueries[i]);
    if (search->scanned)
        store_scan_fini(&search->rows);
    arena_fini(&search->arena);
}
