/* libFuzzer on server-sent events: a stream says the same however its bytes are split. The first byte is how many come
 * at a time (0: all at once), the second a bound on an event, which must be kept. */
#include "http/sse.h"

#include <string.h>

#include "fuzz.h"

#define EVENT_MAX ((size_t)1 << 20) /* more than any input */

/* All that was heard, end to end. */
struct hearing {
    struct buffer heard;
    size_t event_max;
};

static bool event_received(void *owner, const struct sse_event *event)
{
    struct hearing *hearing = owner;
    must(event->size <= hearing->event_max && event->data[event->size] == '\0');
    must(strlen(event->type) <= SSE_TYPE_MAX && event->type[0] != '\0' && strlen(event->id) <= SSE_ID_MAX);
    buffer_printf(&hearing->heard, "%s|%s|%zu|", event->type, event->id, event->size);
    buffer_append(&hearing->heard, event->data, event->size);
    return true;
}

static bool hear(struct hearing *hearing, const char *bytes, size_t size, size_t at_a_time, size_t event_max)
{
    struct status st = {0};
    struct sse sse;
    bool good = true;
    buffer_init(&hearing->heard, SIZE_MAX);
    hearing->event_max = event_max;
    sse_init(&sse, event_max, event_received, hearing);
    for (size_t at = 0; good && at < size;) {
        size_t piece = at_a_time && at_a_time < size - at ? at_a_time : size - at;
        good = sse_feed(&sse, bytes + at, piece, &st);
        at += piece;
    }
    must(good || st.code == RESOURCE_EXHAUSTED);
    must(sse.retry_ms >= -1);
    sse_fini(&sse);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hearing whole, split, bounded;
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    must(hear(&whole, bytes, size - 2, 0, EVENT_MAX) && hear(&split, bytes, size - 2, data[0], EVENT_MAX));
    must(whole.heard.length == split.heard.length);
    must(!whole.heard.length || memcmp(whole.heard.data, split.heard.data, whole.heard.length) == 0);
    hear(&bounded, bytes, size - 2, data[0], data[1]);
    buffer_fini(&whole.heard);
    buffer_fini(&split.heard);
    buffer_fini(&bounded.heard);
    return 0;
}
