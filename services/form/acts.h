/* Private to services/form: separates dialogue acts from answers. Texts and pieces are compared in the plain form: the
 * form of words_normalize, without apostrophes and hyphens, with a blank for other marks. */
#ifndef RENGA_FORM_ACTS_H
#define RENGA_FORM_ACTS_H

#include "form/form.h"

enum piece {
    PIECE_FILLER, /* words around an act that do not change it */
    PIECE_PLEASE,
    PIECE_SKIP,
    PIECE_DOES_NOT_KNOW,
    PIECE_UNDECIDED, /* an answer "I don't know" that is its own reason */
    PIECE_WHY,
    PIECE_WHAT,
    PIECE_WHAT_ASKED, /* only with a question mark */
    PIECE_STATE,
    PIECE_BACK,
    PIECE_CHANGE,       /* stands before the field: "change" */
    PIECE_CHANGE_AFTER, /* stands behind the field: "is wrong" */
    PIECE_SPEAK,        /* beside a language */
    PIECE_SPEAK_WEAK,   /* beside a language that may also be an answer: "in" */
};

struct piece_table {
    enum piece piece;
    const char *words; /* each ends with '|' */
};

/* Each ends with a row without words. */
extern const struct piece_table acts_english[], acts_japanese[];

/* The plain form of a text, and the byte of the original at which each of its bytes begins. */
struct plain_text {
    char *text;
    uint32_t *begin;
    size_t length;
    bool asks; /* has a question mark */
    bool cut;  /* the plain form is much longer than the text, and not whole */
};

/* False if the arena is exhausted. */
bool plain_read(struct plain_text *plain, const char *text, size_t length, struct arena *arena);

/* Whether a byte of the plain form is of a word that blanks end: Latin letters, digits, signs. */
bool plain_is_latin(char c);

/* Whether words stand at a place of the text, and no word goes on behind them. */
bool plain_has(const struct plain_text *plain, size_t at, const char *words, size_t length);

/* The longest piece at a place of the text, and its length; 0: no piece. */
size_t plain_piece(const struct plain_text *plain, size_t at, enum piece *piece);

#endif
