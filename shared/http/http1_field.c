/* The fields of a head that was read: finding one, and those that a request has once. */
#include "http/http1.h"

#include <string.h>
#include <strings.h>

const char *http1_field(const struct http1 *reader, const char *name)
{
    if (!(reader->names_seen & http1_name_bit(name, strlen(name))))
        return NULL;
    const char *found = NULL, *end = reader->names.data + reader->names.length;
    for (const char *at = reader->names.data + reader->fields_at; at < end;) {
        const char *value = at + strlen(at) + 1;
        if (strcasecmp(at, name) == 0)
            found = value;
        at = value + strlen(value) + 1;
    }
    return found;
}

/* Fields that decide the caller, the content, or its treatment: of two, one reader takes the first and the next one
 * the last. Content-Length and Host are checked by their readers. */
static const char *const single[] = {
    "authorization",
    "content-type",
    "content-encoding",
    "content-range",
    "content-location",
    "expect",
    "range",
    "origin",
    "referer",
    "user-agent",
    "from",
    "max-forwards",
    "proxy-authorization",
    "idempotency-key",
    "x-api-key",
    "traceparent",
    "api-key",
    "x-request-id",
    "x-stainless-timeout",
    "last-event-id",
    "if-range",
    "if-modified-since",
    "if-unmodified-since",
};

bool http1_is_second(const struct http1 *reader, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (strlen(single[i]) == length && strncasecmp(single[i], name, length) == 0)
            return http1_field(reader, single[i]) != NULL;
    return false;
}
