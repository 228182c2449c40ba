#include "rpc/inflate.h"

#include <grpc/byte_buffer_reader.h>
#include <string.h>
#include <zlib.h>

#define INFLATE_FIRST_FACTOR 4
#define INFLATE_FIRST_MIN    4096
#define WINDOW_GZIP          (15 + 16) /* zlib's way to say gzip */
#define WINDOW_DEFLATE       15

static void take_slice(struct rpc_incoming *incoming, grpc_slice slice)
{
    incoming->slice = slice;
    incoming->bytes = GRPC_SLICE_START_PTR(incoming->slice);
    incoming->size = GRPC_SLICE_LENGTH(incoming->slice);
}

static grpc_slice inflate_joined(grpc_byte_buffer *buffer)
{
    if (buffer->data.raw.slice_buffer.count == 1)
        return grpc_slice_ref(buffer->data.raw.slice_buffer.slices[0]);
    grpc_byte_buffer_reader reader;
    if (!grpc_byte_buffer_reader_init(&reader, buffer))
        return grpc_empty_slice();
    grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    return slice;
}

/* A slice of twice the room with the first `used` bytes of `slice`, which is given back. */
static grpc_slice grown(grpc_slice slice, size_t used, size_t room)
{
    grpc_slice larger = grpc_slice_malloc(room);
    memcpy(GRPC_SLICE_START_PTR(larger), GRPC_SLICE_START_PTR(slice), used);
    grpc_slice_unref(slice);
    return larger;
}

/* One byte more than `limit` is made at most, so that "too large" is known. */
static bool inflate_slice(z_stream *stream, grpc_slice packed, size_t limit, grpc_slice *plain, struct status *st)
{
    size_t room = GRPC_SLICE_LENGTH(packed) * INFLATE_FIRST_FACTOR + INFLATE_FIRST_MIN;
    room = room > limit + 1 ? limit + 1 : room;
    *plain = grpc_slice_malloc(room);
    stream->next_in = GRPC_SLICE_START_PTR(packed);
    stream->avail_in = (uInt)GRPC_SLICE_LENGTH(packed);
    for (;;) {
        stream->next_out = GRPC_SLICE_START_PTR(*plain) + stream->total_out;
        stream->avail_out = (uInt)(room - stream->total_out);
        int result = inflate(stream, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            break;
        if (result != Z_OK && result != Z_BUF_ERROR)
            return fail(st, INVALID_ARGUMENT, "the message's compression is broken");
        if (stream->avail_out > 0)
            return fail(st, INVALID_ARGUMENT, "the compressed message ends early");
        if (room == limit + 1)
            break;
        room = room * 2 > limit + 1 ? limit + 1 : room * 2;
        *plain = grown(*plain, stream->total_out, room);
    }
    if (stream->total_out > limit)
        return fail(st, RESOURCE_EXHAUSTED, "decompressed, the message has more than the %zu bytes it may have", limit);
    if (stream->avail_in > 0)
        return fail(st, INVALID_ARGUMENT, "bytes follow the compressed message");
    GRPC_SLICE_SET_LENGTH(*plain, stream->total_out);
    return true;
}

static bool decompress(grpc_compression_algorithm algorithm, grpc_slice packed, size_t limit, grpc_slice *plain,
                       struct status *st)
{
    z_stream stream = {0};
    *plain = grpc_empty_slice();
    if (inflateInit2(&stream, algorithm == GRPC_COMPRESS_GZIP ? WINDOW_GZIP : WINDOW_DEFLATE) != Z_OK)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to decompress the message");
    bool ok = inflate_slice(&stream, packed, limit, plain, st);
    inflateEnd(&stream);
    return ok;
}

/* Received bytes count in the resource quota, and releasing the last piece may start core's reclaim. Core 1.51 can do
 * that only inside an API call such as this one; from within grpc_slice_unref it crashes. So a buffer outlives the
 * slices that were taken from it. */
static void inflate_let_go(struct rpc_incoming *incoming)
{
    if (incoming->buffer)
        grpc_byte_buffer_destroy(incoming->buffer);
    incoming->buffer = NULL;
}

bool rpc_incoming_take(struct rpc_incoming *incoming, grpc_byte_buffer **buffer_pointer, size_t limit,
                       struct status *st)
{
    grpc_byte_buffer *buffer = *buffer_pointer;
    *buffer_pointer = NULL;
    grpc_compression_algorithm algorithm = buffer->data.raw.compression;
    bool in_pieces = buffer->data.raw.slice_buffer.count != 1;
    grpc_slice slice = inflate_joined(buffer);
    *incoming = (struct rpc_incoming){.compressed = algorithm != GRPC_COMPRESS_NONE, .buffer = buffer};
    if (in_pieces)
        inflate_let_go(incoming);
    if (!incoming->compressed) {
        take_slice(incoming, slice);
        return true;
    }
    grpc_slice plain;
    bool ok = decompress(algorithm, slice, limit, &plain, st);
    grpc_slice_unref(slice);
    inflate_let_go(incoming);
    take_slice(incoming, plain);
    return ok;
}

void rpc_incoming_fini(struct rpc_incoming *incoming)
{
    grpc_slice_unref(incoming->slice);
    inflate_let_go(incoming);
}
