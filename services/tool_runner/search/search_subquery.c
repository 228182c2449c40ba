/* A single source of a search: the record before and after it, its answer as hits.
 *
 *      record: answered before? --- yes ---------------------------------------------------> over
 *         '--- no --> begun on disk (paid alone) --> asked --> ended on disk --> stand-in? --> over */
#include "search/search_priv.h"

#include "base/log.h"
#include "instance/tool_runner_instance.h"
#include "search/observe.h"
#include "words/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK_CONSTANT 60.0

const char *search_subquery_name(const struct search_subquery *subquery)
{
    return subquery->site ? subquery->site->setup->source.name : SEARCH_DOCUMENTS;
}

static bool subquery_is_recorded(const struct search_subquery *subquery)
{
    return subquery->site && subquery->search->idempotency_key[0];
}

static void subquery_over(struct search_subquery *subquery)
{
    struct search *search = subquery->search;
    struct search_subquery *other = NULL;
    subquery->is_over = true;
    if (subquery->status.code != OK && !search->cancelled && !subquery->status.field[0])
        other = search_stand_in(search, subquery);
    if (other) {
        subquery->is_replaced = true;
        search_observe_stand_in(search->runner, search_subquery_name(other));
        search_subquery_start(other);
    }
    search_advance(search);
}

/* ---- the answer as hits ------------------------------------------------------------------------------------------ */

static double subquery_score(const struct search_subquery *subquery, const struct search_answer *answer, size_t i)
{
    double score = answer->results[i].score;
    if (subquery->site->setup->source.provider->scores_compare && !isnan(score))
        return fmin(fmax(score, 0), 1);
    return (RANK_CONSTANT + 1) / (RANK_CONSTANT + answer->rank[i]);
}

static Renga__V1__SearchHit *subquery_hit(struct search_subquery *subquery, size_t i)
{
    const struct search_result *result = &subquery->call.answer.results[i];
    Renga__V1__SearchHit *hit = arena_alloc(&subquery->search->arena, sizeof *hit);
    if (!hit)
        return NULL;
    renga__v1__search_hit__init(hit);
    hit->source = (char *)(uintptr_t)search_subquery_name(subquery);
    hit->uri = (char *)(uintptr_t)result->uri;
    hit->title = (char *)(uintptr_t)result->title;
    hit->snippet = (char *)(uintptr_t)result->snippet;
    hit->published_date = (char *)(uintptr_t)result->published_date;
    hit->score = subquery_score(subquery, &subquery->call.answer, i);
    return hit;
}

