/* A search in the reader's thread: which collections, which paragraphs, and how they are shown. */
#include "knowledge/lookup.h"

#include "base/nearest.h"
#include "base/text.h"
#include "documents/document.h"
#include "knowledge/quote.h"
#include "knowledge/vectors.h"
#include "words/quantity.h"
#include "words/steps.h"
#include "words/words.h"

#include <stdio.h>
#include <string.h>

#define FUSED_MAX    100 /* of each way, that are merged by rank */
#define FUSION       60  /* of reciprocal rank fusion: how little the first places stand out */
#define SNIPPET_MAX  16384
#define URI_MAX      2048
#define QUOTE_MAX    4096
#define HEADINGS_MAX 8

struct found {
    struct collection *collections;
    size_t collection_count;
    struct rank_term *terms;
    struct rank_query query;
    struct ranked ranked[RANK_HITS_MAX];
    size_t count;
};

/* ---- collections ------------------------------------------------------------------------------------------------- */

/* Names those that the caller's tenant has. */
static bool fail_unknown(struct lookup *lookup, struct tables *tables, size_t index, struct status *st)
{
    struct collection row;
    struct nearest nearest = nearest_to(lookup->collections[index]);
    struct sql *sql = reading_collections(&lookup->reading, tables, st);
    while (sql && sql_step(sql, st) == SQL_ROW && collection_read(sql, &row, st)) {
        char *name = arena_strdup(&lookup->arena, row.name);
        if (name)
            nearest_try(&nearest, name);
    }
    if (sql)
        sql_reset(sql);
    return fail(st, NOT_FOUND, "collections[%zu]: there is no collection '%.64s'; %s", index,
                lookup->collections[index],
                nearest.tried ? nearest_hint(&nearest).text : "no documents have been indexed");
}

static bool find_named(struct lookup *lookup, struct tables *tables, struct found *found, struct status *st)
{
    for (size_t i = 0; i < lookup->collection_count; i++) {
        struct collection *collection = &found->collections[found->collection_count];
        if (!reading_collection(&lookup->reading, tables, lookup->collections[i], collection, st))
            return false;
        if (!collection->id)
            return fail_unknown(lookup, tables, i, st);
        bool again = false;
        for (size_t j = 0; j < found->collection_count; j++)
            again |= found->collections[j].id == collection->id;
        if (!again && !collection_trim(tables, collection, st))
            return false;
        found->collection_count += !again;
    }
    return true;
}

static bool find_all(struct lookup *lookup, struct tables *tables, struct found *found, struct status *st)
{
    struct sql *sql = reading_collections(&lookup->reading, tables, st);
    enum sql_step step;
    if (!sql)
        return false;
    while ((step = sql_step(sql, st)) == SQL_ROW) {
        struct collection *collection = &found->collections[found->collection_count++];
        if (!collection_read(sql, collection, st) || !collection_trim(tables, collection, st))
            break;
    }
    sql_reset(sql);
    return step == SQL_DONE;
}

/* ---- by words and by vectors ------------------------------------------------------------------------------------- */

static bool rank_words(struct lookup *lookup, struct reading_state *state, struct found *found, size_t room,
                       struct status *st)
{
    found->query = (struct rank_query){.terms = found->terms, .answers = lookup->answers, .arena = &lookup->arena};
    /* A query of English words beside Japanese ones prefers neither language. */
    const char *text = lookup->query;
    struct rank_query *query = &found->query;
    static const char japanese_leads[] = "\xE3\xE4\xE5\xE6\xE7\xE8\xE9\xEF"; /* first bytes of Kana and Han */
    size_t length = strlen(text);
    query->number = words_asks_number(text, length);
    query->method = words_asks_method(text, length);
    query->japanese = strcmp(words_language(text, length), "ja") == 0;
    query->english = !query->japanese && text[strcspn(text, japanese_leads)] == '\0';
    found->query.term_count = rank_read_terms(&lookup->arena, lookup->query, found->terms);
    return rank_run(state->rank, &state->tables, found->collections, found->collection_count, &found->query,
                    found->ranked, room, &found->count, st);
}

