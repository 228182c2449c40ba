/* libFuzzer on a line of a cassette: what is read can be written, and what was written is read the same. */
#include "http/cassette_priv.h"

#include <string.h>

#include "fuzz.h"

static void read_and_write(const char *line, size_t length, struct buffer *out)
{
    struct status st = {0};
    struct recorded recorded;
    buffer_init(out, CASSETTE_FILE_MAX);
    bool good = recorded_read(&recorded, line, length, &st);
    must(good == (st.code == OK));
    if (!good)
        return;
    size_t bytes = 0;
    for (size_t i = 0; i < recorded.piece_count; i++)
        bytes += recorded.pieces[i].size;
    must(bytes == recorded.body.length);
    must(recorded_write(&recorded, out) && out->data[out->length - 1] == '\n');
    recorded_fini(&recorded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer once, twice;
    read_and_write((const char *)data, size, &once);
    if (!once.length)
        return 0;
    read_and_write(once.data, once.length - 1, &twice);
    must(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    buffer_fini(&once);
    buffer_fini(&twice);
    return 0;
}
