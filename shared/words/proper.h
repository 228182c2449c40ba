/* The frequent names of a text, recognised by their spelling: capitalised words that do not begin a sentence, Katakana
 * words, and words of Han characters with an ending of names (社, 市, 大学). Several capitalised words in a row are one
 * name. */
#ifndef RENGA_WORDS_PROPER_H
#define RENGA_WORDS_PROPER_H

#include "words/sentences.h"

#include <stdbool.h>
#include <stddef.h>

#define PROPER_NAMES_MAX 16

struct proper_name {
    struct span span; /* the first occurrence */
    unsigned count;
};

/* Finds the names that occur in the text at least `least` times and do not occur in `without`, the most frequent first;
 * returns their number. Linear time, no allocation. If a text has very many names, some are not counted. */
size_t proper_names(const char *text, size_t length, const char *without, size_t without_length, unsigned least,
                    struct proper_name names[PROPER_NAMES_MAX]);

#endif
