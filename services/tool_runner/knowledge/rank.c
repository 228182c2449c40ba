#include "knowledge/rank.h"

#include "base/arena.h"
#include "knowledge/postings.h"
#include "knowledge/rank_near.h"
#include "words/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BM25's own: how soon more of the same term counts no more, and how much long paragraphs are held back. */
#define SATURATION 0.9
#define EVENING    0.4

#define OTHER_LANGUAGE_SHARE 0.7 /* of its score that a paragraph keeps that is in another language than the query */
#define NO_NUMBER_SHARE      0.8 /* ... without a number, if the query asks for one */
#define STEPS_SHARE                                                                                                    \
    0.4 /* ... of its distance from 1 that steps gain, by their score, if the query asks for a method                  \
         */

#define STOP_WORD_SHARE 0.15    /* the weight of a stop word beside content terms */
#define STOP_WORD_MOST  1000    /* ... and has no weight if it stands in more paragraphs: reading it takes time */
#define POSTINGS_MAX    4000000 /* of one query, some 10 ms: past it the commonest terms are left out */
#define COUNT_MAX       (INT64_C(1) << 32) /* postings of a term in a collection */
#define LENGTHS_MAX     ((size_t)64 << 20) /* bytes of lengths that are kept */
#define LENGTH_TABLE    4096               /* a longer paragraph counts as one of this length */

struct lengths {
    struct lengths *next; /* used less recently */
    int64_t collection, generation, count;
    size_t damaged; /* rows of documents: their paragraphs have no rows */
    uint16_t values[];
};

struct rank {
    struct lengths *lengths;
    float *scores;
    size_t room;
    float norms[LENGTH_TABLE]; /* by length of the paragraph */
    float once[LENGTH_TABLE];  /* the score of a term that stands there once, the usual case */
};

struct rank *rank_create(void)
{
    return calloc(1, sizeof(struct rank));
}

