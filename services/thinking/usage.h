/* Usage adds up, field by field. */
#ifndef RENGA_THINKING_USAGE_H
#define RENGA_THINKING_USAGE_H

#include "renga/v1/usage.pb-c.h"

#define USAGE_PACKED_MAX 128 /* bytes: nine fields, each a tag and at most ten */

#include <stdbool.h>
#include <stddef.h>

#define USAGE_URL "type.googleapis.com/renga.v1.Usage" /* of a failure's details: what was spent all the same */

/* Adds what the details of a failed call (rpc/details.h) tell; false where they tell nothing that can be read. */
bool usage_of_details(const void *details, size_t size, Renga__V1__Usage *sum);

void usage_add(Renga__V1__Usage *sum, const Renga__V1__Usage *more);
bool usage_is_nothing(const Renga__V1__Usage *usage);

#endif
