/* Server-sent events, read as they arrive: https://html.spec.whatwg.org/multipage/server-sent-events.html §9.2.6.
 *
 *      sse_init(&sse, 1 << 20, event_received, owner);
 *      while (bytes come)
 *          if (!sse_feed(&sse, bytes, size, &st))
 *              ...
 *      sse_fini(&sse);
 *
 * Bytes may be split anywhere. An event counts only after its blank line: an unfinished event at the end of the stream
 * is dropped, as the standard requires. The contents of events are not interpreted here. */
#ifndef RENGA_HTTP_SSE_H
#define RENGA_HTTP_SSE_H

#include "base/buffer.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SSE_TYPE_MAX 63  /* bytes of an event's type; a longer one is cut */
#define SSE_ID_MAX   255 /* bytes of an id; a longer one is not taken */

struct sse_event {
    const char *type; /* "message" if the stream gives no type */
    const char *data; /* lines joined by LF, with a NUL behind; neither checked to be UTF-8 nor to be free of NUL */
    size_t size;
    const char *id; /* the last one seen, "" before the first */
};

struct sse {
    /* False ends the reading: sse_feed returns false at once and leaves its status alone. */
    bool (*event_received)(void *owner, const struct sse_event *event);
    void *owner;
    struct buffer line; /* the beginning of an incomplete line */
    struct buffer data; /* of the event that is being read */
    size_t event_max;
    char type[SSE_TYPE_MAX + 1];
    char id[SSE_ID_MAX + 1];
    int64_t retry_ms; /* the server's delay before a reconnection; -1: not given */
    bool begun;       /* the place for a byte order mark is behind us */
    bool after_cr;    /* a following LF belongs to the line before */
    bool has_data;
};

/* `event_max` bounds the bytes of a line and of an event's data. */
void sse_init(struct sse *sse, size_t event_max, bool (*event_received)(void *owner, const struct sse_event *event),
              void *owner);
void sse_fini(struct sse *sse);

/* False if a bound is exceeded (RESOURCE_EXHAUSTED in `st`) or event_received returned false; then only sse_fini may be
 * called. */
bool sse_feed(struct sse *sse, const char *bytes, size_t size, struct status *st);

#endif
