/* Rich errors: the further members of a `struct status` travel as google.rpc.Status in the trailing metadata
 * "grpc-status-details-bin", as in all gRPC libraries. */
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

/* Makes the details of a failure in the arena and returns their size: 0 if code and text are all, and when memory runs
 * out. UNAVAILABLE always has details, so that a client can tell the answer of a service from a lost connection
 * (rpc_client_call_is_lost). The field becomes a BadRequest, the retry hint a RetryInfo; added details, newest first,
 * precede them in the order in which they were added. */
size_t rpc_details_encode(const struct status *st, const struct rpc_detail *added, struct arena *arena,
                          const void **details);

/* Takes the field and the retry hint from a peer's details, and the text if `st` has no text. Malformed details are
 * ignored, since they are optional. */
void rpc_details_decode(const void *details, size_t size, struct status *st);

#endif
