/* Private to contrast_words.c, contrast_phrase.c, contrast_parts.c, contrast_european.c, contrast_both.c and
 * contrast_than_english.c: a European question as a row of words with classes, and the noun phrases between them. */
#ifndef RENGA_LLM_GATEWAY_CONTRAST_WORDS_H
#define RENGA_LLM_GATEWAY_CONTRAST_WORDS_H

#include "split_priv.h"

/* The order is that of the lists in a row of `contrast_languages`. A word of no list is a name if it begins with a
 * capital letter or a digit, or is quoted. */
enum word_class {
    WORD_OR,
    WORD_AND,
    WORD_THAN,    /* "als", "que" */
    WORD_ASKER,   /* "wer", "quel" */
    WORD_DEGREE,  /* "mehr", "plus": a comparative */
    WORD_SAME,    /* "gleich", "mêmes" */
    WORD_VERB,    /* auxiliaries and verbs that are frequent in questions */
    WORD_PRONOUN, /* also words that stand for a clause: "es", "ce" */
    WORD_ARTICLE,
    WORD_INNER, /* a preposition that also stands inside a name: "von", "de" */
    WORD_PREPOSITION,
    WORD_ADVERB, /* words beside a phrase: "lieber", "bien" */
    WORD_LISTS,
    WORD_NAME = WORD_LISTS,
    WORD_STEM, /* of "difference" or "compare" */
    WORD_CONTENT,
};

struct contrast_language {
    enum language language;
    const char *lists[WORD_LISTS]; /* words between blanks */
    const char *differences;       /* stems of "difference", "differ" */
    const char *comparing;         /* stems of "compare" */
    const char *choosing;          /* stems of "choose", "prefer" */
    const char *advantages;        /* stems of "advantage", and "why": A instead of B */
    const char *attributes;        /* plurals of what each item has: "capitals of A and B" */
    const char *times;             /* nouns that are no item: "than last year" */
    const char *beside;            /* openings of a second item, '_' for blanks: "im_vergleich_zu" */
    const char *weak_beside;       /* the same, if another sign stands beside them: "gegenüber" */
    const char *partners;          /* prepositions of the second item: differ "from", compare "with" */
    const char *between;           /* "zwischen" */
    const char *own;               /* "die" in "die von B" */
    const char *begin, *end;       /* of a question */
    const char *what;              /* "Was ist " */
    bool nouns_have_capitals;
    bool verb_first;   /* "Ist A größer?"; else "A est plus grand ?" */
    bool late_subject; /* "¿Vive más un gato que un perro?" */
};

struct contrast_words {
    struct tokens tokens;
    unsigned char class[TOKENS_MAX]; /* enum word_class */
    const struct contrast_language *row;
};

/* False: the question is too long, or the language has no row. */
bool contrast_words_read(struct contrast_words *words, struct text question, enum language language);

bool contrast_word_in(const struct contrast_words *words, size_t at, const char *list);
bool contrast_word_begins(const struct contrast_words *words, size_t at, const char *stems);
bool contrast_word_is_number(const struct contrast_words *words, size_t at);

/* The number of words at `at` that are one of the phrases of the list. */
size_t contrast_words_match(const struct contrast_words *words, size_t at, const char *phrases);

/* The first word of [from, to) with the class; `to`: there is none. */
size_t contrast_words_find(const struct contrast_words *words, size_t from, size_t to, enum word_class class);
bool contrast_words_have(const struct contrast_words *words, size_t from, size_t to, enum word_class class);

/* Whether a word begins with one of the stems. */
bool contrast_words_begin(const struct contrast_words *words, const char *stems);

/* Whether there is a comparative that is no amount. */
bool contrast_words_compare(const struct contrast_words *words);

/* ---- contrast_phrase.c ------------------------------------------------------------------------------------------- */

struct phrase {
    size_t begin, end; /* words; equal: no phrase */
};

/* The noun phrase that begins at `at`, or behind prepositions and adverbs there; before `to`. */
struct phrase contrast_phrase_from(const struct contrast_words *words, size_t at, size_t to);

/* The noun phrase that ends at `end`, not before `from`, like the phrase `other`. */
struct phrase contrast_phrase_before(const struct contrast_words *words, size_t from, size_t end, struct phrase other);

/* The subject of the clause [from, to), which ends before a comparative. */
struct phrase contrast_subject(const struct contrast_words *words, size_t from, size_t to);

/* The last preposition of [from, to) that is also the one at `at`: "in" of "in A ... als in B". `to`: none. */
size_t contrast_parallel(const struct contrast_words *words, size_t from, size_t to, size_t at);

/* The first item of a pair whose connective is at `joint`: like `other`, which has a preposition at `at` or none. Equal
 * prepositions become a part of both items: "au Portugal" and "en Espagne". */
struct phrase contrast_first_item(const struct contrast_words *words, size_t joint, struct phrase *other, size_t at);

/* The second item behind the connective at `joint`; *preposition gets the word behind verbs and adverbs there. */
struct phrase contrast_second_item(const struct contrast_words *words, size_t joint, size_t *preposition);

bool contrast_is_item(const struct contrast_words *words, struct phrase phrase);

/* ---- contrast_parts.c -------------------------------------------------------------------------------------------- */

/* The question without [cut, behind) is about `one`; with `other` in its place it is about `other`. */
struct contrast_pairing {
    struct phrase one, other;
    size_t cut, behind;
};

struct text contrast_words_text(const struct contrast_words *words, size_t from, size_t to);

/* Whether the pair has two items that differ and do not overlap. */
bool contrast_has_items(const struct contrast_words *words, const struct contrast_pairing *pair);

/* Adds a part for each item. False: there are not two, and no part was added. */
bool contrast_ask_each(struct split *split, const struct contrast_words *words, struct contrast_pairing *pair);

/* ---- contrast_both.c --------------------------------------------------------------------------------------------- */

/* "¿En qué se diferencian A y B?", "Was unterscheidet A von B?", "Wer hat A gegründet und wer B?" */
bool contrast_both(struct split *split, const struct contrast_words *words);

/* ---- contrast_than_english.c ------------------------------------------------------------------------------------- */

/* The noun phrase behind the auxiliary or "whether" in [from, to). */
struct phrase contrast_english_subject(const struct contrast_words *words, size_t from, size_t to);

/* "Why is A cheaper than B?", "Is A as big as B?", "What has A that B does not have?" */
bool contrast_english_than(struct split *split, const struct contrast_words *words);

/* False: an English statement. */
bool contrast_english_asks(const struct contrast_words *words);

/* "How does A differ from B?"; `compares`: "Compare A with B" asks about both. English only. */
bool contrast_english_partner(struct split *split, const struct contrast_words *words, bool compares);

/* "What does A cost? And B?" English only. */
bool contrast_english_and(struct split *split, const struct contrast_words *words);

/* A phrase without a name beside a name becomes another one that has a name. English only. */
void contrast_english_named(const struct contrast_words *words, struct contrast_pairing *pair);

/* "the height of A" beside "B" becomes "A". English only. */
void contrast_english_owner(const struct contrast_words *words, struct contrast_pairing *pair);

#endif
