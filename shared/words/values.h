/* Private to terms.c: reads the characters of a text, with Japanese numerals and years of eras as plain digits. So
 * 二十三 is 23, 三百万 and 300万 are 3000000, 一九九八年 is 1998年, 平成十年 and 平成10年 are 平成1998年, and 明治元年
 * is 明治1868年.
 *
 * A single numeral counts only before a counter: 三人, but not 三角. Digits that replace a numeral have its span.
 * Linear time; a numeral of more than VALUE_LETTERS_MAX characters is given unchanged. */
#ifndef RENGA_WORDS_VALUES_H
#define RENGA_WORDS_VALUES_H

#include "words/fold.h"

#define VALUE_LETTERS_MAX 32

/* The fields are private to the reader. */
struct value_reader {
    struct fold fold;
    struct folded raw[VALUE_LETTERS_MAX]; /* characters that are read ahead */
    unsigned raw_at, raw_count;
    unsigned unchanged; /* of them, to be given without another look */
    bool overlong;      /* within a numeral of too many characters */
    char digits[24];
    unsigned digits_at, digits_count;
    struct folded numeral; /* the span of the digits */
    uint32_t before[2];    /* the last two characters, the last one first */
};

void values_begin(struct value_reader *reader, const char *text, size_t length);

/* The next character, or false at the end. */
bool values_next(struct value_reader *reader, struct folded *folded);

/* The year before the first year of a Japanese era that is named by two characters, or 0: 平成 is 1988. */
unsigned value_era(uint32_t first, uint32_t second);

#endif
