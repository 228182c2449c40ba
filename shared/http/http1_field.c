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

/* Lists that clients and proxies may send as several fields. */
static const struct {
    const char *name, *between;
} lists[] = {{"accept", ", "}, {"accept-encoding", ", "}, {"if-none-match", ", "}, {"cookie", "; "}};

static void http1_join_list(struct http1 *reader, const char *name, const char *between)
{
    struct buffer *names = &reader->names;
    size_t end = names->length, count = 0;
    for (size_t at = reader->fields_at, value; at < end; at = value + strlen(names->data + value) + 1) {
        value = at + strlen(names->data + at) + 1;
        if (strcasecmp(names->data + at, name) != 0)
            continue;
        size_t length = strlen(names->data + value);
        if (!buffer_reserve(names, strlen(name) + length + 4)) /* so that the value does not move while it is copied */
            return;
        if (!count++) {
            buffer_print(names, name);
            buffer_put(names, '\0');
        } else {
            buffer_print(names, between);
        }
        buffer_append(names, names->data + value, length);
    }
    if (count)
        buffer_put(names, '\0');
}

void http1_join_lists(struct http1 *reader)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (http1_field(reader, lists[i].name))
            http1_join_list(reader, lists[i].name, lists[i].between);
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
    "x-request-timeout",
    "grpc-timeout",
    "sec-fetch-site",
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
