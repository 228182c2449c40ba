/* Whether it is answered or nothing is. A logistic regression with few weights: what the search says knows how rare
 * words are in all documents, what is covered by sentences does not depend on a search. tests/bench/fit_confidence
 * makes the weights. */
#include "extract.h"

#include <math.h>

struct weights {
    double constant, best, ahead, support;
};

/* Where no search says anything, support alone decides: from ANSWER_ENOUGH on. */
static const struct weights with_search = {.constant = -3.3, .best = 6, .ahead = 8.2, .support = 2};
static const struct weights with_search_japanese = {.constant = -3, .best = 6, .ahead = 8.2, .support = 2};
static const struct weights without_search = {.constant = -7.6, .support = 20};
static const struct weights without_search_japanese = {.constant = -7, .support = 20};

double extract_confidence(const struct extract *extract, double support)
{
    const struct found *found = &extract->found;
    const struct weights *english = found->scored ? &with_search : &without_search;
    const struct weights *japanese = found->scored ? &with_search_japanese : &without_search_japanese;
    const struct weights *weights = extract->japanese ? japanese : english;
    double sum =
        weights->constant + weights->best * found->best + weights->ahead * found->ahead + weights->support * support;
    return support > 0 ? 1 / (1 + exp(-sum)) : 0;
}
