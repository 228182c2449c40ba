/* Finds the place of an answer in the sources, and rates how well that place answers the question. */
#include "words/grounding_priv.h"

#include <string.h>

#define PLACES_MOST 64            /* units or places that are compared for a short answer */
#define SHORT_MOST  ((size_t)100) /* bytes of an answer that is searched letter by letter */
/* Of the score of a unit, as support_choose.c. */
#define OWN_SHARE     0.45
#define BEFORE_SHARE  0.25
#define PASSAGE_SHARE 0.30

struct claim grounding_text(const struct evidence *evidence, uint32_t unit)
{
    const struct unit *of = &evidence->units[unit];
    return (struct claim){evidence->passages[of->passage].text + of->span.begin, of->span.end - of->span.begin};
}

struct claim grounding_heading(const struct evidence *evidence, size_t passage)
{
    const struct passage *of = &evidence->passages[passage];
    return (struct claim){of->heading ? of->heading : "", of->heading ? of->heading_length : 0};
}

/* The units of a passage are in text order, after its heading. NO_TERM: it has none. */
uint32_t grounding_unit_at(const struct evidence *evidence, size_t passage, size_t at)
{
    uint32_t first = evidence->firsts[passage];
    uint32_t last =
        (passage + 1 < evidence->passage_count ? evidence->firsts[passage + 1] : (uint32_t)evidence->unit_count);
    if (first >= last)
        return NO_TERM;
    while (first + 1 < last && evidence->units[first].heading)
        first++;
    while (first + 1 < last) {
        uint32_t middle = first + (last - first) / 2;
        if (evidence->units[middle - 1].span.end <= at)
            first = middle;
        else
            last = middle;
    }
    return first;
}

double grounding_unit_score(const struct grounding_work *work, uint32_t unit)
{
    const struct unit *units = work->evidence->units;
    bool follows = unit && units[unit - 1].passage == units[unit].passage;
    return OWN_SHARE * work->units[unit] + PASSAGE_SHARE * work->passages[units[unit].passage] +
           (follows ? BEFORE_SHARE * work->units[unit - 1] : 0);
}

static void grounding_share(struct grounding_work *work, const struct query *query, uint32_t *last)
{
    const struct evidence *evidence = work->evidence;
    for (size_t i = 0; i < query->count; i++) {
        const struct query_term *term = &query->terms[i];
        if (term->id == NO_TERM)
            continue;
        const struct term_entry *entry = &evidence->terms[term->id];
        double weight = term->weight / query->weight;
        for (uint32_t h = 0; h < entry->count; h++) {
            uint32_t unit = evidence->holders[entry->holders + h], passage = evidence->units[unit].passage;
            work->units[unit] += weight;
            if (last[passage] != i + 1)
                work->passages[passage] += weight;
            last[passage] = (uint32_t)i + 1;
        }
    }
}

bool grounding_open(const struct evidence *evidence, struct claim question, struct grounding_work *work)
{
    struct query query;
    struct arena *arena = evidence->arena;
    uint32_t *last = arena_zalloc(arena, (evidence->passage_count + 1) * sizeof *last);
    *work = (struct grounding_work){.evidence = evidence, .question = question};
    work->units = arena_zalloc(arena, (evidence->unit_count + 1) * sizeof *work->units);
    work->passages = arena_zalloc(arena, (evidence->passage_count + 1) * sizeof *work->passages);
    work->weights = arena_zalloc(arena, (evidence->unit_count + 1) * sizeof *work->weights);
    work->names = arena_zalloc(arena, (evidence->passage_count + 1) * sizeof *work->names);
    work->selection = arena_zalloc(arena, sizeof *work->selection);
    if (!last || !work->units || !work->passages || !work->weights || !work->names || !work->selection ||
        !selection_rank(evidence, question.text, question.length, work->selection))
        return false;
    aligned_read(question, &work->asked);
    query_read(evidence, evidence, question.text, question.length, &query);
    if (query.weight > 0)
        grounding_share(work, &query, last);
    for (uint32_t unit = 0; unit < evidence->unit_count; unit++) {
        double score = evidence->units[unit].heading ? 0 : grounding_unit_score(work, unit);
        work->best = score > work->best ? score : work->best;
    }
    return true;
}

/* The units of the rarest strong term of the sentence; NULL: it has no strong term. */
static const struct term_entry *grounding_rarest(const struct evidence *evidence, struct claim sentence)
{
    struct query query;
    const struct term_entry *rarest = NULL;
    query_read(evidence, evidence, sentence.text, sentence.length, &query);
    for (size_t i = 0; i < query.count; i++) {
        if (query.terms[i].id == NO_TERM || query.terms[i].stop_word)
            continue;
        const struct term_entry *entry = &evidence->terms[query.terms[i].id];
        rarest = !rarest || entry->count < rarest->count ? entry : rarest;
    }
    return rarest;
}

static bool grounding_is_better(const struct grounding_work *work, uint32_t unit, uint32_t than)
{
    return !work->evidence->units[unit].heading &&
           (than == NO_TERM || grounding_unit_score(work, unit) > grounding_unit_score(work, than));
}

/* Languages that join particles to words, and Chinese, have answers that are no whole words. */
static uint32_t grounding_place_letters(const struct grounding_work *work, struct claim sentence, uint32_t unit)
{
    const struct evidence *evidence = work->evidence;
    size_t places = 0;
    for (size_t i = 0; i < evidence->passage_count; i++) {
        const struct passage *passage = &evidence->passages[i];
        const char *end = passage->text + passage->length, *at = passage->text;
        while (places++ < PLACES_MOST && (at = memmem(at, (size_t)(end - at), sentence.text, sentence.length))) {
            uint32_t there = grounding_unit_at(evidence, i, (size_t)(at - passage->text));
            unit = there != NO_TERM && grounding_is_better(work, there, unit) ? there : unit;
            at += sentence.length;
        }
    }
    return unit;
}

uint32_t grounding_place(const struct grounding_work *work, struct claim sentence, uint32_t unit)
{
    const struct evidence *evidence = work->evidence;
    const struct term_entry *rarest = grounding_rarest(evidence, sentence);
    struct aligned_text said, there;
    aligned_read(sentence, &said);
    for (uint32_t h = 0; rarest && h < rarest->count && h < PLACES_MOST; h++) {
        uint32_t other = evidence->holders[rarest->holders + h];
        if (!grounding_is_better(work, other, unit))
            continue;
        aligned_read(grounding_text(evidence, other), &there);
        if (aligned_stand(&there, said.words, said.count))
            unit = other;
    }
    return unit == NO_TERM && sentence.length <= SHORT_MOST && sentence.length
               ? grounding_place_letters(work, sentence, unit)
               : unit;
}
