/* What a service is to the process that hosts it: a row in the table of a binary.
 *
 * Adding a service is one folder under services/ with one `const struct service`, and one row in the binaries that
 * host it. An instance belongs to one loop and shares nothing with its siblings. */
#ifndef RENGA_DAEMON_SERVICE_H
#define RENGA_DAEMON_SERVICE_H

#include "base/status.h"
#include "config/config.h"
#include "loop/loop.h"

#include <protobuf-c/protobuf-c.h>

struct budget;
struct daemon_process;
struct http_client;
struct metrics;
struct rpc_auth;
struct rpc_schema;
struct spans;

/* What an instance may use, for as long as it lives. */
struct service_context {
    const struct config *config;
    struct loop *loop;
    const struct rpc_schema *schema;
    const struct rpc_auth *auth;        /* who may call; NULL: anyone may call anything */
    ProtobufCService *const *instances; /* of this very service, one a loop; those of later loops are yet to come */
    struct http_client *http;           /* of this loop */
    struct budget *budget;              /* of the process: for the bodies of a listener of the service's own */
    unsigned loop_count;                /* of the process */
    struct metrics *metrics;
    struct spans *spans; /* NULL where no traces are recorded */
    struct daemon_process *process;
};

struct service {
    const char *name;                             /* "planner": first word of its options, and in logs */
    const ProtobufCServiceDescriptor *descriptor; /* NULL: it serves no gRPC; the base of its instances has none */
    const struct option *options;                 /* its own, "planner.…"; may be NULL */

    /* A service that keeps nothing is the same in every loop: it stands here, in place of create and destroy. */
    ProtobufCService *stateless;

    /* Makes the instance of one loop, from inside it. NULL with `st` filled where the configuration cannot be used. */
    ProtobufCService *(*create)(const struct service_context *context, struct status *st);
    /* From inside its loop, when no call is under way any more. */
    void (*destroy)(ProtobufCService *instance);

    /* Of a service with a listener of its own beside gRPC; both or none. Both run from inside the loop: `serve` once
     * gRPC listens and all instances are there (never for the command line), `drain` to close the listener to new calls
     * once none can come over gRPC any more, also where it was never opened. `drained` runs once, from the loop, when
     * the last call of the listener and what began without it are over; at `limit_ms` they are cut. */
    bool (*serve)(ProtobufCService *instance, const struct service_context *context, struct status *st);
    void (*drain)(ProtobufCService *instance, int64_t limit_ms, void (*drained)(void *data), void *data);

    /* SIGHUP: reads again what was read from files; may be NULL. On the instance of the first loop, from a thread
     * outside of all loops, which may wait. */
    void (*reload)(ProtobufCService *instance);
};

/* The connection to another service: by the address in the configuration ("peers.planner") where one is set, else in
 * this process. The stub is the process's own and lives until all instances are destroyed. Only from `create`: NULL
 * with FAILED_PRECONDITION, naming the option, where there is no address either. */
ProtobufCService *service_peer(const struct service_context *context, const ProtobufCServiceDescriptor *descriptor,
                               struct status *st);

#endif
