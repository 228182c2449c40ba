/* A single source of a search: the record before and after it, its answer as hits.
 *
 *      record: answered before? --- yes ---------------------------------------------------> over
 *         '--- no --> begun on disk (paid alone) --> asked --> ended on disk --> stand-in? --> over */
#include "search/search_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "search/observe.h"
#include "tool_runner_priv.h"
#include "words/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK_CONSTANT 60.0

const char *search_leg_name(const struct search_leg *leg)
{
    return leg->site ? leg->site->setup->source.name : SEARCH_DOCUMENTS;
}

static bool leg_is_recorded(const struct search_leg *leg)
{
    return leg->site && leg->search->idempotency_key[0];
}

static void leg_over(struct search_leg *leg)
{
    struct search *search = leg->search;
    struct search_leg *other = NULL;
    leg->is_over = true;
    if (leg->status.code != OK && !search->cancelled && !leg->status.field[0])
        other = search_stand_in(search, leg);
    if (other) {
        leg->is_replaced = true;
        search_observe_stand_in(search->runner, search_leg_name(other));
        search_leg_start(other);
    }
    search_came(search);
}

/* ---- the answer as hits ------------------------------------------------------------------------------------------ */

static double leg_score(const struct search_leg *leg, const struct search_answer *answer, size_t i)
{
    double score = answer->results[i].score;
    if (leg->site->setup->source.provider->scores_compare && !isnan(score))
        return fmin(fmax(score, 0), 1);
    return (RANK_CONSTANT + 1) / (RANK_CONSTANT + answer->rank[i]);
}

static Renga__V1__SearchHit *leg_hit(struct search_leg *leg, size_t i)
{
    const struct search_result *result = &leg->ask.answer.results[i];
    Renga__V1__SearchHit *hit = arena_alloc(&leg->search->arena, sizeof *hit);
    if (!hit)
        return NULL;
    renga__v1__search_hit__init(hit);
    hit->source = (char *)(uintptr_t)search_leg_name(leg);
    hit->uri = (char *)(uintptr_t)result->uri;
    hit->title = (char *)(uintptr_t)result->title;
    hit->snippet = (char *)(uintptr_t)result->snippet;
    hit->published_date = (char *)(uintptr_t)result->published_date;
    hit->score = leg_score(leg, &leg->ask.answer, i);
    return hit;
}

