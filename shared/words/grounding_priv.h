/* Private to grounding*.c. */
#ifndef RENGA_WORDS_GROUNDING_PRIV_H
#define RENGA_WORDS_GROUNDING_PRIV_H

#include "words/aligned.h"
#include "words/evidence.h"
#include "words/grounding.h"
#include "words/selection.h"

/* The state between the sentences of an answer. */
struct grounding_work {
    const struct evidence *evidence;
    struct claim question;
    struct selection *selection; /* the best sentences as answers, and the reading of the question */
    struct aligned_text asked;   /* the words of the question */
    double *units, *passages;    /* the share of the question that each has */
    double best;                 /* the score of the best unit */
    double *weights;             /* of each unit, while candidates are counted; otherwise 0 */
    double *names;               /* of each passage: 1 + its share of the question's names; 0: not counted yet */
};

/* False if the arena is out of memory. */
bool grounding_open(const struct evidence *evidence, struct claim question, struct grounding_work *work);

/* How a sentence of the answer stands in the sources. */
struct grounded {
    bool found, other;
    struct span word; /* of the sentence, if `other` */
    uint32_t unit;    /* its place in the sources; NO_TERM: not found */
};

/* grounding_sentence.c: compares a sentence with its nearest sources. */
void grounding_compare(struct grounding_work *work, struct claim sentence, struct grounded *grounded);

/* grounding_places.c: the best unit in which the words of a sentence stand next to each other; `unit` if no unit is
 * better. NO_TERM as `unit` is worse than any. */
uint32_t grounding_place(const struct grounding_work *work, struct claim sentence, uint32_t unit);

/* 0 to 1: how well a unit fits the question, with the unit before it and its passage. */
double grounding_unit_score(const struct grounding_work *work, uint32_t unit);

/* The unit of a passage at an offset. */
uint32_t grounding_unit_at(const struct evidence *evidence, size_t passage, size_t at);

struct claim grounding_text(const struct evidence *evidence, uint32_t unit);
struct claim grounding_heading(const struct evidence *evidence, size_t passage);

/* grounding_echo.c: whether a sentence adds a word to the question that its unit has. */
bool grounding_adds(const struct grounding_work *work, struct claim sentence, uint32_t unit);

#endif
