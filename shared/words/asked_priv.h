/* Private to asked*.c: the letters of a question, tables of words, and the readers of the languages. */
#ifndef RENGA_WORDS_ASKED_PRIV_H
#define RENGA_WORDS_ASKED_PRIV_H

#include "words/asked.h"
#include "words/fold.h"

#define ASKED_LETTERS_MAX 2048           /* of a question or a sentence */
#define ASKED_BYTES_MAX   ((size_t)1024) /* of a question: its end */

/* A letter in normal form; [begin, end) are bytes of the text. */
struct asked_letter {
    uint32_t code, begin, end;
    unsigned char lead; /* first byte of its UTF-8: most words of a table are ruled out by it */
};

/* The letters of a text. at[count] is a sentinel with the code 0. */
struct asked_letters {
    const char *text;
    struct asked_letter at[ASKED_LETTERS_MAX + 1];
    size_t count;
};

/* Reads text[from, length). */
void asked_letters_read(const char *text, size_t from, size_t length, struct asked_letters *letters);

/* Letters [begin, end) of a question. */
struct asked_part {
    size_t begin, end;
};

/* The bytes at the beginning of a long question that are not read. */
size_t asked_skipped(const char *question, size_t length);

/* A question word, a noun or a counter, in normal form. */
struct asked_word {
    const char *word;
    enum asked_type type;
    enum asked_unit unit;
};

/* A table ends with a row without a word. */
extern const struct asked_word asked_nouns_ja[], asked_counters_ja[];
extern const struct asked_word asked_nouns_en[], asked_adjectives_en[];

/* The same, of a word that begins with the letter's first byte. */
size_t asked_stands_whole(const struct asked_letters *letters, size_t at, size_t end, const char *word);

/* The number of letters of `word` that stand at letter `at` and end at `end` at the latest; 0: it does not. */
static inline size_t asked_stands(const struct asked_letters *letters, size_t at, size_t end, const char *word)
{
    bool may = at < end && letters->at[at].lead == (unsigned char)*word;
    return may ? asked_stands_whole(letters, at, end, word) : 0;
}

/* Whether one of the words stands there; the list ends with NULL. */
bool asked_stands_any(const struct asked_letters *letters, size_t at, size_t end, const char *const *words);

/* The longest word of a table that stands at letter `at`, or NULL. *letters_taken is its length. */
const struct asked_word *asked_longest(const struct asked_word *table, const struct asked_letters *letters, size_t at,
                                       size_t end, size_t *taken);

/* The longest word of a table that ends at letter `end`, or NULL. */
const struct asked_word *asked_ending(const struct asked_word *table, const struct asked_letters *letters, size_t begin,
                                      size_t end);

struct span asked_span(const struct asked_letters *letters, struct asked_part part);

void asked_add_word(struct asked *asked, const struct asked_letters *letters, struct asked_part part);

/* The readers of a sentence, one for each language. False if it is not a question. */
bool asked_read_ja(const struct asked_letters *letters, struct asked_part sentence, struct asked *asked);
bool asked_read_en(const struct asked_letters *letters, struct asked_part sentence, struct asked *asked);

#endif
