/* The ways of a process to services: over a channel where an option has the service's address, else within the process
 * that carries it. A way is opened when it is first asked for and stays until the end; what its stub promises is
 * rpc/rpc.h's. One a process, embedded in it; in its first loop, or before the loops run. */
#ifndef RENGA_DAEMON_WAYS_H
#define RENGA_DAEMON_WAYS_H

#include "base/config.h"
#include "daemon/daemon.h"
#include "rpc/tls.h"

#include <protobuf-c/protobuf-c.h>

#define PEERS_MAX 16

struct rpc_channel;
struct rpc_schema;

struct way {
    const ProtobufCServiceDescriptor *descriptor;
    struct rpc_channel *channel; /* NULL: it is in this process */
    ProtobufCService *stub;
};

struct ways {
    const struct config *config;
    const struct peer *peers; /* the services that have an option; ends with a row without one */
    struct rpc_schema *schema;
    struct rpc_tls tls; /* how they are called; without authorities in cleartext */
    struct way list[PEERS_MAX];
    size_t count;
};

/* All that is given is needed until ways_close. */
void ways_init(struct ways *ways, const struct config *config, const struct peer *peers, struct rpc_schema *schema);
/* `carried`: its instances in this process, one a loop; NULL: it is not here. The stub is of the ways. Errors:
 * FAILED_PRECONDITION without an address and without instances; those of rpc_channel_create. */
ProtobufCService *ways_find(struct ways *ways, const ProtobufCServiceDescriptor *descriptor, ProtobufCService **carried,
                            struct status *st);
/* When no call is under way on any of them. */
void ways_close(struct ways *ways);

#endif
