#include "rpc/wire_writer.h"

#include "rpc/wire.h"

#include <string.h>

#define VARINT_MAX 10 /* bytes of 64 bits, seven a byte */

void rpc_wire_put_raw(struct rpc_wire_writer *writer, const void *bytes, size_t size)
{
    writer->used += size;
    if (!writer->buffer || size == 0)
        return;
    if (writer->full || writer->used > writer->size) {
        writer->full = true;
        return;
    }
    memcpy(writer->buffer + writer->size - writer->used, bytes, size);
}

void rpc_wire_put_number(struct rpc_wire_writer *writer, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    rpc_wire_put_raw(writer, bytes, size);
}

void rpc_wire_put_varint(struct rpc_wire_writer *writer, uint32_t number, uint64_t value)
{
    rpc_wire_put_number(writer, value);
    rpc_wire_put_number(writer, (uint64_t)number << 3 | RPC_WIRE_VARINT);
}

void rpc_wire_put_header(struct rpc_wire_writer *writer, uint32_t number, size_t size)
{
    rpc_wire_put_number(writer, size);
    rpc_wire_put_number(writer, (uint64_t)number << 3 | RPC_WIRE_BYTES);
}

void rpc_wire_put_bytes(struct rpc_wire_writer *writer, uint32_t number, const void *bytes, size_t size)
{
    rpc_wire_put_raw(writer, bytes, size);
    rpc_wire_put_header(writer, number, size);
}

void rpc_wire_put_text(struct rpc_wire_writer *writer, uint32_t number, const char *text)
{
    rpc_wire_put_bytes(writer, number, text, strlen(text));
}
