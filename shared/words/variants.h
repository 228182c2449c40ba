/* Private to terms.c: spelling variants in runs of Japanese, Chinese and Korean get the same characters, and so the
 * same terms: 引っ越し and 引越, サーバー and サーバ, 國 and 国. The result is for comparison only and is not shown. */
#ifndef RENGA_WORDS_VARIANTS_H
#define RENGA_WORDS_VARIANTS_H

#include "words/words.h"

/* The script of Hangul syllables in a run; script_of calls them letters. */
#define SCRIPT_HANGUL (SCRIPT_KATAKANA + 1)

/* Rewrites the run in place, which never becomes longer, and returns its length, at least 1. A removed character
 * belongs to the span of the character before it. O(length). */
unsigned variants_fold(struct run_character *run, unsigned length);

/* The steps of variants_fold, each in its own file. */
const uint16_t *variants_of_han(void); /* the table for the next function */
uint32_t variant_of_han(const uint16_t *table, uint32_t code);
unsigned variants_kana(struct run_character *run, unsigned length);
unsigned variants_words(struct run_character *run, unsigned length);
unsigned variants_okurigana(struct run_character *run, unsigned length);
unsigned variants_hangul(struct run_character *run, unsigned length);

/* Korean function words and endings. */
bool hangul_is_stop_run(const struct run_character *run, unsigned length);
bool hangul_weak_pair(uint32_t first, uint32_t second);

/* Whether the character is one of those in a text. */
bool variants_one_of(uint32_t code, const char *characters);

/* Appends a character to run[*length]. */
static inline void variants_put(struct run_character *run, unsigned *length, struct run_character c, uint32_t code)
{
    c.code = code;
    run[(*length)++] = c;
}

/* Adds a removed character to the span of the last character that was put. */
static inline void variants_drop(struct run_character *run, unsigned length, const struct run_character *removed)
{
    if (length > 0)
        run[length - 1].end = removed->end;
}

#endif
