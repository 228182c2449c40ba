/* A whole text as an array of characters in their normal form (fold.h), for readers that look forward and back.
 *
 * `at[count]` is a valid sentinel: its code is 0, and it begins and ends at the end of the text. */
#ifndef RENGA_WORDS_CHARACTERS_H
#define RENGA_WORDS_CHARACTERS_H

#include "base/arena.h"
#include "words/fold.h"

struct characters {
    const char *text; /* borrowed */
    size_t length;
    const struct folded *at;
    size_t count;
};

/* False if the arena is out of memory. */
bool characters_read(struct arena *arena, const char *text, size_t length, struct characters *characters);

/* Whether a word may begin or end before character `i`. Two neighbours of the same kind (Latin letters, digits,
 * Katakana, Han characters) are not separated; Hiragana may be separated anywhere. */
bool characters_part(const struct characters *characters, size_t i);

#endif
