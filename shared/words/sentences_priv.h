/* The parts of the sentence reader: lines and their marks (line), list marks inside a line (marker), and the decision
 * whether a mark ends a sentence (stop). All functions take the text, its length and an offset. */
#ifndef RENGA_WORDS_SENTENCES_PRIV_H
#define RENGA_WORDS_SENTENCES_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "words/fold.h"
#include "words/sentences.h"

/* White space inside a line. */
bool is_blank(char c);

/* The offset of the first byte at or after `at` that is neither white space nor a line break. */
size_t skip_space(const char *text, size_t length, size_t at);

/* The offset after the Markdown mark of the line that begins at `at` (blanks, `>`, `#`, `-`, `*`, `+`), or `at`. */
size_t line_mark(const char *text, size_t length, size_t at);

/* Whether the line break at `at` ends a block. It does if the line before it (which began at `line`) or the line after
 * it is not running text. */
bool line_ends_block(const char *text, size_t length, size_t line, size_t at);

bool line_is_fence(const char *text, size_t length, size_t at);

/* A mark of a list item: "1.", "2)", "3.)", "a.", or a bullet. kind 0: no mark. */
struct marker {
    char kind; /* 'n' number, 'l' letter, 'b' bullet */
    uint32_t value;
    char close[2];
    size_t end;
};

struct marker marker_read(const char *text, size_t length, size_t at);

/* The same at the beginning of a line, where "(1)", （1） and ① are marks, too; in running text they refer to
 * something. */
struct marker marker_of_line(const char *text, size_t length, size_t at);

/* Whether `next` is the mark of the list item after the item with the mark `first`. */
bool marker_follows(const struct marker *first, const struct marker *next);

/* Whether `code` may end a sentence. */
bool stop_mark(uint32_t code);

/* The end of the sentence that began at `begin` if the mark at `at` ends it, or else 0. *after is always set to the
 * offset at which to continue. */
size_t stop_end(const char *text, size_t length, size_t begin, size_t at, size_t *after);

bool is_closing(uint32_t code);

#endif
