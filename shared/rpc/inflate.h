/* Received messages: their bytes in one piece, decompressed with a bound. gRPC core's own decompression is unbounded: a
 * megabyte of gzip can become a gigabyte before a limit is checked. Private to shared/rpc. */
#ifndef RENGA_RPC_INFLATE_H
#define RENGA_RPC_INFLATE_H

#include "base/status.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <stdbool.h>
#include <stdint.h>

struct rpc_incoming {
    const uint8_t *bytes;
    size_t size;
    bool compressed; /* it was compressed */
    grpc_slice slice;
    grpc_byte_buffer *buffer; /* the buffer of the slice; NULL if the slice is independent */
};

/* Takes `*buffer` and nulls it; call rpc_incoming_fini also after a failure. RESOURCE_EXHAUSTED for more than `limit`
 * decompressed bytes, INVALID_ARGUMENT for a broken or unknown compression. */
bool rpc_incoming_take(struct rpc_incoming *incoming, grpc_byte_buffer **buffer, size_t limit, struct status *st);
void rpc_incoming_fini(struct rpc_incoming *incoming);

#endif
