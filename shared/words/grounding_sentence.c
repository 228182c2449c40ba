/* A sentence of an answer stands in the sources if one of them has it literally, or nearly so without another word in
 * place of a word, or if a few neighbouring sentences have most of its words, and all its names and numbers. */
#include "words/grounding_priv.h"

#include "words/claims_priv.h"

#define NEAR_LEAST   0.3 /* share of a sentence's weight in a unit, from which both are compared word by word */
#define NEAREST_MOST 3   /* units that are compared word by word */
#define PART_BYTES   ((size_t)80)
#define VISITS_MOST  2048 /* units that are counted for a sentence */

struct nearest {
    uint32_t units[NEAREST_MOST];
    double weights[NEAREST_MOST];
    size_t count;
};

static void nearest_add(struct nearest *nearest, uint32_t unit, double weight)
{
    size_t at = nearest->count;
    if (at == NEAREST_MOST) {
        if (weight <= nearest->weights[at - 1])
            return;
        at--;
    } else {
        nearest->count++;
    }
    for (; at > 0 && nearest->weights[at - 1] < weight; at--) {
        nearest->units[at] = nearest->units[at - 1];
        nearest->weights[at] = nearest->weights[at - 1];
    }
    nearest->units[at] = unit;
    nearest->weights[at] = weight;
}

/* The query term with the fewest holders among those that were not taken. */
static struct query_term *nearest_rarest(const struct evidence *evidence, struct query *query)
{
    struct query_term *rarest = NULL;
    for (size_t i = 0; i < query->count; i++) {
        struct query_term *term = &query->terms[i];
        if (term->id != NO_TERM && !term->stop_word &&
            (!rarest || evidence->terms[term->id].count < evidence->terms[rarest->id].count))
            rarest = term;
    }
    return rarest;
}

/* The units with the most of the sentence's weight, numbers included. Rare terms are counted first. */
static void nearest_find(struct grounding_work *work, struct query *query, struct nearest *nearest)
{
    const struct evidence *evidence = work->evidence;
    uint32_t touched[VISITS_MOST];
    struct query_term *term;
    size_t visits = 0;
    while (visits < VISITS_MOST && (term = nearest_rarest(evidence, query))) {
        const struct term_entry *entry = &evidence->terms[term->id];
        for (uint32_t h = 0; h < entry->count && visits < VISITS_MOST; h++) {
            uint32_t unit = evidence->holders[entry->holders + h];
            work->weights[unit] += term->weight;
            touched[visits++] = unit;
        }
        term->id = NO_TERM; /* taken */
    }
    nearest->count = 0;
    for (size_t i = 0; i < visits; i++) {
        double weight = work->weights[touched[i]];
        if (weight >= NEAR_LEAST * query->weight && !evidence->units[touched[i]].heading)
            nearest_add(nearest, touched[i], weight);
        work->weights[touched[i]] = 0;
    }
}

/* Whether the sentence is a small part of the source, as a short answer is: other parts may deny or count. */
static bool grounding_is_part(struct claim sentence, struct claim source)
{
    return sentence.length * 2 < source.length && sentence.length <= PART_BYTES;
}

/* Nearly equal texts may still differ in a denial, an opposite, the order of their parts or a unit. */
static bool grounding_means_the_same(struct claim sentence, struct claim source, struct claim heading)
{
    return claims_denial_agrees(sentence, source) && claims_opposites_agree(sentence, source) &&
           claims_order_agrees(sentence, source) && claims_numerals_agree(sentence, source, heading) &&
           claims_figures_agree(sentence, source, heading);
}

static enum aligned_result grounding_align(struct grounding_work *work, struct claim sentence,
                                           struct grounded *grounded)
{
    const struct evidence *evidence = work->evidence;
    struct query query;
    struct nearest nearest;
    enum aligned_result result = ALIGNED_APART;
    query_read(evidence, evidence, sentence.text, sentence.length, &query);
    nearest_find(work, &query, &nearest);
    for (size_t i = 0; i < nearest.count; i++) {
        uint32_t unit = nearest.units[i], passage = evidence->units[unit].passage;
        const struct passage *around = &evidence->passages[passage];
        struct span word;
        enum aligned_result one =
            aligned_compare(sentence, grounding_text(evidence, unit), (struct claim){around->text, around->length},
                            grounding_heading(evidence, passage), &word);
        if (one == ALIGNED_SAME && !grounding_is_part(sentence, grounding_text(evidence, unit)) &&
            !grounding_means_the_same(sentence, grounding_text(evidence, unit), grounding_heading(evidence, passage))) {
            one = ALIGNED_OTHER;
            word = (struct span){0, sentence.length};
        }
        if (one == ALIGNED_APART || (one == ALIGNED_OTHER && result == ALIGNED_OTHER))
            continue;
        grounded->unit = unit;
        result = one;
        if (one == ALIGNED_SAME)
            break;
        grounded->word = word;
    }
    return result;
}

/* A sentence in other words: its names and numbers must stand together in the quote. */
static bool grounding_agrees(const struct evidence *evidence, struct claim sentence, const struct support *support)
{
    const struct passage *passage = &evidence->passages[support->passage];
    struct claim quote = {passage->text + support->quote.begin, support->quote.end - support->quote.begin};
    return claims_agree(sentence, quote, grounding_heading(evidence, support->passage));
}

void grounding_compare(struct grounding_work *work, struct claim sentence, struct grounded *grounded)
{
    const struct evidence *evidence = work->evidence;
    struct support support;
    *grounded = (struct grounded){.unit = NO_TERM};
    grounded->found = support_find(evidence, sentence.text, sentence.length, SUPPORT_ENOUGH, &support);
    if (support.exact) {
        grounded->unit = grounding_unit_at(evidence, support.passage, support.quote.begin);
        return;
    }
    switch (grounding_align(work, sentence, grounded)) {
    case ALIGNED_OTHER:
        grounded->other = true;
        grounded->found = false;
        break;
    case ALIGNED_SAME:
        break;
    case ALIGNED_APART:
        grounded->word = (struct span){0, sentence.length};
        grounded->other = grounded->found && !grounding_agrees(evidence, sentence, &support);
        grounded->found &= !grounded->other;
        break;
    }
    if (grounded->found && grounded->unit == NO_TERM)
        grounded->unit = grounding_unit_at(evidence, support.passage, support.quote.begin);
}
