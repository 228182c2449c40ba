/* How much a bullet is worth: for ranking, and for the order in which bullets leave a playbook that is over its token
 * budget. Pure. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_VALUE_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_VALUE_H

#include "renga/v1/playbook.pb-c.h"

#include <stddef.h>
#include <stdint.h>

/* The share of uses in which the bullet helped, Laplace-smoothed: (helpful + 1) / (helpful + harmful + 2). */
double playbook_helpful_share(const Renga__V1__Bullet *bullet);

/* The factor of a bullet's relevance in a search: 1 without counts, towards 0 the more it harmed, up to 1.25 the more
 * it helped. Never 0: a bullet that alone fits is found. */
double playbook_search_weight(const Renga__V1__Bullet *bullet);

/* The value of a bullet at a time (Unix milliseconds): the helpful share, more the oftener it helped on balance, and a
 * bonus while it is new, so that a bullet can prove itself. */
double playbook_value(const Renga__V1__Bullet *bullet, int64_t now_ms);

/* Sorts an array of bullets by value, the lowest first: the order in which they leave. Equal ones: that which changed
 * longest ago, then by id. Out of memory is fatal. */
void playbook_sort_by_value(Renga__V1__Bullet **bullets, size_t count, int64_t now_ms);

#endif
