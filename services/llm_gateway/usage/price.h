/* The cost of usage, by the price table. */
#ifndef RENGA_LLM_GATEWAY_PRICE_H
#define RENGA_LLM_GATEWAY_PRICE_H

#include "routing/route.h"

#include "renga/v1/usage.pb-c.h"

#include <stdint.h>

/* In micro-USD, rounded up. 0 if `price` is NULL: no price is configured. Contradictory counts (more cached tokens
 * than tokens) are reduced to possible ones; a sum beyond an int64_t becomes INT64_MAX. */
int64_t price_of(const struct price *price, const Renga__V1__Usage *usage);

#endif
