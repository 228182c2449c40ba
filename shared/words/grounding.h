/* The groundedness of an answer: whether its sentences stand in the sources, and whether they answer the question as
 * far as words show it. All of it compares wording. It finds no truth, so a caller says "found" and "not found" only.
 *
 * A sentence stands in the sources if it is there literally, or nearly so without another word in place of one, or in
 * other words with the same names and numbers. A short answer ("Delhi") is judged with the sentence in which it stands.
 * Memory comes from the arena of the evidence. The work is linear in the answer and in the evidence. */
#ifndef RENGA_WORDS_GROUNDING_H
#define RENGA_WORDS_GROUNDING_H

#include "words/claims.h"
#include "words/support.h"

#define GROUNDING_SENTENCES 64   /* of an answer; further ones are not compared */
#define GROUNDING_ENOUGH    0.25 /* score from which an answer in Japanese or English answers the question */

struct grounding {
    size_t sentences, found;  /* of the answer; how many of them stand in the sources */
    struct span other;        /* of the answer: the first words that its source does not have; length 0: all found */
    bool misses;              /* the question asks for a number or a date, and no sentence that was found offers one */
    bool echoes;              /* the answer adds no word to the question */
    double score;             /* 0 to 1: how well the places in which the answer stands fit the question */
    struct coverage coverage; /* of the question, by these places */
    bool completed; /* most sentences are in the sources, no sentence has other words, and they answer the question */
};

/* False if the arena is out of memory. */
bool grounding_judge(const struct evidence *evidence, struct claim question, struct claim answer,
                     struct grounding *grounding);

#endif
