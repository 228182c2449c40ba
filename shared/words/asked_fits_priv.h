/* Private to asked_fits*.c: a sentence that is rated against a question. */
#ifndef RENGA_WORDS_ASKED_FITS_PRIV_H
#define RENGA_WORDS_ASKED_FITS_PRIV_H

#include "words/asked_priv.h"
#include "words/words.h"

#define ASKED_SEEN_BITS 32768 /* a power of 2; a false positive hides one word */

extern const struct asked_word asked_units[]; /* their types do not matter */
extern const char *const asked_months[];

/* The words of the question, and the pairs of its Japanese characters, as a set of hashes. */
struct asked_seen {
    uint64_t bits[ASKED_SEEN_BITS / 64];
};

struct asked_rated {
    const struct asked *asked;
    const struct asked_letters *question, *sentence;
    struct asked_part counter, focus, subject; /* letters of the question */
    enum latin_language spoken;                /* of the question; English also for languages in other scripts */
    struct asked_seen seen;
    bool latin;                           /* blanks separate words */
    uint16_t hits[ASKED_LETTERS_MAX + 1]; /* words of the question in the sentence before a letter */
};

/* Letters of a word in a row: Latin letters and digits, Han, Katakana, Hiragana. */
struct asked_run {
    size_t begin, end;
    enum script script;
    bool capital, fresh; /* fresh: the question does not have it */
};

bool asked_run_next(const struct asked_rated *rated, size_t *at, struct asked_run *run);

/* English with a capital letter: a day of the week; a month, also in German, French and Spanish. */
bool asked_is_weekday(const struct asked_letters *letters, const struct asked_run *run);
bool asked_is_month(const struct asked_letters *letters, const struct asked_run *run);

/* Whether a word is one of the function words of the language of the question. */
bool asked_is_function_word(const struct asked_rated *rated, const struct asked_run *run);

/* Whether the question has the word of letters [begin, end) of the sentence, as a whole run of letters. */
bool asked_question_has(const struct asked_rated *rated, size_t begin, size_t end);

/* The share of its value that a candidate in letters [begin, end) keeps: less without words of the question near it. */
double asked_nearness(const struct asked_rated *rated, size_t begin, size_t end);

/* The best number, date or duration of the sentence that the question does not have, 0 to 1. */
double asked_rate_numbers(const struct asked_rated *rated);

/* The words that mark a reason, a method, a definition, a list or a comparison, as the question asks. */
double asked_rate_markers(const struct asked_rated *rated);

/* Whether the sentence says that something can or must be, where a Japanese question asks this; 0.5 if it does not. */
double asked_rate_whether(const struct asked_rated *rated);

/* How well the sentence tells how something is done: an instruction, a command, or words for a means. */
double asked_rate_method(const struct asked_letters *sentence);

/* Whether the question asks for a thing whose name is an identifier: a command, a file, an option. */
bool asked_wants_identifier(const struct asked_rated *rated);

/* The best new identifier. */
double asked_rate_identifiers(const struct asked_rated *rated);

/* The best new path or address, of a web page or of mail. */
double asked_rate_locations(const struct asked_rated *rated);

/* The best new name. */
double asked_rate_names(const struct asked_rated *rated);

/* How well a new word with a capital letter fits in German, French and Spanish. `fresh`: new words in a row. */
double asked_name_fits_spaced(const struct asked_rated *rated, const struct asked_run *run, size_t fresh);

/* How well a run of Han characters fits in Chinese. */
double asked_name_fits_chinese(const struct asked_rated *rated, const struct asked_run *run);

/* Whether one of the words stands in the sentence: Latin words as whole words; a trailing "-" matches any ending. */
bool asked_sentence_has(const struct asked_letters *sentence, const char *const *words);

#endif
