/* The parts of the sentence reader: lines and their marks (line), marks of lists inside a line (marker), and whether a
 * sentence ends at a mark that may end one (stop). All take the text with its length and a place in it. */
#ifndef RENGA_WORDS_SENTENCES_PRIV_H
#define RENGA_WORDS_SENTENCES_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "words/fold.h"
#include "words/sentences.h"

/* White space of a line and what is like it. */
bool is_blank(char c);

/* The first byte at or after `at` that is no white space, line breaks included. */
size_t skip_space(const char *text, size_t length, size_t at);

/* The place behind the Markdown mark of the line that begins at `at` (blanks, `>`, `#`, `-`, `*`, `+`), or `at`. */
size_t line_mark(const char *text, size_t length, size_t at);

/* Whether the line break at `at` ends a block: the line before it (which began at `line`) or the one after it is not
 * running text. */
bool line_ends_block(const char *text, size_t length, size_t line, size_t at);

bool line_is_fence(const char *text, size_t length, size_t at);

/* A mark of a list item: "1.", "2)", "3.)", "a.", or a bullet. kind 0: none. */
struct marker {
    char kind; /* 'n' number, 'l' letter, 'b' bullet */
    uint32_t value;
    char close[2];
    size_t end;
};

struct marker marker_read(const char *text, size_t length, size_t at);

/* Whether an item with the mark `next` goes on where `first` began. */
bool marker_follows(const struct marker *first, const struct marker *next);

/* Whether `code` may end a sentence. */
bool stop_mark(uint32_t code);

/* Where the sentence that began at `begin` ends if the mark at `at` ends it, or 0; *after is in any case where to read
 * on. */
size_t stop_end(const char *text, size_t length, size_t begin, size_t at, size_t *after);

bool is_closing(uint32_t code);

#endif
