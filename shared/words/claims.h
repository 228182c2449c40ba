/* Whether a sentence says the same as the words that are quoted for it, where the coverage of its terms (support.h)
 * does not show it: in its names, in what its numbers count, in numbers that are written in words, in words of which
 * one excludes the other, in the order of its parts, and in whether it denies something.
 *
 * Names are known by how they are written: capitalised words, Katakana words, Han characters with an ending of names
 * (社, 市, 大学). The first word of a sentence counts unless it is a function word or an adverb that opens sentences.
 * A name without any of these signs is not seen. Linear, no memory. */
#ifndef RENGA_WORDS_CLAIMS_H
#define RENGA_WORDS_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#define CLAIMS_TERMS_MAX 3072 /* different terms of the quote and its heading; with more, no sentence agrees */

struct claim {
    const char *text;
    size_t length;
};

/* True if each name of the sentence stands in the quote or its heading, its numbers count there what they count in the
 * quote, and both deny or both affirm. `heading` may be empty. */
bool claims_agree(struct claim sentence, struct claim quote, struct claim heading);

/* Whether each number of the sentence that is written in digits stands in the quote or its heading. A part of
 * claims_agree. */
bool claims_numbers_stand(struct claim sentence, struct claim quote, struct claim heading);

/* Whether [begin, end) of the text denies nothing, but the rest of its clauses does: taken out of there it would affirm
 * what the text denies. */
bool claims_denied_around(struct claim text, size_t begin, size_t end);

struct evidence; /* support.h */

/* Whether a heading may stand over sentences of the evidence, as it has no reference: it is no sentence itself, and has
 * no number and no name that the evidence does not have. Linear. */
bool claims_heading_stands(const struct evidence *evidence, const char *text, size_t length);

/* Whether a run of Han characters has an ending of names, and more before it. */
bool claims_end_as_name(const char *text, size_t length);

#endif
