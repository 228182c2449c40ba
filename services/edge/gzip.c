#include "gzip.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define WINDOW_GZIP (15 + 16)
#define MEMORY      8

char *gzip_pack(const void *bytes, size_t size, int level, size_t *packed_size)
{
    z_stream stream = {0};
    if (size < 32 || size > UINT_MAX ||
        deflateInit2(&stream, level, Z_DEFLATED, WINDOW_GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    char *packed = malloc(size);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = packed ? (uInt)size - 1 : 0;
    int end = packed ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    if (end == Z_STREAM_END)
        return packed;
    free(packed);
    return NULL;
}

char *gzip_unpack(const void *packed, size_t packed_size, size_t size)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)packed_size};
    if (size > UINT_MAX || packed_size > UINT_MAX || inflateInit2(&stream, WINDOW_GZIP) != Z_OK)
        return NULL;
    char *bytes = malloc(size + 1);
    stream.next_out = (Bytef *)bytes;
    stream.avail_out = bytes ? (uInt)size : 0;
    int end = bytes ? inflate(&stream, Z_FINISH) : Z_MEM_ERROR;
    bool whole = end == Z_STREAM_END && stream.total_out == size;
    inflateEnd(&stream);
    if (whole)
        return bytes;
    free(bytes);
    return NULL;
}
