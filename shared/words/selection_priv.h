/* Private to selection*.c. */
#ifndef RENGA_WORDS_SELECTION_PRIV_H
#define RENGA_WORDS_SELECTION_PRIV_H

#include "words/asked.h"
#include "words/evidence.h"
#include "words/selection.h"

#define NEAR_BYTES 12 /* of the question between two terms that are neighbours */

/* A question while sentences are ranked for it. */
struct question {
    const char *text;
    size_t length;
    struct query terms;
    double best_own, best_search;
    struct asked asked;
};

/* Which terms of the question a unit and its place have. */
enum { HAS_SENTENCE = 1, HAS_CONTEXT = 2, HAS_PASSAGE = 4 };
void selection_mark(const struct evidence *evidence, const struct query *query, uint32_t unit, bool whole_passage,
                    uint8_t has[QUERY_TERMS_MAX]);

/* The shares of the terms in a span of the question that a place has one of the `bits` for. */
double selection_share_of(const struct question *question, const struct span *span, const uint8_t has[QUERY_TERMS_MAX],
                          uint8_t bits);

/* Fills the covers of a selection that has a best sentence. */
void selection_cover(const struct evidence *evidence, const struct question *question, struct selection *selection);

#endif
