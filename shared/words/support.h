/* Measures the support of texts by passages. The results are the passage and the span that support a sentence, the
 * sentences that answer a question, and the share of a question that is covered.
 *
 * Evidence is created once from borrowed passages and queried often. All measures count terms (words.h), each weighted
 * by its rarity among the sentences of the evidence (idf); stop words have little weight. The measures compare wording.
 * They detect neither truth nor contradiction, but different numbers never match.
 *
 * Memory comes from the given arena. Choosing and covering allocate more from it, so only one thread at a time may
 * query the evidence. Work is bounded for all inputs: EVIDENCE_MAX bytes of passages and QUERY_TERMS_MAX terms of a
 * query are used. All offsets are bytes of the text that they refer to. */
#ifndef RENGA_WORDS_SUPPORT_H
#define RENGA_WORDS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "words/sentences.h"

#define EVIDENCE_MAX    ((size_t)1 << 20) /* bytes of all passages together; the rest is ignored */
#define QUERY_TERMS_MAX 256               /* different terms of a question or a sentence; further terms are ignored */
#define SUPPORT_ENOUGH  0.6               /* coverage from which a sentence counts as supported; see the README */

/* `heading` may be NULL. Its words describe the topic of the passage, but are not part of it. `score` is the score that
 * a search gave the passage, 0 to 1; 0: unknown. `document` is equal for passages of the same document; 0: unknown. */
struct passage {
    const char *text;
    size_t length;
    const char *heading;
    size_t heading_length;
    double score;
    uint64_t document;
};

struct evidence;

/* NULL if the arena is out of memory. `passages` and their texts are borrowed for the lifetime of the evidence. */
struct evidence *evidence_create(struct arena *arena, const struct passage *passages, size_t count);

/* The support of a sentence. `coverage` is 0 to 1. `exact` means that the quote is the sentence itself, ignoring width,
 * case and white space, as whole words, and not cut out of a clause that denies it. A part of the passage's heading
 * may stand before the sentence: "Backups: They are kept." `quote` is a span of passages[passage].text, of one to three
 * sentences. */
struct support {
    size_t passage;
    struct span quote;
    double coverage;
    bool exact;
};

/* Finds the best support of `sentence`. False if its coverage is below `enough` (SUPPORT_ENOUGH for a citation), or if
 * it lacks a number or an identifier of the sentence. *support then still has the best candidate, or coverage 0 if
 * there is no candidate. Marks of list items and references like [1] do not count. */
bool support_find(const struct evidence *evidence, const char *sentence, size_t length, double enough,
                  struct support *support);

/* Whether each number and identifier of the text occurs in the evidence. Linear in the text. */
bool evidence_has_numbers(const struct evidence *evidence, const char *text, size_t length);

/* Whether a term in its normal form (words.h) occurs in the evidence. */
bool evidence_has_term(const struct evidence *evidence, const char *text, size_t length);

/* A sentence of the evidence, with its score as an answer. */
struct chosen {
    size_t passage;
    struct span span;
    double score; /* 0 to 1: share of the question in it and in its context */
};

/* The limits of a choice. */
struct choice_terms {
    size_t sentences_max; /* at most CHOSEN_MAX */
    size_t bytes_max;
    double least;   /* share of the best score that a sentence must have */
    double novelty; /* 0: only the score counts; 1: as different as possible (MMR) */
};
#define CHOSEN_MAX 16

/* Chooses the sentences that answer `question` best, best first; returns their number. */
size_t evidence_choose(const struct evidence *evidence, const char *question, size_t length,
                       const struct choice_terms *terms, struct chosen chosen[CHOSEN_MAX]);

/* Rates from 0 to 1 how well the evidence answers a question; `chosen` is the result of evidence_choose. The rating is
 * the mean of three values: the score of the best sentence, and the shares of the question in the best passage and in
 * all passages. From ANSWER_ENOUGH on, the evidence contains an answer. The limit for Japanese is lower: it is compared
 * in pairs of characters, and a paraphrase shares fewer of them. */
#define ANSWER_ENOUGH          0.38
#define ANSWER_ENOUGH_JAPANESE 0.35
double evidence_answers(const struct evidence *evidence, const char *question, size_t length,
                        const struct chosen *chosen, size_t count);

/* The share of a text that all passages of the evidence cover. The weights of the terms come from `weights`: the same
 * evidence, or a larger evidence that contains it. `missing` has spans of the text, in text order: strong terms that
 * are not covered, adjacent ones joined. `share` is 1 for a text without terms. */
#define MISSING_MAX 16
struct coverage {
    double share;
    double best; /* the share within the best single passage and its heading */
    struct span missing[MISSING_MAX];
    size_t missing_count;
};
void evidence_cover(const struct evidence *evidence, const struct evidence *weights, const char *text, size_t length,
                    struct coverage *coverage);

#endif
