/* The numbers of a text that are written in digits, by value and unit: "150万", "1.5 million" and "1,500,000" are
 * equal, and so are 3割 and "30 %", 令和6年 and 2024年, "1.5 km" and "1,500 m". Width and commas do not count.
 *
 * A unit is a known one (percent, currencies, SI units, times), or else the first letters of the next word, or the next
 * Japanese character. Numbers in brackets such as [1] and [^1] are notes and are left out. Linear time, no allocation;
 * of a text, FIGURE_LETTERS_MAX characters are read. */
#ifndef RENGA_WORDS_FIGURES_H
#define RENGA_WORDS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_LETTERS_MAX 8192
#define FIGURE_UNIT_MAX    8 /* bytes */

struct figure_letters {
    uint32_t codes[FIGURE_LETTERS_MAX];
    size_t count;
};

/* The value is digits × 10 ^ exponent; `digits` does not end with 0 unless it is 0. */
struct figure {
    uint64_t digits;
    int exponent;
    bool negative;
    bool year;                      /* a calendar year: 2024年, "2024" */
    char unit[FIGURE_UNIT_MAX + 1]; /* "": no unit; "=km": a known one */
    size_t begin, end;              /* of the letters, without the unit */
};

void figure_letters_read(const char *text, size_t length, struct figure_letters *letters);

/* The next number from letter *at on, or false. *at becomes the letter after it. */
bool figure_next(const struct figure_letters *letters, size_t *at, struct figure *figure);

/* The first FIGURES_MAX numbers of a text. */
#define FIGURES_MAX 512
struct figures {
    struct figure list[FIGURES_MAX];
    size_t count;
};
void figures_read(const char *text, size_t length, struct figures *figures);

bool figure_same_value(const struct figure *one, const struct figure *other);
/* Whether the units do not contradict each other. A number without a unit may have any. */
bool figure_same_unit(const struct figure *one, const struct figure *other);

/* Whether a word in its normal form is a known unit. */
bool figure_is_unit(const char *word, size_t length);

/* A number as a value without a unit. */
struct figure figure_of(uint64_t value);

#endif
