/* Slips of the finger: a word that differs by one letter from another one, and is no word itself as far as this house
 * knows. Whether a slip is mended depends on the text around it: the caller decides. */
#ifndef RENGA_WORDS_SLIPS_H
#define RENGA_WORDS_SLIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLIP_CODES_MAX 32 /* a longer word is never compared */

/* A word of Latin letters or of Katakana, in its normal form. `length` may be more than SLIP_CODES_MAX. */
struct slip_word {
    uint32_t codes[SLIP_CODES_MAX];
    size_t length;
    bool katakana;
};

enum slip_kind {
    SLIP_NONE,
    SLIP_USUAL, /* a letter is doubled, one of two is missing, or two are exchanged: seldom another word */
    SLIP_OTHER, /* a letter is missing, added, or another one */
};

/* False for a short word, and for an English one that is itself a letter away from another: "county", "stopped". */
bool slip_is_possible(const struct slip_word *written);

/* How `written` differs from `word`. The first letter stays, or is exchanged with the second one. */
enum slip_kind slip_of(const struct slip_word *written, const struct slip_word *word);

/* Private to slips.c: whether the word is one of slips_words.c. */
bool slip_is_word(const char *word);

#endif
