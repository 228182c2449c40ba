/* Usage adds up, field by field. */
#ifndef RENGA_THINKING_USAGE_H
#define RENGA_THINKING_USAGE_H

#include "renga/v1/usage.pb-c.h"

#define USAGE_PACKED_MAX 128 /* bytes: nine fields, each a tag and at most ten */

void usage_add(Renga__V1__Usage *sum, const Renga__V1__Usage *more);

#endif
