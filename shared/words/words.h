/* Text as words, Japanese and English: its language, its normal form, and the terms it is found by.
 *
 * The same reader is used to index and to ask, so that what was indexed under a term is asked for under the same one.
 * Text is borrowed, need not end in NUL, and should be well-formed UTF-8; a byte that is not counts as a character
 * that belongs to no word. Nothing here fails: a text without words has no terms. No state is shared between readers;
 * what a thread needs (a stemmer) it makes once and keeps. All offsets are bytes of the original text. */
#ifndef RENGA_WORDS_WORDS_H
#define RENGA_WORDS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "words/fold.h"

/* Raised whenever a text gives other terms than before: an index made with another version must be made anew. */
#define WORDS_VERSION 2

/* "ja" or "en". A text is English where it has English function words and not mostly Japanese characters, Japanese
 * where it has any of these otherwise; what stands in quotation marks does not count unless there is nothing else. */
const char *words_language(const char *text, size_t length);

/* Appends the form in which texts are compared: NFKC, case folded, one width of kana and Latin letters, one kind of
 * apostrophe and hyphen, runs of white space as one space and none at either end. */
void words_normalize(struct buffer *out, const char *text, size_t length);

enum term_kind {
    TERM_WORD,       /* a word of letters, stemmed as English where it is Latin */
    TERM_NUMBER,     /* digits; "1,000" is 1000 */
    TERM_IDENTIFIER, /* E-1024, config.yaml, 2.1, 5GB, user@host: as it stands; its parts follow as words and numbers */
    TERM_PAIR,       /* two Japanese characters side by side */
    TERM_CHARACTER,  /* a Japanese character that stands alone, or a Han character between kana */
    TERM_KATAKANA,   /* a word of three Katakana or more, without the last long vowel; its pairs follow too */
};

#define TERM_CHARACTERS_MAX 128 /* a longer word is cut in words of this many characters */

/* `text` is the normal form, NUL-terminated, and belongs to the reader until its next term; [begin, end) is where the
 * term stands in the original. Terms come in the order of `begin`; an identifier and a Katakana word overlap with
 * their parts. `weak` terms say little of what a text is about: function words, single letters, pairs of Hiragana,
 * pairs with a particle. */
struct term {
    const char *text;
    size_t length;
    size_t begin, end;
    enum term_kind kind;
    bool weak;
};

/* One lives on the stack of whoever reads (some 5 KB) and needs no end. Its fields are the reader's own. */
struct term_reader {
    struct fold fold;
    struct folded ahead[2];
    unsigned aheads;
    struct run_character {
        uint32_t code;
        uint8_t script;
        size_t begin, end;
    } run[TERM_CHARACTERS_MAX];
    unsigned run_length, at;
    bool japanese, whole_given, katakana_given, character_given, commas_group;
    char text[TERM_CHARACTERS_MAX * 4 + 1];
};

void terms_begin(struct term_reader *reader, const char *text, size_t length);

/* The next term, or false at the end. */
bool terms_next(struct term_reader *reader, struct term *term);

/* What a term counts for beside others of the same letters, 0 to 1: pairs overlap, parts repeat their whole, a verb's
 * ending says little. Asked for each term of a text in turn; *katakana_end is the caller's, 0 at first. */
double term_share(const struct term *term, size_t *katakana_end);

/* Whether a word in its normal form, unstemmed, is an English function word. */
bool words_function_word(const char *word, size_t length);

#endif
