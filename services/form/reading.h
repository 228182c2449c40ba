/* Private to services/form: an answer while values are looked for in it, and the candidates that are found. Places are
 * indices of characters, not bytes. */
#ifndef RENGA_FORM_READING_H
#define RENGA_FORM_READING_H

#include "form/form_priv.h"
#include "words/zones.h"

struct reading {
    const struct form *form;
    size_t field;
    const Renga__V1__FormField *spec;
    const struct form_context *context;
    struct characters in;
    struct civil today; /* in the person's time zone */
    struct arena *arena;
};

/* False if the arena is exhausted. */
bool reading_open(struct reading *in, const struct form *form, size_t field, const char *text,
                  const struct form_context *context, struct arena *arena);

/* A value in the words, or a malformed value. */
struct candidate {
    size_t first, end;
    enum form_problem problem;
    const char *text; /* in the form in which it is kept; "" of a problem */
};

#define CANDIDATES_MAX 64
struct candidates {
    struct candidate list[CANDIDATES_MAX];
    size_t count;
    bool more; /* than fit */
    bool out_of_memory;
};

void candidate_add(struct candidates *list, size_t first, size_t end, enum form_problem problem, const char *text);

/* Chooses the value that the person means: drops candidates that are denied, corrected or in a question. Its problem is
 * `none` if there is no candidate, `unclear` if there are several. `text` is NULL if the arena is exhausted. */
struct candidate candidates_choose(const struct reading *in, const struct candidates *list, enum form_problem none,
                                   enum form_problem unclear);

/* "not 30", "30ではない": the person says that this is not the value. */
bool reading_denies(const struct reading *in, size_t first, size_t end);
/* The words are in a question. */
bool reading_asks(const struct reading *in, size_t end);

/* ---- the readers of each type: every candidate in the text ------------------------------------------------------- */

void numbers_find(const struct reading *in, struct candidates *out);
void dates_find(const struct reading *in, struct candidates *out);
void times_find(const struct reading *in, struct candidates *out);
void emails_find(const struct reading *in, struct candidates *out);
void phones_find(const struct reading *in, struct candidates *out);
void urls_find(const struct reading *in, struct candidates *out);

/* Whether the person's country is in a list of codes with a blank around each. */
enum country_is { COUNTRY_UNKNOWN, COUNTRY_LISTED, COUNTRY_OTHER };
enum country_is reading_country_is(const struct reading *in, const char *countries);

/* ---- characters and words ---------------------------------------------------------------------------------------- */

static inline uint32_t code_at(const struct reading *in, size_t i)
{
    return i < in->in.count ? in->in.at[i].code : 0;
}

static inline bool code_is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

static inline bool code_is_latin(uint32_t code)
{
    return code >= 'a' && code <= 'z';
}

bool is_space(uint32_t code);
/* The place behind the white space at `i`. Skips at most SPACES_MAX characters. */
#define SPACES_MAX 16
size_t skip_spaces(const struct reading *in, size_t i);

/* The end of `word` if it stands at `i`, or 0. A word is in its normal form; a blank in it matches any white space. No
 * letter or digit may be adjacent to a letter or digit at its beginning or end. */
size_t word_at(const struct reading *in, size_t i, const char *word);
/* The longest word of a list in the form "yes|no"; its end, or 0. */
size_t list_at(const struct reading *in, size_t i, const char *list);
/* The longest word of a list that ends with NULL; *which is its place, and may be NULL. */
size_t words_at(const struct reading *in, size_t i, const char *const *words, size_t *which);
/* The beginning of a word of the list right before `i`, blanks between them; SIZE_MAX if no word matches. */
size_t words_before(const struct reading *in, size_t i, const char *const *words);

/* The sentence around a place: behind its beginning and before its stop. */
size_t sentence_begin(const struct reading *in, size_t i);
size_t sentence_end(const struct reading *in, size_t i);

/* Whether [first, end) contains only filler words and grammar. `skip` (may be NULL) marks the characters that are
 * already explained. */
bool reading_is_filler(const struct reading *in, size_t first, size_t end, const bool *skip);

/* The text of [first, end) as the person wrote it. NULL if the arena is exhausted. */
const char *reading_copy(const struct reading *in, size_t first, size_t end);
/* The same with one width of characters, but with its case. */
const char *reading_narrow(const struct reading *in, size_t first, size_t end);

#endif
