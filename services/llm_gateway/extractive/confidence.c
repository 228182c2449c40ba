/* Whether it is answered or nothing is. A logistic regression with few weights: what the search says knows how rare
 * words are in all documents, what is covered by sentences does not depend on a search. tests/bench/fit_confidence makes
 * the weights. */
#include "extract.h"

#include <math.h>

struct weights {
    double constant, best, ahead, support;
};

static const struct weights without_search = {-7.6, 0, 0, 20.0};
static const struct weights with_search = {-4.0, 4.0, 6.0, 3.0};
#define JAPANESE_MORE_UNSEARCHED 0.6 /* a Japanese question is covered in pairs: less of it where it is said otherwise */
#define JAPANESE_MORE            0.5

double extract_support(const struct evidence *evidence, struct text asked, const struct chosen *chosen, size_t count)
{
    struct coverage coverage;
    if (!count)
        return 0;
    evidence_cover(evidence, evidence, asked.bytes, asked.length, &coverage);
    return (chosen[0].score + coverage.best + coverage.share) / 3;
}

double extract_confidence(const struct extract *extract, double support)
{
    const struct found *found = &extract->found;
    const struct weights *weights = found->scored ? &with_search : &without_search;
    double japanese = !extract->japanese ? 0 : found->scored ? JAPANESE_MORE : JAPANESE_MORE_UNSEARCHED;
    double sum = weights->constant + japanese + weights->best * found->best + weights->ahead * found->ahead +
                 weights->support * support;
    return support > 0 ? 1 / (1 + exp(-sum)) : 0;
}
