/* Rich errors: what a `struct status` carries beyond code and text travels as google.rpc.Status in the trailing
 * metadata "grpc-status-details-bin", as all gRPC libraries know it. */
#ifndef RENGA_RPC_DETAILS_H
#define RENGA_RPC_DETAILS_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>

#define RPC_DETAILS_KEY       "grpc-status-details-bin"
#define RPC_DETAILS_ADDED_MAX 2560 /* bytes that a handler may add */
#define RPC_DETAILS_MAX       (RPC_DETAILS_ADDED_MAX + 2 * STATUS_TEXT_MAX + STATUS_FIELD_MAX + 256) /* within metadata's */

/* A detail that a handler has added (rpc_call_add_detail). */
struct rpc_detail {
    const struct rpc_detail *next;
    const char *type_url;
    const void *bytes;
    size_t size;
};

/* Makes the details of a failure in the arena and returns how many bytes they are: 0 where code and text say it all,
 * and where memory is out. UNAVAILABLE always has details, so that a client can tell the answer of a service from a
 * connection that is lost (rpc_client_call_is_lost). The field becomes a BadRequest, the retry hint a RetryInfo; those
 * that were added, newest first, stand before them in the order in which they were added. */
size_t rpc_details_encode(const struct status *st, const struct rpc_detail *added, struct arena *arena,
                          const void **details);

/* Takes the field and the retry hint from details that a peer sent, and the text where `st` has none. Details are a
 * courtesy: what is malformed in them is passed over. */
void rpc_details_decode(const void *details, size_t size, struct status *st);

#endif
