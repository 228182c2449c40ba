/* Private to selection*.c. */
#ifndef RENGA_WORDS_SELECTION_PRIV_H
#define RENGA_WORDS_SELECTION_PRIV_H

#include "words/evidence.h"
#include "words/selection.h"

#define NEAR_BYTES 12 /* of the question between two terms that are neighbours */

/* A question while sentences are ranked for it. */
struct question {
    const char *text;
    size_t length;
    struct query terms;
    double best_own, best_search;
    bool number;
};

/* Fills the covers of a selection that has a best sentence. */
void selection_cover(const struct evidence *evidence, const struct question *question, struct selection *selection);

#endif
