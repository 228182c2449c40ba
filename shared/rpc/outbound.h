/* The call that is being made, as its transport sees it: gRPC core (remote.c) or this process (local.c).
 * Private to shared/rpc. It begins with the call, and its transport frees it after it has finished. */
#ifndef RENGA_RPC_OUTBOUND_H
#define RENGA_RPC_OUTBOUND_H

#include "rpc/rpc.h"
#include "rpc/schema.h"

#define METADATA_UNSENDABLE                                                                                            \
    "the metadata '%s' cannot be sent: use printable ASCII, or a key that ends in -bin, and none that is the "         \
    "runtime's own"

struct rpc_outbound_ops {
    void (*cancel)(struct rpc_outbound *outbound);
    void (*pause)(struct rpc_outbound *outbound);
    void (*resume)(struct rpc_outbound *outbound);
    const void *(*metadata)(const struct rpc_outbound *outbound, const char *key, size_t *size);
};

struct rpc_outbound {
    const struct rpc_outbound_ops *ops;
    struct rpc_client_call *call;
    const struct rpc_method *method;
    const ProtobufCMessageDescriptor *output;
    ProtobufCClosure closure;
    struct rpc_outbound *next, **link; /* among the children of the parent call */
    struct trace_context trace;
    int64_t began_ns, deadline_ns;
    size_t received_bytes, sent_bytes;
    size_t memory_max; /* bytes an unpacked answer may take */
};

/* False if gRPC would refuse it, and for the identity of a caller, which the runtime alone writes. */
bool rpc_outbound_may_send(const struct rpc_metadata *metadata);

/* `outbound` is zeroed and has ops, method, output and memory_max set. */
void rpc_outbound_begin(struct rpc_outbound *outbound, struct rpc_client_call *call, ProtobufCClosure closure);

/* A message of a stream has arrived. False if it cannot be read: the transport then cancels and finishes with `st`. */
bool rpc_outbound_message(struct rpc_outbound *outbound, const uint8_t *bytes, size_t size, struct status *st);

/* The last run of the closure. `bytes` is a unary answer, NULL otherwise. `call->status` is set. */
void rpc_outbound_finish(struct rpc_outbound *outbound, const uint8_t *bytes, size_t size);
/* The same with the answer as a message, of `size` bytes in packed form. */
void rpc_outbound_conclude(struct rpc_outbound *outbound, const ProtobufCMessage *message, size_t size);

/* Leaves the list of its parent's children. */
void rpc_outbound_detach(struct rpc_outbound *outbound);

#endif
