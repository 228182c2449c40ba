/* The parts of claims_agree (claims.h), each over a sentence and the words that are quoted for it. All are linear but
 * claims_order_agrees, which is bounded. */
#ifndef RENGA_WORDS_CLAIMS_PRIV_H
#define RENGA_WORDS_CLAIMS_PRIV_H

#include "words/claims.h"

#include <stdint.h>

#define CLAIM_SLOTS 4096 /* a power of 2, more than CLAIMS_TERMS_MAX */
#define SAME_SHARE  0.75 /* of a sentence's terms, numbers left out: it says what the other one says */
#define QUOTED_MOST 3    /* sentences of a quote, as support.h gives it */

/* The terms of a text by their hashes. All zero at first. */
struct claim_terms {
    uint64_t slots[CLAIM_SLOTS]; /* 0: free */
    size_t count;
};

/* False: there are too many. */
bool claim_terms_add(struct claim_terms *terms, struct claim text);

/* The share of the sentence's strong terms, numbers left out, that the terms have. */
double claim_share_of(struct claim_terms *terms, struct claim sentence);

/* False if one denies and the other affirms. */
bool claims_denial_agrees(struct claim sentence, struct claim quote);

/* False if the sentence has a number in words that neither quote nor heading has, in words or in digits. */
bool claims_numerals_agree(struct claim sentence, struct claim quote, struct claim heading);

/* False if the sentence has a word of a pair such as "before" and "after", and the quote the other one alone. */
bool claims_opposites_agree(struct claim sentence, struct claim quote);

/* False if the sentence is one of the quote with two parts of it exchanged. */
bool claims_order_agrees(struct claim sentence, struct claim quote);

#endif
