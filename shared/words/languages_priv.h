/* The private interface of languages.c and its lists. */
#ifndef RENGA_WORDS_LANGUAGES_PRIV_H
#define RENGA_WORDS_LANGUAGES_PRIV_H

#include "words/languages.h"

/* languages_words.c; NULL for a language that is told by its characters. */
extern const char *const languages_words[LANGUAGES];
extern const char languages_chinese[];
extern const size_t languages_chinese_count;

#endif
