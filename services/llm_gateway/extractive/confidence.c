/* The probability that the findings answer the question: a logistic regression. The scores of a search tell the
 * rarity of the question's words in all documents; the covers tell how well the best sentence and its passage answer
 * the whole question. tests/bench/fit_selection makes the weights. */
#include "extract.h"

#include <math.h>

struct weights {
    double constant, best, ahead_of_second, ahead;
    double languages[LANGUAGES]; /* added for the language of the question */
    double covers[SELECTION_COVERS];
};

/* Without scores of a search, the covers alone decide. */
static const struct weights with_search = {
    .constant = -7.46,
    .best = 2.57,
    .ahead_of_second = 5.00,
    .ahead = 4.00,
    .languages = {[LANGUAGE_JA] = -0.32,
                  [LANGUAGE_ZH] = 1.40,
                  [LANGUAGE_KO] = 1.70,
                  [LANGUAGE_DE] = 2.20,
                  [LANGUAGE_FR] = 2.00,
                  [LANGUAGE_ES] = 1.90},
    .covers =
        {
            [COVER_SENTENCE] = 0.70,
            [COVER_CONTEXT] = 1.30,
            [COVER_PASSAGE] = 1.59,
            [COVER_ALL] = 0.65,
            [COVER_RARE] = 0.07,
            [COVER_NAMES] = 0.45,
            [COVER_NAMES_CONTEXT] = 0.44,
            [COVER_NUMBERS] = 0.94,
            [COVER_RUNS] = -0.14,
            [COVER_FIT_NUMBER] = 1.49,
            [COVER_FIT_NAME] = -0.77,
            [COVER_FIT_OTHER] = -1.25,
            [COVER_FOCUS] = 0.46,
            [COVER_SUBJECT] = 0.29,
            [COVER_FOCUS_PASSAGE] = -0.22,
            [COVER_SUBJECT_PASSAGE] = 0.36,
            [COVER_CLEAR] = 0.29,
            [COVER_TERMS] = 0.91,
        },
};
static const struct weights without_search = {
    .constant = -6.66,
    .languages = {[LANGUAGE_JA] = -0.48,
                  [LANGUAGE_ZH] = 1.26,
                  [LANGUAGE_KO] = 1.70,
                  [LANGUAGE_DE] = 2.05,
                  [LANGUAGE_FR] = 1.76,
                  [LANGUAGE_ES] = 1.60},
    .covers =
        {
            [COVER_SENTENCE] = 1.25,
            [COVER_CONTEXT] = 1.94,
            [COVER_PASSAGE] = 2.70,
            [COVER_ALL] = 0.61,
            [COVER_RARE] = 0.03,
            [COVER_NAMES] = 0.53,
            [COVER_NAMES_CONTEXT] = 0.27,
            [COVER_NUMBERS] = 0.93,
            [COVER_RUNS] = -0.01,
            [COVER_FIT_NUMBER] = 1.84,
            [COVER_FIT_NAME] = -0.71,
            [COVER_FIT_OTHER] = -1.12,
            [COVER_FOCUS] = 0.12,
            [COVER_SUBJECT] = 0.33,
            [COVER_FOCUS_PASSAGE] = 0.07,
            [COVER_SUBJECT_PASSAGE] = 0.40,
            [COVER_CLEAR] = 0.98,
            [COVER_TERMS] = 0.77,
        },
};

/* English and Japanese with scores: a second regression, over the sum of the first one and three signs of the best
 * sentence. By the first one alone, a manual answered much that it does not have if the question is in its words, and
 * abstained from much that it has if the question is in other words. Fitted on the even half of the documents of three
 * sets of tests/bench/quality (--debian, --handbooks, xyz.jsonl), each question asked with its paragraph and without it
 * (fit_selection, "second"). The constant keeps the mean share of questions whose answer is contained. */
static const struct {
    double constant, sum, score, search, fresh;
} second = {.constant = -2.34, .sum = 0.61, .score = 0.18, .search = 1.25, .fresh = -0.44};

static double confidence_second(double sum, const struct selected *best)
{
    return second.constant + second.sum * sum + second.score * best->chosen.score +
           second.search * best->signs[SIGN_SEARCH] + second.fresh * best->signs[SIGN_NEW];
}

double extract_confidence(const struct extract *extract, const struct selection *selection)
{
    const struct found *found = &extract->found;
    bool measured = extract->language == LANGUAGE_EN || extract->language == LANGUAGE_JA;
    const struct weights *weights = found->scored ? &with_search : &without_search;
    double sum = weights->constant + weights->languages[extract->language] + weights->best * found->best +
                 weights->ahead_of_second * found->ahead_of_second + weights->ahead * found->ahead;
    for (size_t i = 0; i < SELECTION_COVERS; i++)
        sum += weights->covers[i] * selection->covers[i];
    if (selection->count && found->scored && measured)
        sum = confidence_second(sum, &selection->list[0]);
    return selection->count ? 1 / (1 + exp(-sum)) : 0;
}
