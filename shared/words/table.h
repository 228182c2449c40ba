/* Tables in Markdown: a row "| Office | Opened |" is a line of its own; the first one is the header, if the next line
 * is a rule, "|---|---|". */
#ifndef RENGA_WORDS_TABLE_H
#define RENGA_WORDS_TABLE_H

#include "words/claims.h"

bool table_is_row(struct claim line);

bool table_is_rule(struct claim line);

/* The next cell of a row from `*at` on, without the blanks around it. False: there is none. `*at` is 0 at first. */
bool table_next_cell(struct claim row, size_t *at, struct claim *cell);

#endif
