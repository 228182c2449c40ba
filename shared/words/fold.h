/* Reads the characters of a text in order, in their normal form (words.h: words_normalize), each with its position.
 *
 * If a character becomes several, all of them have the same span. A letter and its combining mark become one character
 * with the span of both. An ignorable character (a soft hyphen, a variation selector) gives no output. White space is
 * given unchanged. ASCII and Japanese take a fast path without ICU. */
#ifndef RENGA_WORDS_FOLD_H
#define RENGA_WORDS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_SEGMENT_MAX 16                      /* characters composed together; more begin a new segment */
#define FOLD_GIVEN_MAX   (FOLD_SEGMENT_MAX * 18) /* NFKC expands a character to at most 18 */

#define FOLD_BROKEN UINT32_C(0xFFFD) /* given for a byte that is not valid UTF-8 */

struct folded {
    uint32_t code;
    size_t begin, end;
};

/* The fields are private to the reader. */
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
    SCRIPT_NONE, /* not part of a word */
    SCRIPT_SPACE,
    SCRIPT_DIGIT,
    SCRIPT_LETTER,
    SCRIPT_HAN,
    SCRIPT_HIRAGANA,
    SCRIPT_KATAKANA,
};

/* The script of a character in its normal form. */
enum script script_of(uint32_t code);

/* Writes `code` as UTF-8 to `text`, which has room for four bytes; returns the number of bytes written. */
size_t utf8_write(char *text, uint32_t code);

/* Returns the character at text[at], and in *end the offset of the next character. A byte that is not valid UTF-8 gives
 * FOLD_BROKEN and a length of 1. */
uint32_t utf8_read(const char *text, size_t length, size_t at, size_t *end);

#endif
