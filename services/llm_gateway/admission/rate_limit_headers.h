/* The rest of a client's limits, as the response headers that OpenAI's clients read:
 *
 *      x-ratelimit-limit-requests: 60     x-ratelimit-remaining-requests: 59     x-ratelimit-reset-requests: 1s
 *
 * The same headers exist for tokens. The reset is the time until the whole limit is available again. */
#ifndef RENGA_LLM_GATEWAY_RATE_LIMIT_HEADERS_H
#define RENGA_LLM_GATEWAY_RATE_LIMIT_HEADERS_H

#include "admission/admission.h"

#include <stddef.h>

#define RATE_LIMIT_HEADERS   6
#define RATE_LIMIT_VALUE_MAX 24

struct rate_limit_header {
    const char *name; /* one of rate_limit_header_names */
    char value[RATE_LIMIT_VALUE_MAX];
};
extern const char *const rate_limit_header_names[RATE_LIMIT_HEADERS];

/* Writes the headers of the limits that exist; returns their number. */
size_t rate_limit_headers(const struct admission_rate_limits *rate_limits,
                          struct rate_limit_header headers[RATE_LIMIT_HEADERS]);

/* "250ms", "8.5s", "6m0s": OpenAI's format of a time. Returns its length. */
int rate_limit_write_duration(int64_t ms, char out[RATE_LIMIT_VALUE_MAX]);

#endif
