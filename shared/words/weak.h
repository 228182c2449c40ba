/* Recognises words that carry little information about the topic of a text. Words are passed in their normal form. */
#ifndef RENGA_WORDS_WEAK_H
#define RENGA_WORDS_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a pair of adjacent Japanese characters is weak: both are Hiragana, or a particle is next to another script,
 * or the pair is common in polite questions. */
bool weak_pair(uint32_t first, uint32_t second);

/* Whether a single Japanese character is weak: Hiragana, or a question word. */
bool weak_character(uint32_t code);

#endif
