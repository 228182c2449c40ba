/* The interface between a service and its host process: a row in the table of a binary.
 *
 * To add a service, make one folder under services/ with one `const struct service`, and one row in the binaries that
 * host it. An instance belongs to one loop and shares no data with the others. */
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

/* The resources of an instance, valid for its whole life. */
struct service_context {
    const struct config *config;
    struct loop *loop;
    const struct rpc_schema *schema;
    const struct rpc_auth *auth;        /* the allowed callers; NULL: all callers and methods */
    ProtobufCService *const *instances; /* of this service, one a loop; those of later loops are not created yet */
    struct http_client *http;           /* of this loop */
    struct budget *budget;              /* of the process: for the bodies of a listener of the service's own */
    struct budget *answers;             /* of the process: for answers, until they are sent */
    unsigned loop_count;                /* of the process */
    struct metrics *metrics;
    struct spans *spans; /* NULL if no traces are recorded */
    struct daemon_process *process;
};

struct service {
    const char *name;                             /* "planner": first word of its options, and in logs */
    const ProtobufCServiceDescriptor *descriptor; /* NULL: no gRPC service; the base of its instances is NULL too */
    const struct option *options;                 /* its own, "planner.…"; may be NULL */

    /* For a service without state, which is the same in every loop: replaces create and destroy. */
    ProtobufCService *stateless;

    /* Makes the instance of one loop, from inside it. NULL with `st` filled if the configuration cannot be used. */
    ProtobufCService *(*create)(const struct service_context *context, struct status *st);
    /* From inside its loop, when no call is under way any more. */
    void (*destroy)(ProtobufCService *instance);

    /* For a service with a listener of its own beside gRPC; both or neither. Both run from inside the loop. `serve`
     * runs once gRPC listens and all instances exist, but never for the command line. `drain` closes the listener once
     * no gRPC call can arrive, also if it was never opened. `drained` runs once, from the loop, when the listener's
     * last call and its background work are over; at `limit_ms` they are cut. */
    bool (*serve)(ProtobufCService *instance, const struct service_context *context, struct status *st);
    void (*drain)(ProtobufCService *instance, int64_t limit_ms, void (*drained)(void *data), void *data);

    /* SIGHUP: reads the instance's files again; may be NULL. Called for the first loop's instance, from a thread
     * outside of all loops, which may block. */
    void (*reload)(ProtobufCService *instance);
};

/* The connection to another service: by the address in the configuration ("peers.planner") if one is set, else in this
 * process. The stub belongs to the process and lives until all instances are destroyed. Only from `create`. NULL with
 * FAILED_PRECONDITION, naming the option, if there is no address either. */
ProtobufCService *service_peer(const struct service_context *context, const ProtobufCServiceDescriptor *descriptor,
                               struct status *st);

#endif
