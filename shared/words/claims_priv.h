/* The parts of claims_agree (claims.h). Each compares a sentence with its quote. All run in linear time except
 * claims_order_agrees, which is bounded. */
#ifndef RENGA_WORDS_CLAIMS_PRIV_H
#define RENGA_WORDS_CLAIMS_PRIV_H

#include "words/claims.h"

#include <stdint.h>

#define CLAIM_SLOTS 4096 /* a power of 2, more than CLAIMS_TERMS_MAX */
#define SAME_SHARE  0.75 /* of a sentence's terms without numbers: both sentences make the same statement */
#define QUOTED_MOST 3    /* sentences of a quote, as support.h gives it */

/* The terms of a text by their hashes. Initialised with zeros. */
struct claim_terms {
    uint64_t slots[CLAIM_SLOTS]; /* 0: free */
    size_t count;
};

/* False if there are too many terms. */
bool claim_terms_add(struct claim_terms *terms, struct claim text);

bool claim_terms_have(struct claim_terms *terms, const char *text, size_t length);

/* The share of the sentence's strong terms, numbers and identifiers left out, that are in `terms`. */
double claim_share_of(struct claim_terms *terms, struct claim sentence);

/* The number of English words in a text that deny, plus one for a Japanese denial. */
size_t claims_denials(struct claim text);

/* False if only the sentence or only the quote denies. */
bool claims_denial_agrees(struct claim sentence, struct claim quote);

/* False if the sentence has a number in words that is in neither the quote nor the heading, in words or in digits. */
bool claims_numerals_agree(struct claim sentence, struct claim quote, struct claim heading);

/* claims_numbers_stand, with the units of the numbers. */
bool claims_figures_agree(struct claim sentence, struct claim quote, struct claim heading);

struct figure;

/* Whether the quote or the heading has a whole number in words. */
bool claims_numerals_have(struct claim quote, struct claim heading, const struct figure *figure);

/* False if the sentence has a word of a pair like "before" and "after", and the quote has only the other word. */
bool claims_opposites_agree(struct claim sentence, struct claim quote);

/* False if a number of the sentence stands in the quote with another year, or another name. */
bool claims_pairs_agree(struct claim sentence, struct claim quote);

/* False if the sentence equals a sentence of the quote, but with two parts exchanged. */
bool claims_order_agrees(struct claim sentence, struct claim quote);

#endif
