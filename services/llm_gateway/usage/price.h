/* What usage costs, after the price table. */
#ifndef RENGA_LLM_GATEWAY_PRICE_H
#define RENGA_LLM_GATEWAY_PRICE_H

#include "routing/route.h"

#include "renga/v1/usage.pb-c.h"

#include <stdint.h>

/* In micro-USD, a begun one counted whole. 0 where `price` is NULL: the table has none. Counts that contradict each
 * other (more tokens from a cache than tokens at all) are cut to what can be, and what is too much for an int64_t to
 * INT64_MAX. */
int64_t price_of(const struct price *price, const Renga__V1__Usage *usage);

#endif
