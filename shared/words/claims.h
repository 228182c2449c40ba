/* Checks whether a sentence and its quote agree in points that the coverage of terms (support.h) does not detect. These
 * points are names, the units of numbers, numbers written in words, words that exclude each other, the order of parts,
 * and denial.
 *
 * Names are recognised by their spelling: capitalised words, Katakana words, Han characters with an ending of names
 * (社, 市, 大学). The first word of a sentence counts unless it is a function word or an adverb that opens sentences.
 * A name without any of these signs is not recognised. Linear time, no allocation. */
#ifndef RENGA_WORDS_CLAIMS_H
#define RENGA_WORDS_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#define CLAIMS_TERMS_MAX 3072 /* different terms of the quote and its heading; with more, no sentence agrees */

struct claim {
    const char *text;
    size_t length;
};

/* True if each name of the sentence is in the quote or its heading, each number has the same unit in both texts, and
 * both deny or both affirm. Opposites, numbers in words and the order of parts must agree, too.
 * `heading` may be empty. */
bool claims_agree(struct claim sentence, struct claim quote, struct claim heading);

/* Whether the quote or its heading has each number in digits of the sentence, by value (figures.h). claims_agree
 * applies this check to a single sentence of a longer quote. */
bool claims_numbers_stand(struct claim sentence, struct claim quote, struct claim heading);

/* False if the sentence is nearly a sentence of the quote, but with another word: "rose" for "fell". Stricter than
 * claims_agree: a synonym counts as another word. */
bool claims_words_stand(struct claim sentence, struct claim quote, struct claim heading);

/* Whether the quote carries the whole sentence: claims_agree and claims_words_stand hold, no word stands in place of
 * another (aligned.h), and no run of words is added that the quote and its heading lack. `passage` is the text around
 * the quote. A sentence of ALIGNED_WORDS words or more is not carried. */
bool claims_carried(struct claim sentence, struct claim quote, struct claim passage, struct claim heading);

/* Whether two nearly equal texts state different things: they deny another number of times, have only one of a pair of
 * opposites each, or each has a number that the other lacks. Linear, but for FIGURES_MAX numbers of each. */
bool claims_contradict(struct claim one, struct claim other);

/* True if [begin, end) of the text contains no denial, but the rest of its clauses does. Quoted alone, this span would
 * affirm a statement that the text denies. */
bool claims_denied_around(struct claim text, size_t begin, size_t end);

struct evidence; /* support.h */

/* Whether a heading needs no reference: it is not a sentence, and the evidence has all its numbers and names. Linear
 * time. */
bool claims_heading_stands(const struct evidence *evidence, const char *text, size_t length);

/* Whether a run of Han characters has an ending of names, with more than three bytes before it. */
bool claims_end_as_name(const char *text, size_t length);

#endif
