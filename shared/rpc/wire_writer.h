/* Writes protobuf messages by hand, from the end to the beginning: the last field is written first, so that the length
 * of a sub-message is known when its header is written.
 *
 *      size_t end = writer.used;
 *      rpc_wire_put_text(&writer, 2, description);
 *      rpc_wire_put_text(&writer, 1, field);
 *      rpc_wire_put_header(&writer, 1, writer.used - end);      // the two make sub-message 1 */
#ifndef RENGA_RPC_WIRE_WRITER_H
#define RENGA_RPC_WIRE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed but for buffer and size. With `buffer` NULL the writer only counts: `used` is the required size. */
struct rpc_wire_writer {
    uint8_t *buffer;
    size_t size;
    size_t used;
    bool full; /* it did not fit; the content is unusable */
};

/* The first byte of the message, which is `used` bytes long. */
static inline const uint8_t *rpc_wire_written(const struct rpc_wire_writer *writer)
{
    return writer->buffer + writer->size - writer->used;
}

void rpc_wire_put_raw(struct rpc_wire_writer *writer, const void *bytes, size_t size);
/* A varint without a tag, as in packed fields. */
void rpc_wire_put_number(struct rpc_wire_writer *writer, uint64_t value);
void rpc_wire_put_varint(struct rpc_wire_writer *writer, uint32_t number, uint64_t value);
void rpc_wire_put_bytes(struct rpc_wire_writer *writer, uint32_t number, const void *bytes, size_t size);
void rpc_wire_put_text(struct rpc_wire_writer *writer, uint32_t number, const char *text);
/* Tag and length of `size` bytes that have just been written. */
void rpc_wire_put_header(struct rpc_wire_writer *writer, uint32_t number, size_t size);

#endif
