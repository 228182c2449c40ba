/* Private to stem.c: irregular forms and British spellings of English words, as other forms of the same word. Words are
 * in lower case and NUL-terminated; they are changed in place and never become longer. */
#ifndef RENGA_WORDS_SPELLING_H
#define RENGA_WORDS_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces an irregular form by the stem of its word: "went" becomes "go". False if the word is none. */
bool spelling_irregular(char *word, size_t *length);

/* Before stemming: "colourful" becomes "colorful" and "organised" becomes "organized". Returns the new length. */
size_t spelling_american(char *word, size_t length);

/* After stemming: "theater" becomes "theatr", the stem of "theatre". Returns the new length. */
size_t spelling_stem(char *stem, size_t length);

#endif
