/* Stop words: words that carry little information about the topic of a text. Words are passed in their normal form. */
#ifndef RENGA_WORDS_STOP_WORDS_H
#define RENGA_WORDS_STOP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a pair of adjacent Japanese characters is a stop word: both are Hiragana, or a particle is next to another
 * script, or the pair is common in polite questions. */
bool stop_pair(uint32_t first, uint32_t second);

/* Whether a text is Chinese: its beginning has characters of Chinese alone and no kana. A text of Han characters that
 * both languages have (在庫管理) is not. */
bool words_is_chinese(const char *text, size_t length);

/* The same as stop_pair for Chinese: a function word is in the pair. */
bool stop_chinese_pair(uint32_t first, uint32_t second);

/* Whether a single Japanese character is a stop word: Hiragana, or a question word. */
bool stop_character(uint32_t code);

#endif
