/* Whether the question is answered or nothing is: a logistic regression. The scores of a search tell how rare the words
 * of the question are in all documents; the covers tell how the best sentence and its passage answer the question as a
 * whole. tests/bench/fit_selection makes the weights. */
#include "extract.h"

#include <math.h>

struct weights {
    double constant, japanese, best, ahead_of_second, ahead;
    double covers[SELECTION_COVERS];
};

/* Without scores of a search, the covers alone decide. */
static const struct weights with_search = {
    .constant = -6.73,
    .japanese = -0.35,
    .best = 1.89,
    .ahead_of_second = 4.45,
    .ahead = 1.18,
    .covers =
        {
            [COVER_SENTENCE] = 1.09,
            [COVER_CONTEXT] = 1.10,
            [COVER_PASSAGE] = 1.95,
            [COVER_ALL] = 0.52,
            [COVER_RARE] = 0.28,
            [COVER_NAMES] = 0.77,
            [COVER_NAMES_CONTEXT] = 0.18,
            [COVER_NUMBERS] = 0.80,
            [COVER_RUNS] = -0.17,
            [COVER_FIT] = 0.68,
            [COVER_CLEAR] = 0.81,
            [COVER_TERMS] = 0.80,
        },
};
static const struct weights without_search = {
    .constant = -6.28,
    .japanese = -0.49,
    .covers =
        {
            [COVER_SENTENCE] = 1.46,
            [COVER_CONTEXT] = 1.63,
            [COVER_PASSAGE] = 3.11,
            [COVER_ALL] = 0.56,
            [COVER_RARE] = 0.11,
            [COVER_NAMES] = 0.98,
            [COVER_NAMES_CONTEXT] = 0.06,
            [COVER_NUMBERS] = 0.69,
            [COVER_RUNS] = 0.00,
            [COVER_FIT] = 0.65,
            [COVER_CLEAR] = 1.45,
            [COVER_TERMS] = 0.69,
        },
};

double extract_confidence(const struct extract *extract, const struct selection *selection)
{
    const struct found *found = &extract->found;
    const struct weights *weights = found->scored ? &with_search : &without_search;
    double sum = weights->constant + (extract->japanese ? weights->japanese : 0) + weights->best * found->best +
                 weights->ahead_of_second * found->ahead_of_second + weights->ahead * found->ahead;
    for (size_t i = 0; i < SELECTION_COVERS; i++)
        sum += weights->covers[i] * selection->covers[i];
    return selection->count ? 1 / (1 + exp(-sum)) : 0;
}
