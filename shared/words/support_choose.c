/* Chooses the sentences that answer a question. The score of a sentence is its share of the question, combined with the
 * shares of the sentence before it and of its passage. Then sentences are taken in turn, with a penalty for
 * similarity to those already taken (maximal marginal relevance). */
#include <string.h>

#include "words/evidence.h"
#include "words/quantity.h"

#define OWN_SHARE     0.45 /* of the score: the sentence itself */
#define BEFORE_SHARE  0.25 /* ... the sentence before it, or its heading */
#define PASSAGE_SHARE 0.30 /* ... its whole passage */
#define ASKING_SHARE  0.3  /* of its score that a question keeps: it is not an answer */
#define NUMBER_SHARE  0.6  /* ... for a sentence without a number, if the question asks for a number */
#define LATER_SHARE   0.06 /* of its score, lost for each passage before its own: passages are sorted by quality */
#define LATER_MOST    5    /* ... at most */
#define POOL_MAX      64

struct pool {
    uint32_t units[POOL_MAX];
    double scores[POOL_MAX];
    size_t count;
};

static bool support_choose_asks(const struct evidence *evidence, const struct unit *unit)
{
    const char *text = evidence->passages[unit->passage].text;
    size_t end = unit->span.end;
    return text[end - 1] == '?' || (end - unit->span.begin >= 3 && memcmp(text + end - 3, "？", 3) == 0);
}

/* The share of the query terms that each unit has, and each passage as a whole. */
static bool support_choose_share(const struct evidence *evidence, const struct query *query, double **of_unit,
                                 double **of_passage)
{
    uint32_t *last = arena_zalloc(evidence->arena, evidence->passage_count * sizeof(*last));
    *of_unit = arena_zalloc(evidence->arena, evidence->unit_count * sizeof(**of_unit));
    *of_passage = arena_zalloc(evidence->arena, evidence->passage_count * sizeof(**of_passage));
    if (last == NULL || *of_unit == NULL || *of_passage == NULL)
        return false;
    for (size_t i = 0; i < query->count; i++) {
        const struct query_term *term = &query->terms[i];
        if (term->id == NO_TERM)
            continue;
        const struct term_entry *entry = &evidence->terms[term->id];
        double weight = term->weight / query->weight;
        for (uint32_t h = 0; h < entry->count; h++) {
            uint32_t unit = evidence->holders[entry->holders + h], passage = evidence->units[unit].passage;
            (*of_unit)[unit] += weight;
            if (last[passage] != i + 1)
                (*of_passage)[passage] += weight;
            last[passage] = (uint32_t)i + 1;
        }
    }
    return true;
}

static void support_choose_add_to_pool(struct pool *pool, uint32_t unit, double score)
{
    size_t at = pool->count;
    if (at == POOL_MAX) {
        if (score <= pool->scores[POOL_MAX - 1])
            return;
        at--;
    } else {
        pool->count++;
    }
    for (; at > 0 && pool->scores[at - 1] < score; at--) {
        pool->units[at] = pool->units[at - 1];
        pool->scores[at] = pool->scores[at - 1];
    }
    pool->units[at] = unit;
    pool->scores[at] = score;
}

/* The factor of a sentence's score for its kind and its passage. */
static double fitness(const struct evidence *evidence, const struct unit *unit, bool asks_number)
{
    const char *text = evidence->passages[unit->passage].text + unit->span.begin;
    bool lacks_number = asks_number && !words_has_number(text, unit->span.end - unit->span.begin);
    unsigned later = unit->passage < LATER_MOST ? unit->passage : LATER_MOST;
    return (support_choose_asks(evidence, unit) ? ASKING_SHARE : 1) * (lacks_number ? NUMBER_SHARE : 1) *
           (1 - LATER_SHARE * later);
}

static void support_choose_fill_pool(const struct evidence *evidence, const double *of_unit, const double *of_passage,
                                     bool asks_number, struct pool *pool)
{
    for (uint32_t i = 0; i < evidence->unit_count; i++) {
        const struct unit *unit = &evidence->units[i];
        if (unit->heading)
            continue;
        bool follows = i > 0 && evidence->units[i - 1].passage == unit->passage;
        double score = OWN_SHARE * of_unit[i] + PASSAGE_SHARE * of_passage[unit->passage] +
                       (follows ? BEFORE_SHARE * of_unit[i - 1] : 0);
        if (score > 0)
            support_choose_add_to_pool(pool, i, score * fitness(evidence, unit, asks_number));
    }
}

static double support_choose_weight_of(const struct evidence *evidence, uint32_t term)
{
    return evidence_weight(evidence, evidence->terms[term].count, evidence->terms[term].stop_word);
}

static double unit_weight(const struct evidence *evidence, uint32_t unit)
{
    double weight = 0;
    for (uint32_t t = evidence->units[unit].terms; t < evidence->units[unit].terms_end; t++)
        weight += support_choose_weight_of(evidence, evidence->unit_terms[t]);
    return weight;
}

/* Marks the terms of the last taken sentence: taken_by[term] == number. */
struct likeness {
    uint32_t *taken_by;
    uint32_t number;
    double weight;
};

static void mark_taken(const struct evidence *evidence, uint32_t unit, struct likeness *likeness)
{
    likeness->number++;
    likeness->weight = unit_weight(evidence, unit);
    for (uint32_t t = evidence->units[unit].terms; t < evidence->units[unit].terms_end; t++)
        likeness->taken_by[evidence->unit_terms[t]] = likeness->number;
}

/* The similarity of `unit` and the last taken sentence: the weight of their common terms, relative to the lighter of
 * the two. */
