/* Private to terms.c: the language of a text in Latin letters, its function words and its stems. */
#ifndef RENGA_WORDS_LATIN_H
#define RENGA_WORDS_LATIN_H

#include "words/words.h"

/* The language whose function words and letters are the most frequent at the beginning of the text, or LATIN_UNKNOWN.
 */
enum latin_language latin_language_of(const char *text, size_t length);

/* Whether the word run[0, length) is a function word of the language, which is neither English nor unknown. */
bool latin_function_word(enum latin_language language, const struct run_character *run, unsigned length);

/* The letter without its accent; other characters are returned unchanged. */
uint32_t latin_plain(uint32_t code);

/* Stems `word` (lower case, NUL-terminated) in place by the rules of the language and takes its accents away: Häuser
 * and Haeuser are haus. LATIN_UNKNOWN and LATIN_ENGLISH are stemmed as English. Never longer; returns the new length.
 */
size_t latin_stem(enum latin_language language, char *word, size_t length);

#endif
