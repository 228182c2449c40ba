/* A provider's retry delay and its remaining rate limits, from the headers of its answer. */
#ifndef RENGA_UPSTREAM_RETRY_HINT_H
#define RENGA_UPSTREAM_RETRY_HINT_H

#include <stdint.h>

/* The retry delay in milliseconds; 0 if the provider gives no hint. Read in this order: retry-after-ms, retry-after
 * (seconds or an HTTP date), the reset of the exhausted limit (rate_left_of), x-ratelimit-reset. `header` gives a
 * header's value or NULL; `now_ms` is Unix time. */
int32_t retry_hint_ms(const char *(*header)(const void *from, const char *name), const void *from, int64_t now_ms);

/* The remaining rate limits, from x-ratelimit-remaining-{requests,tokens} and anthropic-ratelimit-{requests,tokens,
 * input-tokens,output-tokens}-remaining: -1 without a header. `reset_ms` is the longest reset of the exhausted limits.
 * If no limit is exhausted, it is the longest of all resets. Forms: "1s", "6m0s", "250ms", seconds, a moment in Unix
 * time or as RFC 3339 writes it. With most providers it is the time until the whole limit is back, not until the next
 * request may come. */
struct rate_left {
    int64_t requests, tokens, reset_ms;
};
struct rate_left rate_left_of(const char *(*header)(const void *from, const char *name), const void *from,
                              int64_t now_ms);

#endif
