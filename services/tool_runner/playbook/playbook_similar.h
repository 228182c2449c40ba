/* Whether two bullets say the same. Pure, linear in both texts, any thread.
 *
 * Two measures, because they answer different questions. The similarity is the weighted share of common terms
 * (words.h), and finds candidates. Whether both say the same is decided on the sequence of words: after the harmless
 * differences are removed (white space, width, case at the beginning of a sentence, articles, polite forms,
 * contractions, a few spellings) all words must be equal. Another number, name, negation or order therefore makes a
 * difference, in a text of any length. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_SIMILAR_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_SIMILAR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAYBOOK_SIMILAR_ENOUGH 0.9 /* from here on two bullets are nearly the same */
#define PLAYBOOK_WHY_MAX        512 /* bytes, the NUL included */

enum playbook_difference {
    PLAYBOOK_SAME,
    PLAYBOOK_OTHER_NUMBER,
    PLAYBOOK_OTHER_NEGATION,
    PLAYBOOK_OTHER_ORDER, /* a word like "before" or "after", or the same words in another order */
    PLAYBOOK_OTHER_NAME,  /* a capitalised word, or one with digits or symbols */
    PLAYBOOK_OTHER_WORDS,
};

struct playbook_similarity {
    double similarity; /* 0 to 1; 1 if the difference is PLAYBOOK_SAME */
    enum playbook_difference difference;
    char reason[PLAYBOOK_WHY_MAX]; /* a sentence with the different words; "" without a difference */
};

/* Scratch memory is taken from the arena, some 100 bytes for each byte of both texts. If it is exhausted, the
 * similarity is 0 and the difference is PLAYBOOK_OTHER_WORDS. */
void playbook_compare(struct arena *arena, const char *one, const char *other, struct playbook_similarity *similarity);

/* ---- the terms that similarity is measured with (for the index) ---------------------------------------------------*/

struct playbook_term {
    uint64_t hash; /* of its normal form; of this process */
    float weight;  /* its share of the text */
    uint32_t times;
    bool stop_word;
};

/* The different terms of a text, sorted by hash; NULL if the arena is exhausted. */
struct playbook_term *playbook_terms(struct arena *arena, const char *text, size_t length, size_t *count);

/* Dice's coefficient, weighted: 0 to 1. */
double playbook_terms_similarity(const struct playbook_term *one, size_t one_count, const struct playbook_term *other,
                                 size_t other_count);

#endif
