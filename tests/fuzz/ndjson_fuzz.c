/* libFuzzer on lines of JSON: a stream says the same however its bytes are split. The first byte is how many come at a
 * time (0: all at once), the second a bound on a line, which must be kept. */
#include "provider/ndjson.h"

#include <string.h>

#include "fuzz.h"

#define LINE_MAX_BYTES ((size_t)1 << 20) /* more than any input */

/* All that was heard, end to end. */
struct hearing {
    struct buffer heard;
    size_t line_max;
    size_t lines, lines_max; /* after the last of them it has heard enough */
    bool enough;
};

static bool line_came(void *owner, const char *line, size_t size)
{
    struct hearing *hearing = owner;
    must(!hearing->enough);
    must(size > 0 && size <= hearing->line_max && line[size] == '\0' && !memchr(line, '\n', size));
    buffer_printf(&hearing->heard, "%zu|", size);
    buffer_append(&hearing->heard, line, size);
    hearing->enough = ++hearing->lines == hearing->lines_max;
    return !hearing->enough;
}

static bool hear(struct hearing *hearing, const char *bytes, size_t size, size_t at_a_time, size_t line_max)
{
    struct status st = {0};
    struct ndjson ndjson;
    bool good = true;
    buffer_init(&hearing->heard, SIZE_MAX);
    hearing->line_max = line_max;
    hearing->lines = 0;
    hearing->enough = false;
    ndjson_init(&ndjson, line_max, line_came, hearing);
    for (size_t at = 0; good && at < size;) {
        size_t piece = at_a_time && at_a_time < size - at ? at_a_time : size - at;
        good = ndjson_feed(&ndjson, bytes + at, piece, &st);
        at += piece;
    }
    must(good || st.code == (hearing->enough ? OK : RESOURCE_EXHAUSTED));
    good = good && ndjson_end(&ndjson);
    ndjson_fini(&ndjson);
    return good;
}

static void same(const struct buffer *one, const struct buffer *other)
{
    must(one->length == other->length);
    must(!one->length || memcmp(one->data, other->data, one->length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hearing whole = {0}, split = {0}, bounded = {0}, bounded_whole = {0}, first = {.lines_max = 1};
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    size -= 2;
    must(hear(&whole, bytes, size, 0, LINE_MAX_BYTES) && hear(&split, bytes, size, data[0], LINE_MAX_BYTES));
    same(&whole.heard, &split.heard);
    must(hear(&bounded, bytes, size, data[0], data[1]) == hear(&bounded_whole, bytes, size, 0, data[1]));
    must(hear(&first, bytes, size, data[0], LINE_MAX_BYTES) == (whole.lines == 0));
    must(first.lines == (whole.lines > 0));
    buffer_fini(&whole.heard);
    buffer_fini(&split.heard);
    buffer_fini(&bounded.heard);
    buffer_fini(&bounded_whole.heard);
    buffer_fini(&first.heard);
    return 0;
}
