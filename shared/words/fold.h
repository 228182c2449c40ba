/* The characters of a text one by one in their normal form (words.h: words_normalize), each with where it stood.
 *
 * What becomes several characters gives them all with the same span; what a mark joins to its letter is one character
 * with the span of both; what is to be ignored (a soft hyphen, a variation selector) gives none. White space is given
 * as it comes. ASCII and what Japanese is written with takes a short way past ICU. */
#ifndef RENGA_WORDS_FOLD_H
#define RENGA_WORDS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_SEGMENT_MAX 16                      /* characters that are composed with each other; more begin anew */
#define FOLD_GIVEN_MAX   (FOLD_SEGMENT_MAX * 18) /* NFKC makes at most 18 of one */

#define FOLD_BROKEN UINT32_C(0xFFFD) /* given for a byte that is no UTF-8 */

struct folded {
    uint32_t code;
    size_t begin, end;
};

/* Its fields are the reader's own. */
struct fold {
    const char *text;
    size_t length, at;
    size_t begin, end;
    unsigned given, next;
    uint32_t codes[FOLD_GIVEN_MAX];
};

void fold_begin(struct fold *fold, const char *text, size_t length);

/* The next character, or false at the end. */
bool fold_next(struct fold *fold, struct folded *folded);

enum script {
    SCRIPT_NONE, /* belongs to no word */
    SCRIPT_SPACE,
    SCRIPT_DIGIT,
    SCRIPT_LETTER,
    SCRIPT_HAN,
    SCRIPT_HIRAGANA,
    SCRIPT_KATAKANA,
};

/* What a character in its normal form is written in. */
enum script script_of(uint32_t code);

/* `code` as UTF-8 at `text`, which has room for four bytes; how many it took. */
size_t utf8_write(char *text, uint32_t code);

/* The character at text[at] and in *end where the next begins; FOLD_BROKEN and one byte where it is no UTF-8. */
uint32_t utf8_read(const char *text, size_t length, size_t at, size_t *end);

#endif
