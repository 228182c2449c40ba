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
    .constant = -5.94,
    .japanese = -0.40,
    .best = 2.51,
    .ahead_of_second = 4.90,
    .ahead = 0.75,
    .covers =
        {
            [COVER_SENTENCE] = 0.79,
            [COVER_CONTEXT] = 1.10,
            [COVER_PASSAGE] = 1.59,
            [COVER_ALL] = 0.74,
            [COVER_RARE] = 0.06,
            [COVER_NAMES] = 0.36,
            [COVER_NAMES_CONTEXT] = 0.34,
            [COVER_NUMBERS] = 0.89,
            [COVER_RUNS] = -0.07,
            [COVER_FIT_NUMBER] = 1.49,
            [COVER_FIT_NAME] = -0.89,
            [COVER_FIT_OTHER] = -1.63,
            [COVER_FOCUS] = 0.42,
            [COVER_SUBJECT] = 0.23,
            [COVER_FOCUS_PASSAGE] = -0.27,
            [COVER_SUBJECT_PASSAGE] = 0.35,
            [COVER_CLEAR] = 0.26,
            [COVER_TERMS] = 0.82,
        },
};
static const struct weights without_search = {
    .constant = -6.24,
    .japanese = -0.50,
    .covers =
        {
            [COVER_SENTENCE] = 1.25,
            [COVER_CONTEXT] = 1.71,
            [COVER_PASSAGE] = 2.66,
            [COVER_ALL] = 0.78,
            [COVER_RARE] = -0.05,
            [COVER_NAMES] = 0.55,
            [COVER_NAMES_CONTEXT] = 0.26,
            [COVER_NUMBERS] = 0.77,
            [COVER_RUNS] = 0.16,
            [COVER_FIT_NUMBER] = 1.59,
            [COVER_FIT_NAME] = -0.78,
            [COVER_FIT_OTHER] = -1.39,
            [COVER_FOCUS] = 0.12,
            [COVER_SUBJECT] = 0.30,
            [COVER_FOCUS_PASSAGE] = 0.05,
            [COVER_SUBJECT_PASSAGE] = 0.46,
            [COVER_CLEAR] = 0.98,
            [COVER_TERMS] = 0.77,
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
