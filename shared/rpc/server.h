/* The server: binds service structs to gRPC core and keeps the house: TLS, keys, health, reflection, limits, drain. */
#ifndef RENGA_RPC_SERVER_H
#define RENGA_RPC_SERVER_H

#include "base/status.h"
#include "loop/loop.h"
#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct rpc_auth;
struct rpc_schema;
struct rpc_server;
struct rpc_tls;

struct rpc_server_options {
    struct loop *const *loops; /* borrowed while the server lives */
    unsigned loop_count;
    const struct rpc_schema *schema;
    const char *listen;          /* "0.0.0.0:15001", "[::]:15001", "unix:/run/renga.sock"; port 0 picks a free port */
    const struct rpc_tls *tls;   /* NULL: no TLS */
    const struct rpc_auth *auth; /* NULL: every caller may call every method */
    size_t message_max;          /* bytes of a message, both ways; 0: the default */
    size_t call_memory_max;      /* bytes a call's arena may take; 0: 8 × message_max */
    size_t memory_max;           /* bytes gRPC may buffer over all connections; 0: 64 MiB */
    struct budget *budget;  /* in place of memory_max: the memory of unary requests until they end, RESOURCE_EXHAUSTED
                               beyond; gRPC may buffer in the rest of it. Outlives the server; NULL: no budget */
    struct budget *answers; /* the memory of answers until they are sent, RESOURCE_EXHAUSTED beyond. Outlives the
                               server; NULL: no bound */
    unsigned streams_max;   /* concurrent calls on a connection; 0: 1,000 */
    int64_t connection_age_ms; /* a connection is asked to move on after this long; 0: never, for clients that look
                                  at health at least every few seconds */
    int64_t call_max_ms;       /* the longest a unary call may take with any deadline of its client; 0: no limit */
};

struct rpc_server *rpc_server_create(const struct rpc_server_options *options, struct status *st);

/* Adds a service: instance `i` serves the calls that arrive in loop `i`, so a handler shares nothing with other loops.
 * All instances are borrowed and outlive the server. Before rpc_server_start. */
void rpc_server_add(struct rpc_server *server, ProtobufCService *const *instances);

/* Listens and serves. Fails with UNAVAILABLE if the address cannot be bound. */
bool rpc_server_start(struct rpc_server *server, struct status *st);

/* The port that was bound. */
int rpc_server_port(const struct rpc_server *server);

/* Sets the answer of grpc.health.v1 for a service ("" is the server as a whole). All are SERVING after the start. */
void rpc_server_set_serving(struct rpc_server *server, const char *service, bool serving);

/* Leaves without failing a call: NOT_SERVING to every health watcher, no new connections, the old ones asked to move on
 * when their age is up. Then, once no client is connected any more (or all have had their time), shuts down. Calls that
 * still run when `limit_ms` is over are aborted with UNAVAILABLE. Both callbacks run once, from loop 0: `no_new_calls`,
 * which may be NULL, when no new call can come any more (at the latest when all ages are up, or at half of the limit if
 * that leaves no time), `drained` when all is over. Once. */
void rpc_server_drain(struct rpc_server *server, int64_t limit_ms, void (*no_new_calls)(void *data),
                      void (*drained)(void *data), void *data);

/* Not from inside a loop; the loops still run. Drains without waiting if the server was not drained. False: a handler
 * has not ended after 5 s, or gRPC holds the port. The server stays in memory then, and so must all that handlers use.
 */
bool rpc_server_destroy(struct rpc_server **server);

#endif
