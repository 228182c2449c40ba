/* renga.v1.Usage adds up, field by field. Any thread. */
#ifndef RENGA_PROTO_USAGE_H
#define RENGA_PROTO_USAGE_H

#include "renga/v1/usage.pb-c.h"

#define USAGE_PACKED_MAX 128 /* bytes: nine fields, each a tag and at most ten */

#include <stdbool.h>
#include <stddef.h>

#define USAGE_URL "type.googleapis.com/renga.v1.Usage" /* in the details of a failure: the usage so far */

/* Adds the usage in the details of a failed call (rpc/details.h of shared/); false if they hold no readable usage. */
bool usage_of_details(const void *details, size_t size, Renga__V1__Usage *sum);

#define USAGE_COUNT_MAX (INT64_C(1) << 50) /* of one count that a peer sends; more is nonsense */

/* True if each count is within 0 and USAGE_COUNT_MAX; otherwise returns the first wrong one through the two pointers,
 * if given. */
bool usage_is_sane(const Renga__V1__Usage *usage, const char **field, int64_t *count);

/* Sums end at USAGE_SUM_MAX instead of running over; two of them still add up. A count below zero adds 0. */
#define USAGE_SUM_MAX (INT64_C(1) << 61)
void usage_add(Renga__V1__Usage *sum, const Renga__V1__Usage *more);
bool usage_is_nothing(const Renga__V1__Usage *usage);

#endif
