/* Text in lines that fit a terminal: breaks at spaces, and between Japanese characters but before a closing
 * mark or after an opening one. Columns are those of wcwidth, so the locale must use UTF-8. Control characters become
 * '?'. */
#ifndef RENGA_WRAP_H
#define RENGA_WRAP_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Marks around dim text, for wrap_text: they take no room. */
#define WRAP_DIM   '\016'
#define WRAP_PLAIN '\017'

/* Columns of a text in a single line. */
size_t wrap_columns(const char *text);

/* The bytes of `text` that fit into `columns`, whole characters. */
size_t wrap_fit(const char *text, size_t columns);

/* Prints to standard output, with a line break at the end. All lines begin at column `indent`; for the first line, the
 * cursor stands there already. `width` 0 never breaks; `coloured` false leaves out the two marks. */
void wrap_text(const char *text, size_t indent, size_t width, bool coloured);
void wrap_text_on(FILE *out, const char *text, size_t indent, size_t width, bool coloured);

/* Adds a text for wrap_text: control characters, which would be taken for the two marks, become '?'; with `one_line`,
 * white space becomes a single space. */
void wrap_put(struct buffer *out, const char *text, size_t length, bool one_line);

#endif
