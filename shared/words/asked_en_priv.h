/* Private to asked_en*.c: an English sentence as tokens. */
#ifndef RENGA_WORDS_ASKED_EN_PRIV_H
#define RENGA_WORDS_ASKED_EN_PRIV_H

#include "words/asked_priv.h"

#define EN_TOKENS_MAX 96 /* of a sentence; the rest is ignored */
#define EN_PHRASE_MAX 8  /* tokens of a noun phrase */

/* Letters [begin, end) of the question. */
struct en_token {
    size_t begin, end;
    bool capital;
    bool quoted;
    bool comma; /* a comma or a colon stands before it */
    bool owned; /* 's stands before it */
};

/* [focus, counter, word] are tokens. */
struct en_sentence {
    const struct asked_letters *letters;
    size_t end; /* letters */
    struct en_token tokens[EN_TOKENS_MAX];
    size_t count;
    bool asks;       /* has a question mark */
    bool contracted; /* what's */
    size_t word, word_end;
    struct asked_part focus, counter;
};

void en_tokens_read(const struct asked_letters *letters, struct asked_part sentence, struct en_sentence *in);

/* Whether a token is one of the words, which blanks separate. */
bool en_is_any(const struct en_sentence *in, size_t token, const char *words);

bool en_question_word(const struct en_sentence *in, size_t token);
bool en_auxiliary(const struct en_sentence *in, size_t token);
bool en_preposition(const struct en_sentence *in, size_t token);

/* The tokens of the subject: a quoted title, the longest name, or the first phrase that is not the focus. */
struct asked_part en_subject(const struct en_sentence *in);

#endif
