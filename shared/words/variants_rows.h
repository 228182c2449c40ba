/* Private to variants*.c: sets of short strings and rows of replacements, read from one text at the first use. */
#ifndef RENGA_WORDS_VARIANTS_ROWS_H
#define RENGA_WORDS_VARIANTS_ROWS_H

#include "words/variants.h"

#define ROW_CHARACTERS 10   /* of each side of a row */
#define ROWS_MAX       512  /* of a table */
#define ROW_SLOTS      1024 /* a power of 2 */

struct variant_row {
    uint16_t from[ROW_CHARACTERS], to[ROW_CHARACTERS];
    uint8_t from_length, to_length; /* to_length <= from_length */
    uint16_t next;                  /* index + 1 of the next row with the same first two characters */
};

/* A hash table by the first two characters of a row, or by its only character. */
struct variant_rows {
    uint64_t begins[65536 / 64]; /* a bit for each character that begins a row */
    uint16_t slots[ROW_SLOTS];   /* index + 1 */
    struct variant_row rows[ROWS_MAX];
    unsigned count;
};

/* Reads "from=to from=to …"; without "=to" the row is a member of a set. Fewer than ROWS_MAX rows. */
void variant_rows_read(struct variant_rows *rows, const char *text);

/* Whether a row begins with the character. */
static inline bool variant_rows_begin(const struct variant_rows *rows, uint32_t code)
{
    return code <= UINT16_MAX && (rows->begins[code / 64] >> code % 64 & 1) != 0;
}

/* The longest row whose `from` stands at run[at], or NULL. */
const struct variant_row *variant_rows_find(const struct variant_rows *rows, const struct run_character *run,
                                            unsigned length, unsigned at);

/* Replaces each row that stands in the run, from left to right; returns the new length. */
unsigned variant_rows_replace(const struct variant_rows *rows, struct run_character *run, unsigned length);

#endif
