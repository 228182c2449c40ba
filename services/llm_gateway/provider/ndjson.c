#include "ndjson.h"

#include <string.h>

void ndjson_init(struct ndjson *ndjson, size_t line_max, bool (*line_came)(void *owner, const char *line, size_t size),
                 void *owner)
{
    ndjson->line_came = line_came;
    ndjson->owner = owner;
    ndjson->line_max = line_max;
    buffer_init(&ndjson->line, line_max + 1); /* with the NUL of buffer_text */
}

void ndjson_fini(struct ndjson *ndjson)
{
    buffer_fini(&ndjson->line);
}

static bool ndjson_is_blank(const struct buffer *line)
{
    for (size_t i = 0; i < line->length; i++)
        if (!memchr(" \t\r", line->data[i], 3))
            return false;
    return true;
}

bool ndjson_end(struct ndjson *ndjson)
{
    if (ndjson_is_blank(&ndjson->line)) {
        buffer_clear(&ndjson->line);
        return true;
    }
    const char *line = buffer_text(&ndjson->line);
    bool go_on = ndjson->line_came(ndjson->owner, line, ndjson->line.length);
    buffer_clear(&ndjson->line);
    return go_on;
}

bool ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t size, struct status *st)
{
    const char *at = bytes, *end = bytes + size;
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((lf ? lf : end) - at);
        if (length > ndjson->line_max - ndjson->line.length)
            return fail(st, RESOURCE_EXHAUSTED, "a line of the stream has more than %zu bytes", ndjson->line_max);
        buffer_append(&ndjson->line, at, length);
        if (ndjson->line.failed)
            return fail(st, RESOURCE_EXHAUSTED, "no memory for a line of the stream");
        if (!lf)
            return true;
        if (!ndjson_end(ndjson))
            return false;
        at = lf + 1;
    }
    return true;
}
