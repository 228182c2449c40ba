/* The language of a question, for the fixed texts of its answer. words_language (words.h) is for search, which knows
 * Japanese and all others. */
#ifndef RENGA_WORDS_LANGUAGES_H
#define RENGA_WORDS_LANGUAGES_H

#include <stddef.h>

enum language {
    LANGUAGE_EN,
    LANGUAGE_JA,
    LANGUAGE_ZH,
    LANGUAGE_KO,
    LANGUAGE_DE,
    LANGUAGE_FR,
    LANGUAGE_ES,
    LANGUAGES,
};

#define LANGUAGE_LOOKED_MAX ((size_t)1024) /* bytes of a text that are enough to tell */

/* By its characters, its function words and its letters; LANGUAGE_EN if they do not tell. Text in quotation marks
 * counts only if there is no other. */
enum language language_of(const char *text, size_t length);

/* "ja", as in BCP 47. */
const char *language_tag(enum language language);

/* Of a tag such as "de-AT"; LANGUAGE_EN for other languages. */
enum language language_tagged(const char *tag);

#endif
