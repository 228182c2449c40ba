/* How well texts are supported by passages: which passage and which span carries a sentence, which sentences answer a
 * question, how much of what was asked is covered at all.
 *
 * Evidence is made once of borrowed passages and then asked often. Every count is of terms (words.h), each weighted by
 * how rare it is among the sentences of the evidence (idf); weak terms hardly count. It finds wording: that a text is
 * true, or that two sentences contradict each other, it cannot say; but numbers that differ are never taken for the
 * same. Memory comes from the arena given, some more each time that it is asked to choose or to cover; so it is asked
 * by one thread at a time. Bounds are kept whatever the texts are: EVIDENCE_MAX bytes of passages are looked at,
 * ASKED_MAX terms of what is asked. All offsets are bytes of the text they stand in. */
#ifndef RENGA_WORDS_SUPPORT_H
#define RENGA_WORDS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "words/sentences.h"

#define EVIDENCE_MAX   ((size_t)1 << 20) /* bytes of all passages together; what is over is not looked at */
#define ASKED_MAX      256               /* different terms of a question or a sentence; more are not looked at */
#define SUPPORT_ENOUGH 0.6               /* coverage from which a sentence counts as supported; see the README */

/* `heading` may be NULL: words that say what the passage is about, but are no part of it. */
struct passage {
    const char *text;
    size_t length;
    const char *heading;
    size_t heading_length;
};

struct evidence;

/* NULL where the arena has no room. `passages` and their texts are borrowed as long as the evidence is used. */
struct evidence *evidence_create(struct arena *arena, const struct passage *passages, size_t count);

/* Where a sentence is carried. `coverage` is 0 to 1; `exact` where the quote is the sentence itself, but for width,
 * case and white space, as whole words, and not cut out of a clause that denies it. `quote` is a span of
 * passages[passage].text, of one to three sentences. */
struct support {
    size_t passage;
    struct span quote;
    double coverage;
    bool exact;
};

/* The best support of `sentence`. False where none reaches `enough` (SUPPORT_ENOUGH for a citation), or a number or
 * identifier of the sentence is not in it; *support then has the best there was, with coverage 0 where there was none.
 * Marks of list items and references such as [1] do not count. */
bool support_find(const struct evidence *evidence, const char *sentence, size_t length, double enough,
                  struct support *support);

/* Whether each number and identifier of the text stands somewhere in the evidence. Linear in the text. */
bool evidence_has_numbers(const struct evidence *evidence, const char *text, size_t length);

/* Whether a term in its normal form (words.h) stands somewhere in the evidence. */
bool evidence_has_term(const struct evidence *evidence, const char *text, size_t length);

/* A sentence of the evidence, with how well it answers. */
struct chosen {
    size_t passage;
    struct span span;
    double score; /* 0 to 1: share of the question in it, partly by what it stands among */
};

/* What to choose. */
struct choice_terms {
    size_t sentences_max; /* at most CHOSEN_MAX */
    size_t bytes_max;
    double least;   /* share of the best score that a sentence must have */
    double novelty; /* 0: the best ones, however much alike; 1: as different as can be (MMR) */
};
#define CHOSEN_MAX 16

/* The sentences that answer `question` best, best first; how many. */
size_t evidence_choose(const struct evidence *evidence, const char *question, size_t length,
                       const struct choice_terms *terms, struct chosen chosen[CHOSEN_MAX]);

/* How well the evidence answers a question of which it gave `chosen`, 0 to 1: the mean of three shares of the question,
 * in the best sentence, in the best passage, in all of them. From ANSWER_ENOUGH on it is an answer; Japanese is covered
 * in pairs of characters, and less of it where it is said in other words. */
#define ANSWER_ENOUGH          0.38
#define ANSWER_ENOUGH_JAPANESE 0.35
double evidence_answers(const struct evidence *evidence, const char *question, size_t length,
                        const struct chosen *chosen, size_t count);

/* How much of a text the evidence covers, anywhere. What a term weighs is known from `weights`: the evidence itself, or
 * a larger one that it is a part of. `missing` are spans of the text: strong terms that are not covered, in its order,
 * those that touch joined. `share` is 1 for a text without any term. */
#define MISSING_MAX 16
struct coverage {
    double share;
    double best; /* the same within the one best passage and its heading */
    struct span missing[MISSING_MAX];
    size_t missing_count;
};
void evidence_cover(const struct evidence *evidence, const struct evidence *weights, const char *text, size_t length,
                    struct coverage *coverage);

#endif