void rank_destroy(struct rank **rank)
{
    if (!*rank)
        return;
    for (struct lengths *lengths = (*rank)->lengths, *next; lengths; lengths = next) {
        next = lengths->next;
        free(lengths);
    }
    free((*rank)->scores);
    free(*rank);
    *rank = NULL;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static struct lengths *load_lengths(struct tables *tables, const struct collection *collection, struct status *st)
{
    struct sql *sql = tables_sql(tables, DOCUMENT_LENGTHS, st);
    struct lengths *lengths = calloc(1, sizeof *lengths + (size_t)(collection->next + 1) * sizeof(uint16_t));
    enum sql_step step = SQL_FAILED;
    if (!lengths)
        fail(st, RESOURCE_EXHAUSTED, "no memory to search %lld paragraphs", (long long)collection->next);
    if (sql && lengths) {
        lengths->collection = collection->id;
        lengths->generation = collection->generation;
        lengths->count = collection->next;
        sql_bind(sql, 1, collection->id);
        while ((step = sql_step(sql, st)) == SQL_ROW) {
            size_t size;
            int64_t first = sql_number(sql, 0);
            const void *values = sql_bytes(sql, 1, &size);
            int64_t count = (int64_t)(size / sizeof(uint16_t));
            bool fits = first >= 0 && count <= lengths->count && first <= lengths->count - count;
            if (!fits || !sql_number(sql, 2))
                lengths->damaged++;
            else if (count)
                memcpy(lengths->values + first, values, (size_t)count * sizeof(uint16_t));
        }
        sql_reset(sql);
    }
    if (step == SQL_DONE)
        return lengths;
    free(lengths);
    return NULL;
}

/* Those that were used least recently go. */
static void forget_lengths(struct rank *rank)
{
    size_t bytes = 0;
    struct lengths **link = &rank->lengths;
    while (*link && (bytes += sizeof **link + (size_t)(*link)->count * sizeof(uint16_t)) <= LENGTHS_MAX)
        link = &(*link)->next;
    if (*link && link == &rank->lengths)
        link = &(*link)->next; /* the one that is needed now stays in any case */
    while (*link) {
        struct lengths *lengths = *link;
        *link = lengths->next;
        free(lengths);
    }
}

const uint16_t *rank_lengths(struct rank *rank, struct tables *tables, const struct collection *collection,
                             struct status *st)
{
    struct lengths **link = &rank->lengths, *lengths;
    while (*link && (*link)->collection != collection->id)
        link = &(*link)->next;
    if ((lengths = *link)) {
        *link = lengths->next;
        if (lengths->generation != collection->generation) {
            free(lengths);
            lengths = NULL;
        }
    }
    if (!lengths && !(lengths = load_lengths(tables, collection, st)))
        return NULL;
    lengths->next = rank->lengths;
    rank->lengths = lengths;
    forget_lengths(rank);
    return lengths->values;
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* `like` has the known fields of the term, beside its text. */
static void take_term(struct arena *arena, const struct term *term, const struct rank_term *like,
                      struct rank_term *terms, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (terms[i].length == term->length && memcmp(terms[i].text, term->text, term->length) == 0) {
            terms[i].times++;
            return;
        }
    char *text = *count < RANK_TERMS_MAX ? arena_strndup(arena, term->text, term->length) : NULL;
    if (!text)
        return;
    terms[*count] = *like;
    terms[*count].text = text;
    terms[*count].length = term->length;
    terms[*count].stop_word = term->stop_word;
    terms[(*count)++].times = 1;
}

static void add_stem(struct arena *arena, const struct term *term, struct rank_term *known)
{
    for (size_t i = 0; i < RANK_STEMS_MAX; i++) {
        if (!known->stems[i])
            known->stems[i] = arena_strndup(arena, term->text, term->length);
        if (!known->stems[i] || strcmp(known->stems[i], term->text) == 0)
            return;
    }
}

/* The language of a short query is uncertain, and names have the stems of the documents' language. Words are told apart
 * by their order: each language has the same ones. */
static void add_stems(struct arena *arena, const char *text, enum latin_language language, struct rank_term *terms,
                      size_t count)
{
    struct term_reader own, other;
    struct term term, stem;
    terms_begin(&own, text, strlen(text));
    terms_begin_in(&other, text, strlen(text), language);
    if (own.language == language)
        return;
    bool more = terms_next(&own, &term) && terms_next(&other, &stem);
    while (more) {
        bool same = term.begin == stem.begin && term.end == stem.end && term.kind == TERM_WORD && !term.stop_word;
        for (size_t i = 0; same && i < count; i++)
            if (terms[i].length == term.length && memcmp(terms[i].text, term.text, term.length) == 0 &&
                strcmp(terms[i].text, stem.text) != 0)
                add_stem(arena, &stem, &terms[i]);
        more = stem.begin < term.begin ? terms_next(&other, &stem) : terms_next(&own, &term);
    }
}

size_t rank_read_terms(struct arena *arena, const char *text, struct rank_term terms[RANK_TERMS_MAX])
{
    size_t count = 0;
    for (int stop_word = 0; stop_word < 2; stop_word++) {
        struct term_reader reader;
        struct term term;
        size_t katakana_end = 0, identifier_end = 0;
        terms_begin(&reader, text, strlen(text));
        while (terms_next(&reader, &term)) {
            double share = term_share(&term, &katakana_end);
            identifier_end = term.kind == TERM_IDENTIFIER ? term.end : identifier_end;
            bool exact = (term.kind != TERM_WORD && term.kind != TERM_KATAKANA) || term.end <= identifier_end;
            struct rank_term like = {.exact = exact,
                                     .word = text + term.begin,
                                     .word_length = term.end - term.begin,
                                     .language = reader.language,
                                     .share = share};
            if (term.stop_word == stop_word)
                take_term(arena, &term, &like, terms, &count);
        }
    }
    for (int language = LATIN_ENGLISH; language < LATIN_LANGUAGES; language++)
        add_stems(arena, text, (enum latin_language)language, terms, count);
    return count;
}

static void note_damage(struct rank_query *query, const struct collection *collection, size_t rows)
{
    query->damaged += rows;
    if (rows)
        query->damaged_in = collection->name;
}

/* A row of an older release has no checksum: a damaged one may have any count. */
static bool count_postings(struct tables *tables, const struct collection *collection, const struct rank_term *term,
                           int64_t *count, struct rank_query *query, struct status *st)
{
    struct sql *sql = tables_sql(tables, POSTINGS_COUNT, st);
    enum sql_step step;
    if (!sql)
        return false;
    sql_bind(sql, 1, collection->id);
    sql_bind_text(sql, 2, term->text, term->length);
    while ((step = sql_step(sql, st)) == SQL_ROW) {
        int64_t there = sql_number(sql, 0);
        bool whole = sql_number(sql, 1) != 0 && there >= 0 && there <= COUNT_MAX;
        *count += whole ? there : 0;
        note_damage(query, collection, !whole);
    }
    sql_reset(sql);
    return step == SQL_DONE;
}

static bool count_all(struct tables *tables, const struct collection *collections, size_t count,
                      const struct rank_term *term, int64_t *found, struct rank_query *query, struct status *st)
{
    for (size_t c = 0; c < count; c++)
        if (!count_postings(tables, &collections[c], term, found, query, st))
            return false;
    return true;
}

/* Rare terms count for more. If the others have no hit, stop words are searched after all. */
static double rank_weight_of(const struct rank_term *term, double paragraphs, double found, bool only_stop_words)
{
    double rarity = log(1 + (paragraphs - found + 0.5) / (found + 0.5));
    double times = term->times < 3 ? term->times : 3;
    return rarity * term->share * (1 + 0.5 * (times - 1)) * (term->stop_word && !only_stop_words ? STOP_WORD_SHARE : 1);
}

/* Strong ones first. */
static int by_weight(const void *a, const void *b)
{
    const struct rank_term *first = a, *second = b;
    if (first->stop_word != second->stop_word)
        return first->stop_word - second->stop_word;
    return (first->weight < second->weight) - (first->weight > second->weight);
}

/* Fills in the weights and drops expensive terms. `most` is the score of a paragraph with all terms; 0: no term
 * stands in any paragraph. */
static bool rank_weigh(struct tables *tables, const struct collection *collections, size_t count,
                       struct rank_query *query, double *most, struct status *st)
{
    int64_t found[RANK_TERMS_MAX] = {0}, paragraphs = 0, read = 0;
    bool any = false;
    query->only_stop_words = true;
    *most = 0;
    for (size_t c = 0; c < count; c++)
        paragraphs += collections[c].paragraphs;
    for (size_t i = 0, near = 0; i < query->term_count; i++) {
        struct rank_term *term = &query->terms[i];
        if (!count_all(tables, collections, count, term, &found[i], query, st))
            return false;
        query->only_stop_words &= term->stop_word;
        if (found[i] || term->stop_word || !query->arena || near++ >= NEAR_TERMS_MAX)
            continue;
        if (rank_near_find(tables, collections, count, term, query->arena, st) &&
            !count_all(tables, collections, count, term, &found[i], query, st))
            return false;
        if (st->code != OK)
            return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < query->term_count; i++) {
        struct rank_term term = query->terms[i];
        term.weight = rank_weight_of(&term, (double)paragraphs, (double)(found[i] < paragraphs ? found[i] : paragraphs),
                                     query->only_stop_words);
        *most += term.stop_word && !query->only_stop_words ? 0 : term.weight * (SATURATION + 1);
        any |= found[i] > 0;
        if (term.stop_word && !query->only_stop_words && found[i] > STOP_WORD_MOST)
            continue;
        if (found[i] > 0 && (read += found[i]) <= POSTINGS_MAX)
            query->terms[kept++] = term;
    }
    query->term_count = kept;
    qsort(query->terms, kept, sizeof *query->terms, by_weight);
    *most = any ? *most : 0;
    return true;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static bool make_scores(struct rank *rank, size_t count, struct status *st)
{
    if (count > rank->room) {
        free(rank->scores);
        rank->scores = malloc(count * sizeof *rank->scores);
        rank->room = rank->scores ? count : 0;
    }
    if (!rank->scores)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to search %zu paragraphs", count);
    memset(rank->scores, 0, count * sizeof *rank->scores);
    return true;
}

/* Beside content terms, a stop word counts only in a paragraph that has one of them. */
static void add_postings(struct rank *rank, const uint16_t *lengths, uint32_t next, uint32_t first, const void *data,
                         size_t size, float weight, bool beside)
{
    struct postings postings = {data, (const uint8_t *)data + size, first};
    struct posting posting;
    float *scores = rank->scores;
    while (postings_next(&postings, &posting) && posting.paragraph < next) {
        unsigned length = lengths[posting.paragraph] & LENGTH_MAX;
        float times = (float)posting.times;
        if (beside && scores[posting.paragraph] <= 0)
            continue;
        length = length < LENGTH_TABLE ? length : LENGTH_TABLE - 1;
        scores[posting.paragraph] +=
            weight * (posting.times == 1 ? rank->once[length] : times / (times + rank->norms[length]));
    }
}

static bool rank_add_term(struct rank *rank, struct tables *tables, const struct collection *collection,
                          const uint16_t *lengths, const struct rank_term *term, bool beside, struct status *st)
{
    struct sql *sql = tables_sql(tables, POSTINGS_OF, st);
    enum sql_step step;
    if (!sql)
        return false;
    sql_bind(sql, 1, collection->id);
    sql_bind_text(sql, 2, term->text, term->length);
    while ((step = sql_step(sql, st)) == SQL_ROW) {
        size_t size;
        if (!sql_number(sql, 2))
            continue; /* it was told when it was counted */
        const void *data = sql_bytes(sql, 1, &size);
        add_postings(rank, lengths, (uint32_t)collection->next, (uint32_t)sql_number(sql, 0), data, size,
                     (float)(term->weight * (SATURATION + 1)), beside);
    }
    sql_reset(sql);
    return step == SQL_DONE;
}

static bool is_better(const struct ranked *one, const struct ranked *other)
{
    if (one->score > other->score || one->score < other->score)
        return one->score > other->score;
    return one->collection != other->collection ? one->collection < other->collection
                                                : one->paragraph < other->paragraph;
}

void ranked_insert(struct ranked *ranked, size_t room, size_t *count, const struct ranked *one)
{
    size_t at = *count;
    if (at == room && (room == 0 || !is_better(one, &ranked[room - 1])))
        return;
    at -= at == room;
    for (; at > 0 && is_better(one, &ranked[at - 1]); at--)
        ranked[at] = ranked[at - 1];
    ranked[at] = *one;
    *count += *count < room;
}

static double rank_score_of(const struct rank *rank, uint32_t paragraph, uint16_t length,
                            const struct rank_query *query, double most)
{
    bool other_language = length & LENGTH_JAPANESE ? query->english : query->japanese;
    bool lacks_number = query->number && !(length & LENGTH_NUMBER);
    double score = rank->scores[paragraph] / most;
    score = (score < 1 ? score : 1) * (other_language ? OTHER_LANGUAGE_SHARE : 1);
    score *= lacks_number ? NO_NUMBER_SHARE : 1;
    return query->method && length & LENGTH_STEPS ? score + STEPS_SHARE * score * (1 - score) : score;
}

static bool rank_collection(struct rank *rank, struct tables *tables, const struct collection *collection,
                            struct rank_query *query, double most, struct ranked *ranked, size_t room, size_t *count,
                            struct status *st)
{
    const uint16_t *lengths = rank_lengths(rank, tables, collection, st);
    if (!lengths || !make_scores(rank, (size_t)collection->next, st))
        return false;
    note_damage(query, collection, rank->lengths->damaged);
    double mean = collection->paragraphs ? (double)collection->words / (double)collection->paragraphs : 1;
    for (int i = 0; i < LENGTH_TABLE; i++) {
        rank->norms[i] = (float)(SATURATION * (1 - EVENING + EVENING * i / (mean < 1 ? 1 : mean)));
        rank->once[i] = 1 / (1 + rank->norms[i]);
    }
    for (size_t i = 0; i < query->term_count; i++)
        if (!rank_add_term(rank, tables, collection, lengths, &query->terms[i],
                           query->terms[i].stop_word && !query->only_stop_words, st))
            return false;
    for (uint32_t i = 0; i < (uint32_t)collection->next; i++) {
        double least = *count == room ? ranked[room - 1].score : 0;
        if (rank->scores[i] <= 0)
            continue;
        double score = rank_score_of(rank, i, lengths[i], query, most);
        if (score <= least || !lengths[i] || (query->answers && !(lengths[i] & LENGTH_ANSWER)))
            continue;
        struct ranked one = {collection->id, i, score};
        ranked_insert(ranked, room, count, &one);
    }
    return true;
}

bool rank_run(struct rank *rank, struct tables *tables, const struct collection *collections, size_t collection_count,
              struct rank_query *query, struct ranked *ranked, size_t room, size_t *count, struct status *st)
{
    double most;
    *count = 0;
    if (!rank)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to search with");
    if (!rank_weigh(tables, collections, collection_count, query, &most, st))
        return false;
    for (size_t i = 0; i < collection_count && most > 0; i++)
        if (collections[i].next &&
            !rank_collection(rank, tables, &collections[i], query, most, ranked, room, count, st))
            return false;
    return true;
}
