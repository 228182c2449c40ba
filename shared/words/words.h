/* Japanese and English text: its language, its normal form, and its search terms.
 *
 * Indexing and queries use the same reader, so both get the same terms from the same text. Text is borrowed, need not
 * end in NUL, and should be well-formed UTF-8. An invalid byte counts as a character outside of words. No function here
 * fails: a text without words has no terms. Readers share no state; each thread creates its stemmer once and keeps it.
 * All offsets are bytes of the original text. */
#ifndef RENGA_WORDS_WORDS_H
#define RENGA_WORDS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "words/values.h"

/* Raised whenever the terms of a text change. An index made with a different version must be rebuilt. */
#define WORDS_VERSION 5

/* Returns "ja" or "en". A text is English if it has no Japanese characters, or if it has English function words and at
 * least half as many words as Japanese characters. Otherwise it is Japanese. Text in quotation marks counts only if the
 * rest of the text has no words. */
const char *words_language(const char *text, size_t length);

/* Appends the normal form, in which texts are compared: NFKC, case folded, a single width of kana and Latin letters, a
 * single kind of apostrophe and hyphen. Runs of white space become a space; white space at the ends is removed. */
void words_normalize(struct buffer *out, const char *text, size_t length);

enum term_kind {
    TERM_WORD,       /* a word of letters; Latin letters are stemmed as English */
    TERM_NUMBER,     /* digits; "1,000" is 1000 */
    TERM_IDENTIFIER, /* E-1024, config.yaml, 2.1, 5GB, user@host: whole; its parts follow as words and numbers */
    TERM_PAIR,       /* two adjacent characters of Japanese, Chinese or Korean */
    TERM_CHARACTER,  /* a single character of these, or a Han character between kana */
    TERM_KATAKANA,   /* a word of three Katakana or Hangul or more; its pairs follow too */
};

/* Of words in Latin letters. A text without function words of a language is unknown, and stemmed as English. */
enum latin_language {
    LATIN_ENGLISH,
    LATIN_GERMAN,
    LATIN_FRENCH,
    LATIN_SPANISH,
    LATIN_LANGUAGES,
    LATIN_UNKNOWN = LATIN_LANGUAGES,
};

#define TERM_CHARACTERS_MAX 128 /* a longer word is split into words of this length */

/* `text` is the normal form, NUL-terminated. It belongs to the reader and is valid until the next term. [begin, end) is
 * the position of the term in the original. Terms come in the order of `begin`; an identifier and a Katakana word
 * overlap with their parts. `stop_word`: the term carries little information about the topic of a text: function words,
 * single letters, pairs of Hiragana, pairs with a particle. */
struct term {
    const char *text;
    size_t length;
    size_t begin, end;
    enum term_kind kind;
    bool stop_word;
};

/* A reader lives on the stack of its caller (about 6 KB) and needs no cleanup. The fields are private. */
struct term_reader {
    struct value_reader values;
    struct folded ahead[2];
    unsigned aheads;
    struct run_character {
        uint32_t code;
        uint8_t script;
        size_t begin, end;
    } run[TERM_CHARACTERS_MAX];
    unsigned run_length, at;
    bool japanese, whole_given, katakana_given, character_given, commas_group;
    bool run_is_cut, stop_run, chinese;
    enum latin_language language;
    char text[TERM_CHARACTERS_MAX * 4 + 1];
};

void terms_begin(struct term_reader *reader, const char *text, size_t length);

/* The same for a text in this language, such as a heading in a German document. LATIN_UNKNOWN: as terms_begin. */
void terms_begin_in(struct term_reader *reader, const char *text, size_t length, enum latin_language language);

/* The language of a text's words in Latin letters, by its beginning. */
enum latin_language words_latin_language(const char *text, size_t length);

/* The next term, or false at the end. */
bool terms_next(struct term_reader *reader, struct term *term);

/* The weight of a term relative to other terms of the same letters, 0 to 1: pairs overlap, parts repeat their whole,
 * and a verb's ending carries little information. Call it for all terms of a text in their order; *katakana_end belongs
 * to the caller and is 0 at first. */
double term_share(const struct term *term, size_t *katakana_end);

/* True if a text has more than function words, particles and question words. */
bool words_has_content(const char *text, size_t length);

/* Whether a word in its normal form, unstemmed, is an English function word. */
bool words_function_word(const char *word, size_t length);

#endif
