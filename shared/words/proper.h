/* The names of a text: words that are written as names and come often. Capitalised words that begin no sentence
 * (several in a row are one name), Katakana words, words of Han characters with an ending of names (社, 市, 大学). */
#ifndef RENGA_WORDS_PROPER_H
#define RENGA_WORDS_PROPER_H

#include "words/sentences.h"

#include <stdbool.h>
#include <stddef.h>

#define PROPER_NAMES_MAX 16

struct proper_name {
    struct span span; /* where it first stands */
    unsigned count;
};

/* Those that stand in the text at least `least` times and not in `without`, the most frequent first; how many. Linear,
 * no memory; of a text with very many names some are not counted. */
size_t proper_names(const char *text, size_t length, const char *without, size_t without_length, unsigned least,
                    struct proper_name names[PROPER_NAMES_MAX]);

#endif
