/* The parts of a server: shards (its share of each loop), bindings (its methods) and the calls under way.
 * Private to shared/rpc. */
#ifndef RENGA_RPC_SERVING_H
#define RENGA_RPC_SERVING_H

#include "rpc/call.h"
#include "rpc/queue.h"
#include "rpc/server.h"

#include <grpc/grpc.h>
#include <stdatomic.h>

/* Bytes of request metadata, 32 more counted for each key as HTTP/2 does. More ends the connection; from a peer that
 * has not acknowledged our SETTINGS core takes any amount, and the call is refused when it arrives. */
#define SERVER_METADATA_MAX (16u << 10)

struct server_call;
struct health_watch;

/* The part of a server in a single loop; touched only from inside it. */
struct rpc_shard {
    struct rpc_server *server;
    struct loop *loop;
    grpc_completion_queue *cq;
    struct server_call *live, *pool;
    unsigned live_count, pool_count;
    unsigned awaited_count; /* handed to gRPC, not arrived yet */
    /* Calls of services under way, and calls whose status has not left; written in the loop, read by the drain. */
    _Atomic unsigned busy, unanswered;
    struct health_watch *watches;
    atomic_bool watch_posted;
    struct work watch_work; /* health has changed: update the watches */
    struct work abort_work; /* the drain's limit is reached */
};

/* A method of the runtime's own, which reads and writes bytes. `bytes` is NULL once a request stream has ended. */
struct rpc_builtin {
    const char *service, *method;
    void (*handle)(struct rpc_shard *shard, struct rpc_call *call, const void *bytes, size_t size);
};

struct rpc_binding {
    const struct rpc_method *method;
    ProtobufCService *const *instances; /* NULL for a builtin */
    const struct rpc_builtin *builtin;  /* NULL for a service */
    void *registered;
};

struct rpc_server {
    struct rpc_server_options options;
    char *listen;
    grpc_server *grpc;
    grpc_resource_quota *quota;
    struct rpc_shard *shards;
    struct rpc_binding *bindings;
    size_t binding_count;
    const char **services; /* names, of ours and of the builtins */
    atomic_bool *serving;  /* the health state of each */
    size_t service_count;
    atomic_bool whole_serving;
    bool started;
    atomic_bool leaving;  /* the drain has begun: no service is SERVING any more */
    atomic_bool refusing; /* no more calls are taken from gRPC */
    int port;
    struct drain *drain;
};

/* Has gRPC hand the next call of a method (of no known method) to this shard. */
void server_call_await(struct rpc_shard *shard, struct rpc_binding *binding);
void server_call_await_unknown(struct rpc_shard *shard);

/* The client is answered UNAVAILABLE at once; the handler's on_cancel runs, and its later replies are dropped. */
void server_call_abort_all(struct rpc_shard *shard);
void server_call_pool_free(struct rpc_shard *shard);

/* grpc.health.v1 */
extern const struct rpc_builtin rpc_health_check, rpc_health_watch;
void rpc_health_changed(struct rpc_server *server);
void rpc_health_end_watches(struct rpc_shard *shard);

#endif
