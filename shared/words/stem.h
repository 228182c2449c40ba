/* English stems. */
#ifndef RENGA_WORDS_STEM_H
#define RENGA_WORDS_STEM_H

#include <stddef.h>

/* Cuts `word` (lower case, NUL-terminated) to its stem in place, which is never longer; returns the new length. Each
 * thread has its own stemmer, which is freed when the thread ends. If there is no memory for a stemmer, the word is not
 * changed. */
size_t stem_english(char *word, size_t length);

#endif
