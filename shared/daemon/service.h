/* What a service is to the process that carries it: a row in the table of a binary.
 *
 * Adding a service is one folder under services/ with one `const struct service`, and one row in the binaries that
 * carry it. An instance belongs to one loop and shares nothing with its siblings. */
#ifndef RENGA_DAEMON_SERVICE_H
#define RENGA_DAEMON_SERVICE_H

#include "base/config.h"
#include "base/status.h"
#include "loop/loop.h"

#include <protobuf-c/protobuf-c.h>

struct daemon_process;
struct http_client;
struct metrics;
struct spans;

/* What an instance may use, for as long as it lives. */
struct service_context {
    const struct config *config;
    struct loop *loop;
    struct http_client *http; /* of this loop */
    struct metrics *metrics;
    struct spans *spans; /* NULL where no traces are recorded */
    struct daemon_process *process;
};

struct service {
    const char *name; /* "planner": first word of its options, and in logs */
    const ProtobufCServiceDescriptor *descriptor;
    const struct option *options; /* its own, "planner.…"; may be NULL */

    /* A service that keeps nothing is the same in every loop: it stands here, in place of create and destroy. */
    ProtobufCService *stateless;

    /* Makes the instance of one loop, from inside it. NULL with `st` filled where the configuration cannot be used. */
    ProtobufCService *(*create)(const struct service_context *context, struct status *st);
    /* From inside its loop, when no call is under way any more. */
    void (*destroy)(ProtobufCService *instance);
};

/* The way to another service: by the address in the configuration ("peers.planner") where one is set, else in this
 * process. The stub is the process's own and lives until all instances are destroyed. Only from `create`:
 * NULL with FAILED_PRECONDITION, naming the option, where there is no address either. */
ProtobufCService *service_peer(const struct service_context *context, const ProtobufCServiceDescriptor *descriptor,
                               struct status *st);

#endif
