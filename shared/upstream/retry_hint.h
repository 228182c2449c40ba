/* How long a provider asks to be left alone, and what it says is left, from the headers of its answer. */
#ifndef RENGA_UPSTREAM_RETRY_HINT_H
#define RENGA_UPSTREAM_RETRY_HINT_H

#include <stdint.h>

/* In milliseconds; 0 where it does not say. Read in this order: retry-after-ms, retry-after (seconds or an HTTP date),
 * the reset of what has run out (rate_left_of), x-ratelimit-reset. `header` gives a header's value or NULL; `now_ms` is
 * Unix time. */
int32_t retry_hint_ms(const char *(*header)(const void *from, const char *name), const void *from, int64_t now_ms);

/* What its limits leave, in x-ratelimit-remaining-{requests,tokens} and anthropic-ratelimit-{requests,tokens,
 * input-tokens,output-tokens}-remaining: -1 where it does not say. `reset_ms` is that of what has run out, of several
 * the longest, and where nothing has, the longest of all: "1s", "6m0s", "250ms", seconds, a moment in Unix time, or one
 * as RFC 3339 writes it. With most providers it is the time until all is back, not until the next request may come. */
struct rate_left {
    int64_t requests, tokens, reset_ms;
};
struct rate_left rate_left_of(const char *(*header)(const void *from, const char *name), const void *from,
                              int64_t now_ms);

#endif