static bool leg_take_answer(struct search_leg *leg)
{
    const struct search_answer *answer = &leg->ask.answer;
    leg->hits = arena_alloc(&leg->search->arena, (answer->count + 1) * sizeof(*leg->hits));
    leg->list_count = answer->lists;
    leg->partial = answer->partial;
    for (size_t i = 0, taken = 0; leg->hits && i < answer->count; i++) {
        if (answer->rank[i] > (unsigned)leg->search->limit) /* it gave more than it was asked for */
            continue;
        leg->hits[taken++] = leg_hit(leg, i);
        leg->lists[answer->list[i]]++;
    }
    return !leg->search->arena.exhausted || fail(&leg->status, RESOURCE_EXHAUSTED, "no memory for the results");
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void leg_ended_on_disk(struct store_batch *batch)
{
    struct search_leg *leg = OWNER_OF(batch, struct search_leg, batch);
    if (batch->status.code != OK)
        log_warn("tool_runner.record", "the end of a search at '%s' is not in the record: %s", search_leg_name(leg),
                 batch->status.text);
    store_batch_fini(batch);
    leg_over(leg);
}

/* A search that was sent and not answered stays begun: it is unknown whether it was counted. */
static void leg_record_end(struct search_leg *leg)
{
    bool keep = leg->status.code == OK, forget = leg->in_record && !keep && !leg->ask.in_doubt;
    if (!leg_is_recorded(leg) || (!keep && !forget)) {
        leg_over(leg);
        return;
    }
    store_batch_init(&leg->batch, leg->search->runner->loop, leg_ended_on_disk);
    if (forget)
        search_record_forget(leg);
    else
        search_record_end(leg);
    store_commit(leg->search->store, &leg->batch);
}

static void leg_spend(struct search_leg *leg)
{
    Renga__V1__Usage *usage = &leg->search->usage;
    usage->tool_calls += leg->ask.sent;
    if (leg->ask.failure.status.code == OK)
        usage->cost_micros += leg->site->setup->price;
}

static void leg_asked(struct search_ask *ask)
{
    struct search_leg *leg = ask->owner;
    leg->status = ask->failure.status;
    leg_spend(leg);
    if (leg->status.code == OK)
        leg_take_answer(leg);
    leg_record_end(leg);
}

static void leg_ask(struct search_leg *leg)
{
    struct search *search = leg->search;
    const struct rpc_principal *principal = search->place.principal;
    leg->ask = (struct search_ask){
        .site = leg->site,
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
        .once = leg->in_record,
        .has_stand_in = search_has_stand_in(search, leg),
        .ended = leg_asked,
        .owner = leg,
    };
    search_ask_start(&leg->ask);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

static void leg_begun_on_disk(struct store_batch *batch)
{
    struct search_leg *leg = OWNER_OF(batch, struct search_leg, batch);
    struct status status = batch->status;
    store_batch_fini(batch);
    leg->in_record = status.code == OK;
    if (status.code == OK && !leg->search->cancelled) {
        leg_ask(leg);
    } else if (status.code == OK) {
        fail(&leg->status, CANCELLED, "the caller left");
        leg_record_end(leg);
    } else {
        if (status.code == ABORTED)
            fail(&leg->status, ABORTED,
                 "another tool-runner has just begun the search at '%s' under the same idempotency_key",
                 search_leg_name(leg));
        else
            fail(&leg->status, UNAVAILABLE, "'%s' was not asked, since it cannot be recorded: %.300s",
                 search_leg_name(leg), status.text);
        leg_over(leg);
    }
}

static void leg_begin(struct search_leg *leg)
{
    if (!leg_is_recorded(leg) || !leg->site->setup->is_paid || leg->in_record) {
        leg_ask(leg);
        return;
    }
    store_batch_init(&leg->batch, leg->search->runner->loop, leg_begun_on_disk);
    search_record_begin(leg);
    store_commit(leg->search->store, &leg->batch);
}

static void leg_start_outside(struct search_leg *leg)
{
    enum search_known known = SEARCH_NEW;
    if (leg_is_recorded(leg) && !search_record_find(leg, &known, &leg->status)) {
        leg_over(leg);
        return;
    }
    switch (known) {
    case SEARCH_RECORDED:
        search_observe_recorded(leg->search->runner, search_leg_name(leg));
        leg_over(leg);
        return;
    case SEARCH_IN_DOUBT:
        leg->in_record = leg->site->setup->repeats;
        if (leg->in_record)
            break;
        fail(&leg->status, ABORTED,
             "an earlier search at '%s' under this idempotency_key was sent and did not come to its end; it may have "
             "been paid, and was not sent again",
             search_leg_name(leg));
        leg_over(leg);
        return;
    case SEARCH_NEW:
        break;
    }
    leg_begin(leg);
}

/* ---- the knowledge base ------------------------------------------------------------------------------------------ */

static void leg_looked_up(struct lookup *lookup)
{
    struct search_leg *leg = lookup->owner;
    struct search *search = leg->search;
    leg->status = lookup->status;
    leg->hits = lookup->hits;
    leg->lists[0] = lookup->hit_count;
    leg->list_count = 1;
    search->mode_used = lookup->mode_used;
    search->usage.input_tokens += lookup->usage.input_tokens;
    search->usage.model_calls += lookup->usage.model_calls;
    search->usage.cost_micros += lookup->usage.cost_micros;
    search->usage.estimated |= lookup->usage.estimated;
    for (size_t i = 0; i < lookup->degradation_count; i++)
        search_degrade(search, lookup->degradations[i].part, lookup->degradations[i].kind,
                       (enum status_code)lookup->degradations[i].status_code, lookup->degradations[i].reason);
    leg_over(leg);
}

static void leg_look_up(struct search_leg *leg)
{
    struct search *search = leg->search;
    struct lookup *lookup = leg->lookup = malloc(sizeof *lookup);
    struct lookup_place place = search->place;
    if (!lookup) {
        fail(&leg->status, RESOURCE_EXHAUSTED, "no memory for a search");
        leg_over(leg);
        return;
    }
    place.deadline_ns = search->deadline_ns;
    lookup_init(lookup, search->runner->commons->knowledge);
    lookup->query = search->query;
    lookup->collections = search->collections;
    lookup->collection_count = search->collection_count;
    lookup->mode = search->mode;
    lookup->limit = search->limit;
    lookup->owner = leg;
    lookup->ended = leg_looked_up;
    if (!lookup_start(lookup, &place, &leg->status)) {
        lookup_fini(lookup);
        free(lookup);
        leg->lookup = NULL;
        leg_over(leg);
    }
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

void search_leg_start(struct search_leg *leg)
{
    leg->search->waits++;
    if (leg->site)
        leg_start_outside(leg);
    else
        leg_look_up(leg);
}

/* A paid request that was sent is brought to its end, in its own time: its answer is kept for a repetition under the
 * key, such as that of a caller that was killed and is back. */
void search_leg_cancel(struct search_leg *leg)
{
    if (leg->is_over || (leg->in_record && search_ask_finish(&leg->ask)))
        return;
    search_ask_cancel(&leg->ask);
    if (leg->lookup)
        lookup_cancel(leg->lookup);
}

void search_leg_fini(struct search_leg *leg)
{
    search_ask_fini(&leg->ask);
    if (leg->lookup) {
        lookup_fini(leg->lookup);
        free(leg->lookup);
    }
}
