#include "knowledge/quote.h"

#include "words/words.h"

#include <string.h>

static const struct rank_term *find(const struct rank_query *query, const struct term *term, size_t *place)
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

/* Each term counts once. */
static double weight_of(const char *text, size_t length, const struct rank_query *query)
{
    bool seen[RANK_TERMS_MAX] = {false};
    struct term_reader reader;
    struct term term;
    double weight = 0;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term)) {
        size_t place;
        const struct rank_term *known = find(query, &term, &place);
        if (!known || seen[place])
            continue;
        seen[place] = true;
        weight += known->weight;
    }
    return weight;
}

struct span quote_find(const char *text, size_t length, const struct rank_query *query)
{
    struct sentence_reader reader;
    struct span sentence, best = {0};
    double most = 0;
    sentences_begin(&reader, text, length);
    while (sentences_next(&reader, &sentence)) {
        double weight = weight_of(text + sentence.begin, sentence.end - sentence.begin, query);
        if (weight > most) {
            most = weight;
            best = sentence;
        }
    }
    return best;
}
