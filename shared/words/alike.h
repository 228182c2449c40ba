/* English words that mean the same in most texts count as one term of the evidence, so that a question finds "movie"
 * where a text says "film". The index of the search keeps the words apart: it needs no change. */
#ifndef RENGA_WORDS_ALIKE_H
#define RENGA_WORDS_ALIKE_H

#include <stdint.h>

/* The hash of the first word of the row that the word with this hash stands in; other hashes are unchanged. */
uint64_t alike_hash(uint64_t hash);

/* The rows, each with words separated by a space, as "big large=larg": a word, and its stem if that differs. NULL at
 * the end. */
extern const char *const alike_rows[];

#endif
