/* How long a provider asks to be left alone, from the headers of its answer. */
#ifndef RENGA_LLM_GATEWAY_RETRY_HINT_H
#define RENGA_LLM_GATEWAY_RETRY_HINT_H

#include <stdint.h>

/* In milliseconds; 0 where it does not say. Read in this order: retry-after-ms, retry-after (seconds or an HTTP date),
 * x-ratelimit-reset-{requests,tokens} of what has run out ("1s", "6m0s", "250ms", or seconds), x-ratelimit-reset (the
 * same, or a moment in Unix time). `header` gives a header's value or NULL; `now_ms` is Unix time. */
int32_t retry_hint_ms(const char *(*header)(const void *from, const char *name), const void *from, int64_t now_ms);

#endif
