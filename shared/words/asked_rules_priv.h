/* Private to asked*.c: the tables of the languages that are read by rules: Chinese, German, Korean, French, Spanish. */
#ifndef RENGA_WORDS_ASKED_RULES_PRIV_H
#define RENGA_WORDS_ASKED_RULES_PRIV_H

#include "words/asked_priv.h"

enum asked_then {
    ASKED_THEN_ENDS,   /* the row decides */
    ASKED_THEN_NOUN,   /* the noun behind decides, if it is in the table: "welche Stadt" */
    ASKED_THEN_IS,     /* the noun behind an article decides: "was ist die Hauptstadt" */
    ASKED_THEN_BEFORE, /* the noun before it decides: 首都是什么 */
};

/* A word that ends with "-" matches any ending. */
struct asked_rule {
    const char *word;
    enum asked_type type;
    enum asked_unit unit;
    enum asked_then then;
};

/* The tables end with a row without a word. */
struct asked_language {
    const char code[3];
    bool spaced; /* blanks separate words */
    const struct asked_rule *rules;
    const struct asked_word *nouns;
    const char *common; /* function words, by which the language is recognised */
    const char *own_letters;
};

extern const struct asked_language asked_chinese, asked_german, asked_korean, asked_french, asked_spanish;

/* Whether a question word of the language stands at letter `at`. */
bool asked_rule_stands(const struct asked_language *language, const struct asked_letters *letters, size_t at);

bool asked_read_rules(const struct asked_language *language, const struct asked_letters *letters,
                      struct asked_part sentence, struct asked *asked);

#endif