static bool rank_vectors(struct lookup *lookup, struct reading_state *state, struct found *found, struct ranked *ranked,
                         size_t room, size_t *count, struct status *st)
{
    size_t unusable = 0, damaged = 0;
    int64_t missing = 0;
    for (size_t i = 0; i < found->collection_count; i++) {
        const struct collection *collection = &found->collections[i];
        const uint16_t *lengths = rank_lengths(state->rank, &state->tables, collection, st);
        bool same = strcmp(collection->model, lookup->knowledge->embedding_model) == 0;
        missing += collection->paragraphs - (same ? collection->vectors : 0);
        if (!lengths || (same && !vectors_rank(&state->tables, collection, lookup->vector, lengths, lookup->answers,
                                               ranked, room, count, &unusable, &damaged, st)))
            return false;
        if (damaged > 0)
            found->query.damaged_in = collection->name;
    }
    found->query.damaged += damaged;
    if (missing > 0 || unusable > 0)
        lookup_degrade(lookup, "vectors", RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, 0,
                       "some paragraphs have no vectors of the embedding model yet; index the collection again");
    return true;
}

/* By reciprocal rank: the first of both lists has 1. */
static void fuse(struct found *found, const struct ranked *nearest, size_t nearest_count, size_t room)
{
    struct ranked fused[RANK_HITS_MAX], all[2 * FUSED_MAX];
    size_t count = 0, total = 0;
    for (size_t i = 0; i < found->count; i++) {
        all[total] = found->ranked[i];
        all[total++].score = (FUSION + 1) / 2.0 / (double)(FUSION + 1 + i);
    }
    for (size_t i = 0; i < nearest_count; i++) {
        size_t at = 0;
        while (at < found->count &&
               (all[at].paragraph != nearest[i].paragraph || all[at].collection != nearest[i].collection))
            at++;
        if (at == found->count) {
            at = total++;
            all[at] = nearest[i];
            all[at].score = 0;
        }
        all[at].score += (FUSION + 1) / 2.0 / (double)(FUSION + 1 + i);
    }
    for (size_t i = 0; i < total; i++)
        ranked_insert(fused, room, &count, &all[i]);
    memcpy(found->ranked, fused, count * sizeof *fused);
    found->count = count;
}

static bool lookup_read_rank_all(struct lookup *lookup, struct reading_state *state, struct found *found,
                                 struct status *st)
{
    struct ranked nearest[FUSED_MAX];
    size_t nearest_count = 0, room = (size_t)lookup->limit;
    if (!lookup->vector) {
        lookup->mode_used = RENGA__V1__SEARCH_MODE__SEARCH_MODE_LEXICAL;
        return rank_words(lookup, state, found, room, st);
    }
    if (!rank_words(lookup, state, found, FUSED_MAX, st) ||
        !rank_vectors(lookup, state, found, nearest, FUSED_MAX, &nearest_count, st))
        return false;
    lookup->mode_used = lookup->mode == RENGA__V1__SEARCH_MODE__SEARCH_MODE_VECTOR
                            ? RENGA__V1__SEARCH_MODE__SEARCH_MODE_VECTOR
                            : RENGA__V1__SEARCH_MODE__SEARCH_MODE_HYBRID;
    if (lookup->mode_used == RENGA__V1__SEARCH_MODE__SEARCH_MODE_HYBRID) {
        fuse(found, nearest, nearest_count, room);
        return true;
    }
    found->count = nearest_count < room ? nearest_count : room;
    memcpy(found->ranked, nearest, found->count * sizeof *nearest);
    return true;
}

/* ---- hits -------------------------------------------------------------------------------------------------------- */

static char *lookup_read_keep(struct arena *arena, const char *text, size_t room)
{
    return arena_strndup(arena, text, text_cut(text, strlen(text), room));
}

static bool column_is_clean(struct sql *sql, int column)
{
    const char *text = sql_text(sql, column);
    return text_is_clean(text, strlen(text));
}

static bool hit_is_whole(struct sql *sql)
{
    int64_t from = sql_number(sql, 3), to = sql_number(sql, 4);
    return sql_number(sql, 6) && column_is_clean(sql, 0) && column_is_clean(sql, 1) && column_is_clean(sql, 2) &&
           column_is_clean(sql, 5) && from >= 0 && from <= INT32_MAX && to >= from && to <= INT32_MAX;
}

