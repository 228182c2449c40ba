/* Private to services/form: a number in figures, in Han characters or in English words. */
#ifndef RENGA_FORM_NUMBERS_H
#define RENGA_FORM_NUMBERS_H

#include "form/reading.h"

/* units × 10^-scale, without trailing zeros behind the point. */
struct decimal {
    int64_t units;
    unsigned scale;
};

#define DECIMAL_DIGITS_MAX 15 /* a double keeps as many, so that the stored value equals the compared value */

/* `text` has room for DECIMAL_TEXT_MAX bytes. */
#define DECIMAL_TEXT_MAX 32
void decimal_print(struct decimal number, char *text);

/* units × 10^power; false if it is out of range. */
bool decimal_make(int64_t units, int power, struct decimal *number);
bool decimal_add(struct decimal one, struct decimal other, struct decimal *sum);

enum number_kind { NUMBER_NONE, NUMBER_FIGURES, NUMBER_HAN, NUMBER_WORDS, NUMBER_BAD };

struct number {
    enum number_kind kind; /* NUMBER_BAD: figures that are no number, "12,5", "1.2.3" */
    struct decimal value;
    size_t end;
};

/* The number that begins at `i`, its sign included. */
struct number number_at(const struct reading *in, size_t i);
struct number han_number_at(const struct reading *in, size_t i);
struct number english_number_at(const struct reading *in, size_t i);

/* A whole number of at most `digits` digits in figures or Han characters, as dates have it; its end, or 0. */
size_t count_at(const struct reading *in, size_t i, unsigned digits, int *value);

#endif
