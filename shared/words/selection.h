/* Ranks the sentences of the evidence as answers to a question. Each sentence has some signs, numbers that tell how
 * well it fits; its score is their weighted sum. The weights stand in one table (selection_weights.c), which
 * tests/bench/fit_selection makes.
 *
 * The work is linear in the evidence, and bounded for each sentence. Memory comes from the arena of the evidence. */
#ifndef RENGA_WORDS_SELECTION_H
#define RENGA_WORDS_SELECTION_H

#include "words/asked.h"
#include "words/support.h"

/* Shares are of the weight of those terms of the question that the evidence has. */
enum selection_sign {
    SIGN_OWN,      /* the share of the sentence */
    SIGN_OWN_BEST, /* the same, relative to the sentence with the highest share */
    SIGN_SPECIFIC, /* the share of the sentence, by squared weights: rare terms count more */
    SIGN_RUNS,     /* the share of neighbouring terms of the question that the sentence has both */
    SIGN_BEFORE,   /* the share that the sentence before adds */
    SIGN_AFTER,    /* the share that the next sentence adds */
    SIGN_PASSAGE,  /* the share that the rest of the passage adds */
    SIGN_HEADING,  /* the share that the heading adds */
    SIGN_SEARCH,   /* the score of the passage, relative to the best passage */
    SIGN_TOP,      /* 1 for the best passage */
    SIGN_FIT_NUMBER,
    SIGN_FIT_NAME,
    SIGN_FIT_OTHER,
    SIGN_FIT_IDENTIFIER, /* a command, a file, an option */
    SIGN_FOCUS,
    SIGN_SUBJECT,
    SIGN_FIT_OWN,    /* the fit above unknown, times the share of the sentence */
    SIGN_FIT_BEFORE, /* the same, times the share that the sentence before adds */
    SIGN_CONTINUES,
    SIGN_ANSWERS_HEADING,
    SIGN_NEW,       /* ln of the number of strong terms that the question does not have */
    SIGN_LENGTH,    /* ln of its bytes */
    SIGN_ASKS,      /* 1 for a question */
    SIGN_UNSTOPPED, /* 1 without a full stop: a heading, an item, a row without a header */
    SIGN_FIRST,     /* 1 for the first sentence of a passage */
    SELECTION_SIGNS
};

struct selected {
    struct chosen chosen; /* with its score */
    uint32_t unit;        /* of the evidence */
    uint32_t end;         /* behind it, or behind the list of steps that it begins and that counts as one sentence */
    double signs[SELECTION_SIGNS];
};

/* How the best sentence answers the question as a whole. Shares are of the weight of all strong terms of the question,
 * in the evidence or not. */
enum selection_cover {
    COVER_SENTENCE, /* of the sentence */
    COVER_CONTEXT,  /* of the sentence, the sentence before it and the heading */
    COVER_PASSAGE,  /* of its passage and the heading */
    COVER_ALL,      /* of all passages */
    COVER_RARE,     /* the weight of the heaviest term that passage and heading lack, relative to the heaviest term */
    COVER_NAMES,    /* the share of names that passage and heading have; 1 without names */
    COVER_NAMES_CONTEXT,
    COVER_NUMBERS, /* the share of numbers that passage and heading have; 1 without numbers */
    COVER_RUNS,    /* SIGN_RUNS, of all neighbouring terms */
    COVER_FIT_NUMBER,
    COVER_FIT_NAME,
    COVER_FIT_OTHER,
    COVER_FIT_IDENTIFIER,
    COVER_FOCUS,
    COVER_SUBJECT,
    COVER_FOCUS_PASSAGE,
    COVER_SUBJECT_PASSAGE,
    COVER_CLEAR, /* the share of the best sentence among all, by exp(score) */
    COVER_TERMS, /* ln of the number of strong terms */
    SELECTION_COVERS
};

#define FIT_UNKNOWN 0.5

#define SELECTED_MAX 64
struct selection {
    struct selected list[SELECTED_MAX]; /* the best first */
    size_t count;
    double covers[SELECTION_COVERS];
    struct asked asked; /* the reading of the question */
};

/* False if the arena is out of memory. A question without a term of the evidence selects nothing. */
bool selection_rank(const struct evidence *evidence, const char *question, size_t length, struct selection *selection);

/* The selected sentences. `lists`: the question asks for several answers or for steps, so a list is given whole. */
struct selection_terms {
    size_t sentences_max; /* lists count as one sentence */
    size_t bytes_max;
    bool lists;
};

/* A sentence of the answer. */
struct picked {
    size_t passage;
    struct span span;
    bool item; /* of a list */
    bool row;  /* of a table, its header included, or of code: a line without a bullet */
    struct span
        heading; /* the part of the passage's heading that names the subject of the sentence; empty: no such part */
};
#define PICKED_MAX 16

/* Chooses the sentences to give, the best first, and returns their number. A further sentence is given while the best
 * one is not clear, from another document only if it is nearly as good. No sentence is given twice. */
size_t selection_cut(const struct evidence *evidence, const char *question, size_t length,
                     const struct selection *selection, const struct selection_terms *terms,
                     struct picked picked[PICKED_MAX]);

/* The weights of the signs. */
extern const double selection_weights[SELECTION_SIGNS];

#endif
