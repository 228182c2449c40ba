#include "knowledge/lookup.h"

#include "base/clock.h"
#include "instance/span_content.h"
#include "knowledge/vectors.h"
#include "telemetry/spans.h"

#include <string.h>

#define LOOKUP_MS        30000 /* the longest search */
#define EMBED_MS         10000 /* how long it waits for the vector of its query */
#define LOOKUP_ARENA_MAX ((size_t)16 << 20)

void lookup_init(struct lookup *lookup, struct knowledge *knowledge)
{
    *lookup = (struct lookup){.knowledge = knowledge, .reading.read = lookup_read};
    renga__v1__usage__init(&lookup->usage);
    arena_init(&lookup->arena, NULL, 0, LOOKUP_ARENA_MAX);
}

void lookup_fini(struct lookup *lookup)
{
    arena_fini(&lookup->arena);
}

void lookup_degrade(struct lookup *lookup, const char *part, Renga__V1__DegradationKind kind, int code,
                    const char *reason)
{
    if (lookup->degradation_count == LOOKUP_DEGRADATIONS)
        return;
    Renga__V1__Degradation *degradation = &lookup->degradations[lookup->degradation_count];
    renga__v1__degradation__init(degradation);
    degradation->part = arena_strdup(&lookup->arena, part);
    degradation->reason = arena_strdup(&lookup->arena, reason);
    degradation->kind = kind;
    degradation->status_code = code;
    if (degradation->part && degradation->reason)
        lookup->degradation_count++;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void lookup_end_span(struct lookup *lookup, const struct status *st)
{
    if (!lookup->span)
        return;
    span_int(lookup->span, "renga.search.hits", (int64_t)lookup->hit_count);
    if (st->code != OK) {
        span_string(lookup->span, "error.type", status_code_name((int)st->code));
        span_error(lookup->span, status_code_name((int)st->code));
    } else if (lookup->knowledge->shows_content) {
        tool_span_hits(lookup->span, lookup->hits, lookup->hit_count);
    }
    span_end(&lookup->span);
}

static void lookup_end(struct lookup *lookup)
{
    lookup_end_span(lookup, &lookup->status);
    lookup->ended(lookup);
}

static void read_ended(struct reading *reading)
{
    struct lookup *lookup = (struct lookup *)reading;
    lookup->status = reading->status;
    lookup_end(lookup);
}

static bool lookup_start_reading(struct lookup *lookup, struct status *st)
{
    lookup->reading.ended = read_ended;
    return reading_start(lookup->knowledge->readers, &lookup->reading, st);
}

/* ---- the vector of the query ------------------------------------------------------------------------------------- */

static void take_vector(struct lookup *lookup, const Renga__V1__EmbedResponse *response)
{
    const Renga__V1__Embedding *embedding = response->embeddings[0];
    if (response->usage) {
        lookup->usage.input_tokens = response->usage->input_tokens;
        lookup->usage.model_calls = response->usage->model_calls;
        lookup->usage.cost_micros = response->usage->cost_micros;
        lookup->usage.estimated = response->usage->estimated;
    }
    lookup->vector = arena_alloc(&lookup->arena, sizeof *lookup->vector);
    if (lookup->vector && !vector_init(lookup->vector, embedding->values, embedding->n_values))
        lookup->vector = NULL;
}

static void vector_received(struct embedding *embedding, const Renga__V1__EmbedResponse *response)
{
    struct lookup *lookup = CONTAINER_OF(embedding, struct lookup, embedding);
    struct status *st = &embedding->call.status;
    lookup->embeds = false;
    if (response)
        take_vector(lookup, response);
    else if (lookup->mode != RENGA__V1__SEARCH_MODE__SEARCH_MODE_VECTOR && st->code != CANCELLED)
        lookup_degrade(lookup, "vectors", RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, (int)st->code,
                       st->text);
    bool failed = !response && (lookup->mode == RENGA__V1__SEARCH_MODE__SEARCH_MODE_VECTOR || st->code == CANCELLED);
    if (!failed && lookup_start_reading(lookup, &lookup->status))
        return;
    if (failed)
        lookup->status = *st;
    lookup_end(lookup);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static bool lookup_check(const struct lookup *lookup, struct status *st)
{
    size_t length = strlen(lookup->query);
    if (strspn(lookup->query, " \t\r\n") == length)
        return fail_field(st, "query", "is empty; say what is looked for");
    if (length > LOOKUP_QUERY_MAX)
        return fail_field(st, "query", "has %zu bytes; at most %d are possible", length, LOOKUP_QUERY_MAX);
    if (lookup->collection_count > LOOKUP_COLLECTIONS_MAX)
        return fail_field(st, "collections", "are %zu; at most %d are possible", lookup->collection_count,
                          LOOKUP_COLLECTIONS_MAX);
    if (lookup->limit < 0 || lookup->limit > LOOKUP_LIMIT_MAX)
        return fail_field(st, "limit", "is %d; 0 to %d are possible", lookup->limit, LOOKUP_LIMIT_MAX);
    if (!(lookup->min_score >= 0 && lookup->min_score <= 1))
        return fail_field(st, "min_score", "is %g; 0 to 1 are possible", lookup->min_score);
    if ((unsigned)lookup->mode > RENGA__V1__SEARCH_MODE__SEARCH_MODE_HYBRID)
        return fail_field(st, "mode", "is %d, which is no way to search", (int)lookup->mode);
    if (lookup->mode == RENGA__V1__SEARCH_MODE__SEARCH_MODE_VECTOR && !lookup->knowledge->embedding_model)
        return fail(st, FAILED_PRECONDITION,
                    "mode: VECTOR needs an embedding model; set tool_runner.embedding_model, or search by LEXICAL");
    return true;
}

static void lookup_begin_span(struct lookup *lookup, const struct lookup_place *place)
{
    const struct trace_context *above = place->parent ? rpc_call_trace(place->parent) : place->trace;
    if (!above || !lookup->knowledge->spans)
        return;
    trace_child(&lookup->trace, above);
    lookup->span = span_start(lookup->knowledge->spans, &lookup->trace, "retrieval knowledge", SPAN_INTERNAL);
    span_set_role(lookup->span, SPAN_RETRIEVER);
    span_string(lookup->span, "gen_ai.operation.name", "retrieval");
    span_string(lookup->span, "gen_ai.data_source.id", "knowledge");
    if (lookup->knowledge->shows_content && lookup->span)
        tool_span_text(lookup->span, "input.value", lookup->query);
}

bool lookup_start(struct lookup *lookup, const struct lookup_place *place, struct status *st)
{
    int64_t longest_ns = clock_now_ns() + LOOKUP_MS * NS_PER_MS;
    if (!lookup_check(lookup, st) || !reading_of(&lookup->reading, lookup->knowledge, place->principal, st))
        return false;
    if (lookup->limit == 0)
        lookup->limit = LOOKUP_LIMIT;
    lookup->reading.loop = place->loop;
    lookup->reading.deadline_ns = place->deadline_ns < longest_ns ? place->deadline_ns : longest_ns;
    lookup_begin_span(lookup, place);
    if (lookup->knowledge->embedding_model && lookup->mode != RENGA__V1__SEARCH_MODE__SEARCH_MODE_LEXICAL) {
        struct rpc_client_call *call = &lookup->embedding.call;
        int64_t left_ms = (lookup->reading.deadline_ns - clock_now_ns()) / NS_PER_MS;
        lookup->embedding.knowledge = lookup->knowledge;
        lookup->embedding.inputs = &lookup->query;
        lookup->embedding.count = 1;
        lookup->embedding.priority = RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE;
        lookup->embedding.received = vector_received;
        rpc_client_call_init(call, place->loop, place->parent);
        call->trace = lookup->span ? &lookup->trace : place->trace;
        call->principal = place->principal;
        call->timeout_ms = left_ms < EMBED_MS ? left_ms > 1 ? left_ms : 1 : EMBED_MS;
        lookup->embeds = true;
        embedding_begin(&lookup->embedding);
        return true;
    }
    if (lookup_start_reading(lookup, st))
        return true;
    lookup_end_span(lookup, st);
    return false;
}

void lookup_cancel(struct lookup *lookup)
{
    if (lookup->embeds)
        rpc_client_call_cancel(&lookup->embedding.call);
    else
        reading_cancel(lookup->knowledge->readers, &lookup->reading);
}