static bool make_hit(struct lookup *lookup, struct reading_state *state, const struct found *found,
                     const struct ranked *ranked, struct status *st)
{
    Renga__V1__SearchHit *hit = arena_alloc(&lookup->arena, sizeof *hit);
    struct sql *sql = tables_sql(&state->tables, PARAGRAPH_FIND, st);
    size_t i = 0;
    while (found->collections[i].id != ranked->collection)
        i++;
    const struct collection *collection = &found->collections[i];
    const uint16_t *lengths = rank_lengths(state->rank, &state->tables, collection, st);
    if (!hit || !sql || !lengths)
        return sql && lengths && fail(st, RESOURCE_EXHAUSTED, "no memory for the hits; ask for fewer");
    renga__v1__search_hit__init(hit);
    hit->source = (char *)(uintptr_t)(lengths[ranked->paragraph] & LENGTH_ANSWER ? "qa" : "documents");
    hit->collection = arena_strdup(&lookup->arena, collection->name);
    hit->score = ranked->score;
    sql_bind(sql, 1, paragraph_id(collection->id, ranked->paragraph));
    enum sql_step step = sql_step(sql, st);
    if (step == SQL_ROW && !hit_is_whole(sql)) {
        /* A damaged paragraph is left out, and told. */
        char reason[256];
        snprintf(reason, sizeof reason,
                 "paragraph %u of collection '%s' is damaged and left out; index its document again", ranked->paragraph,
                 collection->name);
        lookup_degrade(lookup, "documents", RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, DATA_LOSS, reason);
    } else if (step == SQL_ROW) {
        struct arena *arena = &lookup->arena;
        hit->uri = lookup_read_keep(arena, sql_text(sql, 0), URI_MAX);
        hit->title = lookup_read_keep(arena, sql_text(sql, 1), DOCUMENT_TITLE_MAX);
        const char *headings = sql_text(sql, 2);
        hit->heading_path = arena_alloc(arena, HEADINGS_MAX * sizeof *hit->heading_path);
        while (hit->heading_path && *headings && hit->n_heading_path < HEADINGS_MAX) {
            size_t length = strcspn(headings, "\n");
            char *heading = arena_strndup(arena, headings, length);
            if (heading)
                hit->heading_path[hit->n_heading_path++] = heading;
            headings += length + (headings[length] == '\n');
        }
        hit->line_from = (int32_t)sql_number(sql, 3);
        hit->line_to = (int32_t)sql_number(sql, 4);
        hit->snippet = lookup_read_keep(arena, sql_text(sql, 5), SNIPPET_MAX);
        struct span quote =
            hit->snippet ? quote_find(hit->snippet, strlen(hit->snippet), &found->query) : (struct span){0};
        size_t size = text_cut(hit->snippet ? hit->snippet + quote.begin : "", quote.end - quote.begin, QUOTE_MAX);
        hit->quote = size ? arena_strndup(arena, hit->snippet + quote.begin, size) : hit->quote;
        lookup->hits[lookup->hit_count++] = hit;
    }
    sql_reset(sql);
    if (lookup->arena.exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "the hits take too much memory; ask for fewer");
    return step != SQL_FAILED;
}

bool lookup_read(struct reading *reading, struct reading_state *state, struct status *st)
{
    struct lookup *lookup = (struct lookup *)reading;
    struct arena *arena = &lookup->arena;
    size_t room = lookup->collection_count ? lookup->collection_count : COLLECTIONS_MAX;
    struct found *found = arena_zalloc(arena, sizeof *found);
    lookup->hits = arena_alloc(arena, LOOKUP_LIMIT_MAX * sizeof(Renga__V1__SearchHit *));
    if (!found || !lookup->hits)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a search");
    found->collections = arena_alloc(arena, room * sizeof *found->collections);
    found->terms = arena_alloc(arena, RANK_TERMS_MAX * sizeof *found->terms);
    if (!found->collections || !found->terms)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a search");
    if (!(lookup->collection_count ? find_named : find_all)(lookup, &state->tables, found, st))
        return false;
    if (!words_has_content(lookup->query, strlen(lookup->query)))
        return true; /* "the of and": a query without strong words has no hits */
    if (!lookup_read_rank_all(lookup, state, found, st))
        return false;
    if (found->query.damaged > 0) {
        const struct rank_query *query = &found->query;
        char reason[256];
        snprintf(reason, sizeof reason,
                 "%zu rows of the index of collection '%s' are damaged and left out; delete the collection and index "
                 "it again",
                 query->damaged, query->damaged_in);
        lookup_degrade(lookup, "documents", RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, DATA_LOSS, reason);
    }
    for (size_t i = 0; i < found->count && found->ranked[i].score >= lookup->min_score; i++)
        if (!make_hit(lookup, state, found, &found->ranked[i], st))
            return false;
    return true;
}
