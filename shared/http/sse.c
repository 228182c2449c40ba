#include "http/sse.h"

#include <string.h>

#define RETRY_DIGITS_MAX 9

static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

void sse_init(struct sse *sse, size_t event_max, bool (*event_received)(void *owner, const struct sse_event *event),
              void *owner)
{
    memset(sse, 0, sizeof *sse);
    sse->event_received = event_received;
    sse->owner = owner;
    sse->event_max = event_max;
    sse->retry_ms = -1;
    buffer_init(&sse->line, event_max);
    buffer_init(&sse->data, event_max + 1); /* the LF behind the last line */
}

void sse_fini(struct sse *sse)
{
    buffer_fini(&sse->line);
    buffer_fini(&sse->data);
}

static bool sse_too_large(const struct sse *sse, struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "an event of the stream has more than %zu bytes", sse->event_max);
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

static void set_retry(struct sse *sse, const char *value, size_t size)
{
    int64_t ms = 0;
    if (size == 0 || size > RETRY_DIGITS_MAX)
        return;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9')
            return;
        ms = ms * 10 + (value[i] - '0');
    }
    sse->retry_ms = ms;
}

static bool sse_take_field(struct sse *sse, const char *name, size_t name_size, const char *value, size_t size,
                           struct status *st)
{
    if (name_size == 4 && memcmp(name, "data", 4) == 0) {
        buffer_append(&sse->data, value, size);
        buffer_put(&sse->data, '\n');
        sse->has_data = true;
        return !sse->data.failed || sse_too_large(sse, st);
    }
    if (name_size == 5 && memcmp(name, "event", 5) == 0) {
        size_t kept = size < sizeof sse->type ? size : sizeof sse->type - 1;
        memcpy(sse->type, value, kept);
        sse->type[kept] = '\0';
    } else if (name_size == 2 && memcmp(name, "id", 2) == 0) {
        if (size < sizeof sse->id && !memchr(value, '\0', size)) {
            memcpy(sse->id, value, size);
            sse->id[size] = '\0';
        }
    } else if (name_size == 5 && memcmp(name, "retry", 5) == 0) {
        set_retry(sse, value, size);
    }
    return true; /* other fields are passed over */
}

static bool sse_dispatch(struct sse *sse)
{
    bool go_on = true;
    if (sse->has_data) {
        sse->data.length--; /* the LF after the last line is not part of the event */
        struct sse_event event = {.type = sse->type[0] ? sse->type : "message",
                                  .data = buffer_text(&sse->data),
                                  .size = sse->data.length,
                                  .id = sse->id};
        go_on = sse->event_received(sse->owner, &event);
    }
    buffer_clear(&sse->data);
    sse->type[0] = '\0';
    sse->has_data = false;
    return go_on;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool sse_take_line(struct sse *sse, const char *line, size_t size, struct status *st)
{
    if (!sse->begun) {
        sse->begun = true;
        if (size >= 3 && memcmp(line, BYTE_ORDER_MARK, 3) == 0) {
            line += 3;
            size -= 3;
        }
    }
    if (size == 0)
        return sse_dispatch(sse);
    const char *colon = memchr(line, ':', size);
    if (!colon)
        return sse_take_field(sse, line, size, "", 0, st);
    const char *value = colon + 1, *end = line + size;
    if (value < end && *value == ' ')
        value++;
    return sse_take_field(sse, line, (size_t)(colon - line), value, (size_t)(end - value), st);
}

/* The first LF or CR, or `end`. */
static const char *sse_line_end(const char *at, const char *end)
{
    const char *lf = memchr(at, '\n', (size_t)(end - at));
    const char *cr = memchr(at, '\r', (size_t)((lf ? lf : end) - at));
    return cr ? cr : lf ? lf : end;
}

/* A line that began in earlier bytes: joined in `line`. */
static bool finish_line(struct sse *sse, const char *rest, size_t size, struct status *st)
{
    buffer_append(&sse->line, rest, size);
    if (sse->line.failed)
        return sse_too_large(sse, st);
    bool good = sse_take_line(sse, sse->line.data, sse->line.length, st);
    buffer_clear(&sse->line);
    return good;
}

bool sse_feed(struct sse *sse, const char *bytes, size_t size, struct status *st)
{
    const char *at = bytes, *end = bytes + size;
    while (at < end) {
        if (sse->after_cr && *at == '\n')
            at++;
        sse->after_cr = false;
        if (at == end)
            return true;
        const char *stop = sse_line_end(at, end);
        size_t length = (size_t)(stop - at);
        if (stop == end) {
            buffer_append(&sse->line, at, length);
            return !sse->line.failed || sse_too_large(sse, st);
        }
        if (sse->line.length ? !finish_line(sse, at, length, st) : !sse_take_line(sse, at, length, st))
            return false;
        sse->after_cr = *stop == '\r';
        at = stop + 1;
    }
    return true;
}
