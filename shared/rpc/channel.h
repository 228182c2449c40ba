/* Channels: the way to services that run elsewhere, or here.
 *
 * A stub is a ProtobufCService like any other: call the generated functions on it with a `struct rpc_client_call`.
 * A remote channel is gRPC's own machinery: name resolution (dns:///), round robin, health checks, reconnection within
 * half a second, and retries of the methods whose idempotency_level the contract states. A channel serves all loops.
 */
#ifndef RENGA_RPC_CHANNEL_H
#define RENGA_RPC_CHANNEL_H

#include "base/status.h"
#include "loop/loop.h"
#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

struct budget;
struct rpc_channel;
struct rpc_schema;
struct rpc_tls;

struct rpc_channel_options {
    const struct rpc_schema *schema;
    const char *target;        /* "dns:///planner:15002", "ipv4:10.0.0.1:15002,10.0.0.2:15002" */
    const struct rpc_tls *tls; /* NULL: no TLS */
    const char *authority;     /* the name expected in the peer's certificate; NULL: the target's */
    const char *key;           /* bearer key sent with every call; NULL: no key. Copied */
    size_t message_max;        /* bytes; 0: RPC_MESSAGE_DEFAULT_MAX */
    int64_t keepalive_ms; /* interval of keepalive pings to a silent peer; 0: each second, which our own servers allow;
                             a vanished peer is then given up within 3 s. Other servers usually disconnect clients that
                             ping more often than every 5 minutes */
    bool foreign;         /* a service of another make: it does not get the caller's identity */
};

struct rpc_channel *rpc_channel_create(const struct rpc_channel_options *options, struct status *st);
/* No call may be under way on it. */
void rpc_channel_destroy(struct rpc_channel **channel);

/* A stub of the service that works in every loop. The channel outlives it; give it back with
 * protobuf_c_service_destroy. NULL with NOT_FOUND if the schema does not know the service. */
ProtobufCService *rpc_channel_stub(struct rpc_channel *channel, const ProtobufCServiceDescriptor *service,
                                   struct status *st);

/* The in-process twin: a stub whose calls go to the service instance of the caller's own loop (`instances[i]` for loop
 * `i`). It has the same deadlines, cancellation, metadata, limits and errors as a remote stub. Messages are copied both
 * ways; the handler never sees the caller's memory. `message_max` in bytes; 0: RPC_MESSAGE_DEFAULT_MAX. `answers`: the
 * memory of streams that their callers have paused, RESOURCE_EXHAUSTED beyond, and of rpc_call_hold. Outlives the
 * stub; NULL: no bound. */
ProtobufCService *rpc_local_stub(const struct rpc_schema *schema, ProtobufCService *const *instances,
                                 size_t message_max, struct budget *answers);

#endif
