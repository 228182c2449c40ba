/* The connections of a process to services: over a channel if an option has the service's address, else within the
 * process that hosts it. A connection is opened at its first use and stays until the end. Its stub keeps the promises
 * of rpc/rpc.h. One a process, embedded in it; in its first loop, or before the loops run. */
#ifndef RENGA_DAEMON_PEER_CONNECTIONS_H
#define RENGA_DAEMON_PEER_CONNECTIONS_H

#include "config/config.h"
#include "daemon/daemon.h"
#include "rpc/tls.h"

#include <protobuf-c/protobuf-c.h>

#define PEERS_MAX 16

struct budget;
struct rpc_channel;
struct rpc_schema;

struct peer_connection {
    const ProtobufCServiceDescriptor *descriptor;
    struct rpc_channel *channel; /* NULL: the service is in this process */
    ProtobufCService *stub;
};

struct peer_connections {
    const struct config *config;
    const struct peer *peers; /* the services that have an option; ends with a row without one */
    struct rpc_schema *schema;
    struct budget *answers; /* of the process */
    struct rpc_tls tls;     /* how they are called; without authorities in cleartext */
    struct peer_connection list[PEERS_MAX];
    size_t count;
};

/* All arguments are borrowed until peer_connections_close. */
void peer_connections_init(struct peer_connections *connections, const struct config *config, const struct peer *peers,
                           struct rpc_schema *schema, struct budget *answers);
/* `hosted`: its instances in this process, one a loop; NULL: it is not here. The stub belongs to the connections.
 * Errors: FAILED_PRECONDITION without an address and without instances; those of rpc_channel_create. */
ProtobufCService *peer_connections_find(struct peer_connections *connections,
                                        const ProtobufCServiceDescriptor *descriptor, ProtobufCService **hosted,
                                        struct status *st);
/* When no call is under connection on any of them. */
void peer_connections_close(struct peer_connections *connections);

#endif
