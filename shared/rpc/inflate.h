/* Messages that came in: their bytes in one piece, decompressed with a bound. gRPC core's own decompression has none: a
 * megabyte of gzip can become a gigabyte before a limit is looked at. Private to shared/rpc. */
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
    bool compressed; /* it came compressed */
    grpc_slice slice;
    grpc_byte_buffer *buffer; /* that the slice is part of; NULL where it stands alone */
};

/* Takes `*buffer` and nulls it; give `incoming` back with rpc_incoming_fini also after a failure. RESOURCE_EXHAUSTED
 * where more than `limit` bytes come out, INVALID_ARGUMENT where the compression is broken or unknown. */
bool rpc_incoming_take(struct rpc_incoming *incoming, grpc_byte_buffer **buffer, size_t limit, struct status *st);
void rpc_incoming_fini(struct rpc_incoming *incoming);

#endif
