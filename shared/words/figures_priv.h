/* Private to figures*.c: known units. */
#ifndef RENGA_WORDS_FIGURES_PRIV_H
#define RENGA_WORDS_FIGURES_PRIV_H

#include "words/figures.h"

struct figure_unit {
    const char *word; /* in normal form; a blank matches a hyphen, too */
    const char *name; /* of the unit that it is counted in, with "=" */
    int exponent;     /* the number of these units is 10 ^ exponent */
};

/* The known unit that begins at a letter, the longest word first; NULL: none. */
const struct figure_unit *figure_unit_at(const struct figure_letters *letters, size_t at);

/* Whether a word in normal form stands at the letter; Latin letters as a whole word. *end: the letter after it. */
bool figure_word_at(const struct figure_letters *letters, size_t at, const char *word, size_t *end);

#endif
