/* English stems. */
#ifndef RENGA_WORDS_STEM_H
#define RENGA_WORDS_STEM_H

#include <stddef.h>

/* Cuts `word` (lower case, NUL-terminated, room for as much as it has) to its stem in place; returns the new length.
 * Each thread has a stemmer, which goes with it; where there is no memory for one the word stays as it is. */
size_t stem_english(char *word, size_t length);

#endif
