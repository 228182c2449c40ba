#include "knowledge/quote.h"

#include "words/quantity.h"
#include "words/words.h"

#include <string.h>

static const struct rank_term *quote_find_term(const struct rank_query *query, const struct term *term, size_t *place)
{
    for (size_t i = 0; i < query->term_count; i++) {
        const struct rank_term *known = &query->terms[i];
        if (known->length == term->length && memcmp(known->text, term->text, term->length) == 0) {
            *place = i;
            return known;
        }
    }
    return NULL;
}

#define NUMBER_SHARE 0.6 /* of a sentence without a number if the query asks for a number */

struct quoted {
    struct span span;
    bool has[RANK_TERMS_MAX]; /* of the query */
    double weight;
};

/* Each term counts once, unless `besides` has it. */
static double quote_weight_of(const struct rank_query *query, const struct quoted *sentence,
                              const struct quoted *besides)
{
    double weight = 0;
    for (size_t i = 0; i < query->term_count; i++)
        if (sentence->has[i] && !(besides && besides->has[i]))
            weight += query->terms[i].weight;
    return weight;
}

static bool has_number(const char *text, const struct quoted *sentence)
{
    return words_has_number(text + sentence->span.begin, sentence->span.end - sentence->span.begin);
}

static void read_sentence(const char *text, struct span span, const struct rank_query *query, struct quoted *sentence)
{
    struct term_reader reader;
    struct term term;
    size_t place;
    memset(sentence, 0, sizeof *sentence);
    sentence->span = span;
    terms_begin(&reader, text + span.begin, span.end - span.begin);
    while (terms_next(&reader, &term))
        if (quote_find_term(query, &term, &place))
            sentence->has[place] = true;
    sentence->weight = quote_weight_of(query, sentence, NULL);
    if (query->number && !has_number(text, sentence))
        sentence->weight *= NUMBER_SHARE;
}

/* Whether the one before the best brings more than the one behind it. */
static bool before_is_better(const char *text, const struct rank_query *query, const struct quoted *best,
                             const struct quoted *before, const struct quoted *behind)
{
    bool behind_has = behind->span.end && has_number(text, behind);
    if (query->number && !has_number(text, best) && has_number(text, before) != behind_has)
        return has_number(text, before);
    return quote_weight_of(query, before, best) > quote_weight_of(query, behind, best);
}

struct span quote_find(const char *text, size_t length, const struct rank_query *query)
{
    struct sentence_reader reader;
    struct span span;
    struct quoted last = {0}, best = {0}, before = {0}, behind = {0}, sentence;
    sentences_begin(&reader, text, length);
    while (sentences_next(&reader, &span)) {
        read_sentence(text, span, query, &sentence);
        if (sentence.weight > best.weight) {
            best = sentence;
            before = last;
            behind = (struct quoted){0};
        } else if (best.weight > 0 && behind.span.end == 0) {
            behind = sentence;
        }
        last = sentence;
    }
    if (before.span.end && before_is_better(text, query, &best, &before, &behind))
        return (struct span){before.span.begin, best.span.end};
    return behind.span.end ? (struct span){best.span.begin, behind.span.end} : best.span;
}