static double likeness_of(const struct evidence *evidence, const struct likeness *likeness, uint32_t unit,
                          double weight)
{
    double both = 0;
    for (uint32_t t = evidence->units[unit].terms; t < evidence->units[unit].terms_end; t++) {
        if (likeness->taken_by[evidence->unit_terms[t]] == likeness->number)
            both += support_choose_weight_of(evidence, evidence->unit_terms[t]);
    }
    double lighter = weight < likeness->weight ? weight : likeness->weight;
    return lighter > 0 ? both / lighter : 0;
}

static void support_choose_take(const struct evidence *evidence, struct pool *pool, size_t at, struct chosen *chosen)
{
    const struct unit *unit = &evidence->units[pool->units[at]];
    *chosen = (struct chosen){.passage = unit->passage, .span = unit->span, .score = pool->scores[at]};
}

static size_t support_choose_run(const struct evidence *evidence, struct pool *pool, const struct choice_terms *terms,
                                 struct chosen chosen[CHOSEN_MAX])
{
    size_t count = 0, bytes = 0, max = terms->sentences_max < CHOSEN_MAX ? terms->sentences_max : CHOSEN_MAX;
    double alike[POOL_MAX] = {0}, weights[POOL_MAX];
    bool gone[POOL_MAX] = {0};
    struct likeness likeness = {.taken_by =
                                    arena_zalloc(evidence->arena, evidence->term_count * sizeof(*likeness.taken_by))};
    for (size_t i = 0; i < pool->count; i++)
        weights[i] = unit_weight(evidence, pool->units[i]);
    while (count < max && likeness.taken_by != NULL) {
        size_t best = POOL_MAX;
        double best_value = 0;
        for (size_t i = 0; i < pool->count; i++) {
            double value = pool->scores[i] * (1 - terms->novelty * alike[i]);
            size_t size = evidence->units[pool->units[i]].span.end - evidence->units[pool->units[i]].span.begin;
            if (gone[i] || pool->scores[i] < terms->least * pool->scores[0] || bytes + size > terms->bytes_max)
                continue;
            if (best == POOL_MAX || value > best_value) {
                best = i;
                best_value = value;
            }
        }
        if (best == POOL_MAX || best_value <= 0)
            break;
        gone[best] = true;
        support_choose_take(evidence, pool, best, &chosen[count++]);
        bytes += chosen[count - 1].span.end - chosen[count - 1].span.begin;
        mark_taken(evidence, pool->units[best], &likeness);
        for (size_t i = 0; i < pool->count; i++) {
            double like = gone[i] ? 0 : likeness_of(evidence, &likeness, pool->units[i], weights[i]);
            alike[i] = like > alike[i] ? like : alike[i];
        }
    }
    return count;
}

size_t evidence_choose(const struct evidence *evidence, const char *question, size_t length,
                       const struct choice_terms *terms, struct chosen chosen[CHOSEN_MAX])
{
    struct query query;
    struct pool pool = {.count = 0};
    double *of_unit, *of_passage;
    query_read(evidence, evidence, question, length, &query);
    if (query.weight <= 0 || evidence->unit_count == 0 ||
        !support_choose_share(evidence, &query, &of_unit, &of_passage))
        return 0;
    support_choose_fill_pool(evidence, of_unit, of_passage, words_asks_number(question, length), &pool);
    return support_choose_run(evidence, &pool, terms, chosen);
}

static bool support_choose_within(const struct query *query, const struct query_term *term, size_t at)
{
    for (size_t i = 0; i < query->count; i++) {
        const struct query_term *other = &query->terms[i];
        if (other != term && other->id != NO_TERM && other->begin <= at && at < other->end)
            return true;
    }
    return false;
}

/* Whether other covered terms contain all letters of the term: 定画 of 設定画面, if 設定 and 画面 are covered. */
static bool is_covered_by_others(const struct query *query, const struct query_term *term)
{
    for (size_t at = term->begin; at < term->end; at++) {
        if (!support_choose_within(query, term, at))
            return false;
    }
    return true;
}

static void support_choose_add_missing(struct coverage *coverage, const struct query_term *term)
{
    if (coverage->missing_count > 0) {
        struct span *last = &coverage->missing[coverage->missing_count - 1];
        if (term->begin <= last->end) {
            last->end = term->end > last->end ? term->end : last->end;
            return;
        }
    }
    if (coverage->missing_count < MISSING_MAX)
        coverage->missing[coverage->missing_count++] = (struct span){.begin = term->begin, .end = term->end};
}

void evidence_cover(const struct evidence *evidence, const struct evidence *weights, const char *text, size_t length,
                    struct coverage *coverage)
{
    struct query query;
    double *of_unit, *of_passage, weight = 0;
    query_read(evidence, weights, text, length, &query);
    *coverage = (struct coverage){.share = 1, .best = 1};
    if (query.weight <= 0)
        return;
    for (size_t i = 0; i < query.count; i++) {
        const struct query_term *term = &query.terms[i];
        if (term->id != NO_TERM)
            weight += term->weight;
        else if (!term->stop_word && !is_covered_by_others(&query, term))
            support_choose_add_missing(coverage, term);
    }
    coverage->share = weight / query.weight;
    coverage->best = 0;
    if (!support_choose_share(evidence, &query, &of_unit, &of_passage))
        return;
    for (size_t i = 0; i < evidence->passage_count; i++)
        coverage->best = of_passage[i] > coverage->best ? of_passage[i] : coverage->best;
}

double evidence_answers(const struct evidence *evidence, const char *question, size_t length,
                        const struct chosen *chosen, size_t count)
{
    struct coverage coverage;
    if (!count)
        return 0;
    evidence_cover(evidence, evidence, question, length, &coverage);
    return (chosen[0].score + coverage.best + coverage.share) / 3;
}