static bool subquery_take_answer(struct search_subquery *subquery)
{
    const struct search_answer *answer = &subquery->call.answer;
    subquery->hits = arena_alloc(&subquery->search->arena, (answer->count + 1) * sizeof(*subquery->hits));
    subquery->list_count = answer->lists;
    subquery->partial = answer->partial;
    for (size_t i = 0, taken = 0; subquery->hits && i < answer->count; i++) {
        if (answer->rank[i] > (unsigned)subquery->search->limit) /* it gave more than it was asked for */
            continue;
        subquery->hits[taken++] = subquery_hit(subquery, i);
        subquery->lists[answer->list[i]]++;
    }
    return !subquery->search->arena.exhausted ||
           fail(&subquery->status, RESOURCE_EXHAUSTED, "no memory for the results");
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void subquery_ended_on_disk(struct store_batch *batch)
{
    struct search_subquery *subquery = CONTAINER_OF(batch, struct search_subquery, batch);
    if (batch->status.code != OK)
        log_warn("tool_runner.record", "the end of a search at '%s' is not in the record: %s",
                 search_subquery_name(subquery), batch->status.text);
    store_batch_fini(batch);
    subquery_over(subquery);
}

/* A search that was sent and not answered stays begun: it is unknown whether it was counted. */
static void subquery_record_end(struct search_subquery *subquery)
{
    bool keep = subquery->status.code == OK, forget = subquery->in_record && !keep && !subquery->call.in_doubt;
    if (!subquery_is_recorded(subquery) || (!keep && !forget)) {
        subquery_over(subquery);
        return;
    }
    store_batch_init(&subquery->batch, subquery->search->runner->loop, subquery_ended_on_disk);
    if (forget)
        search_record_forget(subquery);
    else
        search_record_end(subquery);
    store_commit(subquery->search->store, &subquery->batch);
}

static void subquery_asked(struct source_call *call)
{
    struct search_subquery *subquery = call->owner;
    subquery->status = call->failure.status;
    Renga__V1__Usage *usage = &subquery->search->usage;
    usage->tool_calls += subquery->call.sent;
    if (subquery->call.failure.status.code == OK)
        usage->cost_micros += subquery->site->setup->price;
    if (subquery->status.code == OK)
        subquery_take_answer(subquery);
    subquery_record_end(subquery);
}

static void subquery_ask(struct search_subquery *subquery)
{
    struct search *search = subquery->search;
    const struct rpc_principal *principal = search->place.principal;
    subquery->call = (struct source_call){
        .site = subquery->site,
        .runner = search->runner,
        .question = {.query = search->query,
                     .language = words_language(search->query, strlen(search->query)),
                     .limit = search->limit,
                     .vector = search->vector,
                     .dimensions = search->dimensions},
        .trace = search->place.trace,
        .job_owner = job_owner(principal->tenant, principal->name),
        .tenant = principal->tenant,
        .deadline_ns = search->deadline_ns,
        .once = subquery->in_record,
        .has_stand_in = search_has_stand_in(search, subquery),
        .ended = subquery_asked,
        .owner = subquery,
    };
    source_call_start(&subquery->call);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

static void subquery_begun_on_disk(struct store_batch *batch)
{
    struct search_subquery *subquery = CONTAINER_OF(batch, struct search_subquery, batch);
    struct status status = batch->status;
    store_batch_fini(batch);
    subquery->in_record = status.code == OK;
    if (status.code == OK && !subquery->search->cancelled) {
        subquery_ask(subquery);
    } else if (status.code == OK) {
        fail(&subquery->status, CANCELLED, "the caller left");
        subquery_record_end(subquery);
    } else {
        if (status.code == ABORTED)
            fail(&subquery->status, ABORTED,
                 "another tool-runner has just begun the search at '%s' under the same idempotency_key",
                 search_subquery_name(subquery));
        else
            fail(&subquery->status, UNAVAILABLE, "'%s' was not asked, since it cannot be recorded: %.300s",
                 search_subquery_name(subquery), status.text);
        subquery_over(subquery);
    }
}

static void subquery_start_outside(struct search_subquery *subquery)
{
    enum search_known known = SEARCH_NEW;
    if (subquery_is_recorded(subquery) && !search_record_find(subquery, &known, &subquery->status)) {
        subquery_over(subquery);
        return;
    }
    switch (known) {
    case SEARCH_RECORDED:
        search_observe_recorded(subquery->search->runner, search_subquery_name(subquery));
        subquery_over(subquery);
        return;
    case SEARCH_IN_DOUBT:
        subquery->in_record = subquery->site->setup->repeats;
        if (subquery->in_record)
            break;
        fail(&subquery->status, ABORTED,
             "an earlier search at '%s' under this idempotency_key was sent and did not come to its end; it may have "
             "been paid, and was not sent again",
             search_subquery_name(subquery));
        subquery_over(subquery);
        return;
    case SEARCH_NEW:
        break;
    }
    if (!subquery_is_recorded(subquery) || !subquery->site->setup->is_paid || subquery->in_record) {
        subquery_ask(subquery);
        return;
    }
    store_batch_init(&subquery->batch, subquery->search->runner->loop, subquery_begun_on_disk);
    search_record_begin(subquery);
    store_commit(subquery->search->store, &subquery->batch);
}

/* ---- the knowledge base ------------------------------------------------------------------------------------------ */

static void subquery_looked_up(struct lookup *lookup)
{
    struct search_subquery *subquery = lookup->owner;
    struct search *search = subquery->search;
    subquery->status = lookup->status;
    subquery->hits = lookup->hits;
    subquery->lists[0] = lookup->hit_count;
    subquery->list_count = 1;
    search->mode_used = lookup->mode_used;
    search->usage.input_tokens += lookup->usage.input_tokens;
    search->usage.model_calls += lookup->usage.model_calls;
    search->usage.cost_micros += lookup->usage.cost_micros;
    search->usage.estimated |= lookup->usage.estimated;
    for (size_t i = 0; i < lookup->degradation_count; i++)
        search_degrade(search, lookup->degradations[i].part, lookup->degradations[i].kind,
                       (enum status_code)lookup->degradations[i].status_code, lookup->degradations[i].reason);
    subquery_over(subquery);
}

static void subquery_look_up(struct search_subquery *subquery)
{
    struct search *search = subquery->search;
    struct lookup *lookup = subquery->lookup = malloc(sizeof *lookup);
    struct lookup_place place = search->place;
    if (!lookup) {
        fail(&subquery->status, RESOURCE_EXHAUSTED, "no memory for a search");
        subquery_over(subquery);
        return;
    }
    place.deadline_ns = search->deadline_ns;
    lookup_init(lookup, search->runner->shared->knowledge);
    lookup->query = search->query;
    lookup->collections = search->collections;
    lookup->collection_count = search->collection_count;
    lookup->mode = search->mode;
    lookup->limit = search->limit;
    lookup->owner = subquery;
    lookup->ended = subquery_looked_up;
    if (!lookup_start(lookup, &place, &subquery->status)) {
        lookup_fini(lookup);
        free(lookup);
        subquery->lookup = NULL;
        subquery_over(subquery);
    }
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

void search_subquery_start(struct search_subquery *subquery)
{
    subquery->search->waits++;
    if (subquery->site)
        subquery_start_outside(subquery);
    else
        subquery_look_up(subquery);
}

/* A paid request that was sent runs to its end: its answer is stored for a repetition under the key, for instance by
 * a caller that was killed and restarted. */
void search_subquery_cancel(struct search_subquery *subquery)
{
    if (subquery->is_over || (subquery->in_record && source_call_finish(&subquery->call)))
        return;
    source_call_cancel(&subquery->call);
    if (subquery->lookup)
        lookup_cancel(subquery->lookup);
}

void search_subquery_fini(struct search_subquery *subquery)
{
    source_call_fini(&subquery->call);
    if (subquery->lookup) {
        lookup_fini(subquery->lookup);
        free(subquery->lookup);
    }
}
