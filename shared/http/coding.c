#include "http/coding.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>

#define WINDOW_GZIP (15 + 16)
#define WINDOW_ZLIB 15
#define WINDOW_BARE (-15)
#define INPUT_MAX   ((size_t)1 << 30) /* bytes at a time: zlib counts with unsigned int */

struct coding {
    z_stream stream;
    bool gzip, begun, ended, full; /* full: the last piece filled all the room there was */
};

bool coding_is_needed(const char *name)
{
    return *name && strcasecmp(name, "identity") != 0;
}

struct coding *coding_create(const char *name)
{
    bool gzip = strcasecmp(name, "gzip") == 0 || strcasecmp(name, "x-gzip") == 0;
    if (!gzip && strcasecmp(name, "deflate") != 0)
        return NULL;
    struct coding *coding = xcalloc(1, sizeof *coding);
    if (inflateInit2(&coding->stream, gzip ? WINDOW_GZIP : WINDOW_ZLIB) != Z_OK)
        memory_exhausted();
    coding->gzip = gzip;
    return coding;
}

void coding_destroy(struct coding **coding_pointer)
{
    struct coding *coding = *coding_pointer;
    if (!coding)
        return;
    *coding_pointer = NULL;
    inflateEnd(&coding->stream);
    free(coding);
}

enum coding_event coding_next(struct coding *coding, const char *bytes, size_t size, size_t *taken, char *out,
                              size_t room, size_t *made)
{
    z_stream *stream = &coding->stream;
    *taken = *made = 0;
    if (!size && !coding->full)
        return CODING_MORE;
    if (size && !coding->begun) {
        /* Both wrappings go by the name of deflate; zlib's begins with the number of its method. */
        unsigned char first = (unsigned char)bytes[0];
        coding->begun = true;
        if (!coding->gzip && (first & 0x0f) != Z_DEFLATED)
            inflateReset2(&coding->stream, WINDOW_BARE);
    }
    if (coding->ended) {
        if (!size)
            return CODING_MORE;
        if (!coding->gzip || inflateReset(stream) != Z_OK)
            return CODING_BROKEN; /* bytes after its end */
        coding->ended = false;
    }
    uInt input = (uInt)(size < INPUT_MAX ? size : INPUT_MAX);
    stream->next_in = (Bytef *)(uintptr_t)bytes; /* which it only reads */
    stream->avail_in = input;
    stream->next_out = (Bytef *)out;
    stream->avail_out = (uInt)room;
    int result = inflate(stream, Z_NO_FLUSH);
    *taken = input - stream->avail_in;
    *made = room - stream->avail_out;
    coding->full = !stream->avail_out;
    coding->ended = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return CODING_BROKEN;
    return *made || *taken < size ? CODING_PIECE : CODING_MORE;
}

bool coding_is_whole(const struct coding *coding)
{
    return !coding->begun || coding->ended;
}
