/* Which words say little of what a text is about. Words are given in their normal form. */
#ifndef RENGA_WORDS_WEAK_H
#define RENGA_WORDS_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether two Japanese characters side by side are weak: both Hiragana, one of them a particle beside another script,
 * or one of the few words that every polite question has. */
bool weak_pair(uint32_t first, uint32_t second);

/* A lone Japanese character: Hiragana, or an asking word. */
bool weak_character(uint32_t code);

#endif
