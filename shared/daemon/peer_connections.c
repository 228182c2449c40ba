#include "daemon/peer_connections.h"

#include "rpc/channel.h"

#include <assert.h>

void peer_connections_init(struct peer_connections *connections, const struct config *config, const struct peer *peers,
                           struct rpc_schema *schema, struct budget *answers)
{
    *connections = (struct peer_connections){.config = config, .peers = peers, .schema = schema, .answers = answers};
    connections->tls = (struct rpc_tls){
        .certificate = config_string(config, "peers.tls.certificate"),
        .key = config_string(config, "peers.tls.key"),
        .authorities = config_string(config, "peers.tls.authorities"),
    };
}

/* The first option that holds the service's address; NULL if there is no option for it. */
static const char *option_of(const struct peer_connections *connections, const ProtobufCServiceDescriptor *descriptor)
{
    const char *first = NULL;
    for (const struct peer *peer = connections->peers; peer->option; peer++) {
        if (peer->descriptor != descriptor)
            continue;
        if (config_string(connections->config, peer->option))
            return peer->option;
        first = first ? first : peer->option;
    }
    return first;
}

static size_t message_max(const struct peer_connections *connections)
{
    return (size_t)config_size(connections->config, "rpc.message_max");
}

static bool open_channel(const struct peer_connections *connections, struct peer_connection *connection,
                         const char *target, struct status *st)
{
    struct rpc_channel_options options = {
        .schema = connections->schema,
        .target = target,
        .tls = connections->tls.authorities ? &connections->tls : NULL,
        .authority = config_string(connections->config, "peers.tls.name"),
        .key = config_string(connections->config, "peers.key"),
        .message_max = message_max(connections),
        .keepalive_ms = config_duration_ms(connections->config, "peers.keepalive"),
    };
    connection->channel = rpc_channel_create(&options, st);
    connection->stub = connection->channel ? rpc_channel_stub(connection->channel, connection->descriptor, st) : NULL;
    if (!connection->stub)
        rpc_channel_destroy(&connection->channel);
    return connection->stub != NULL;
}

static bool peer_connection_open(const struct peer_connections *connections, struct peer_connection *connection,
                                 ProtobufCService **hosted, struct status *st)
{
    const char *option = option_of(connections, connection->descriptor);
    const char *target = option ? config_string(connections->config, option) : NULL;
    if (target)
        return open_channel(connections, connection, target, st);
    if (!hosted)
        return fail(st, FAILED_PRECONDITION, "%s is not in this process; give its address by %s",
                    connection->descriptor->name, option ? option : "an option");
    connection->stub = rpc_local_stub(connections->schema, hosted, message_max(connections), connections->answers);
    return true;
}

ProtobufCService *peer_connections_find(struct peer_connections *connections,
                                        const ProtobufCServiceDescriptor *descriptor, ProtobufCService **hosted,
                                        struct status *st)
{
    for (size_t i = 0; i < connections->count; i++)
        if (connections->list[i].descriptor == descriptor)
            return connections->list[i].stub;
    assert(connections->count < PEERS_MAX);
    struct peer_connection *connection = &connections->list[connections->count];
    *connection = (struct peer_connection){.descriptor = descriptor};
    if (!peer_connection_open(connections, connection, hosted, st))
        return NULL;
    connections->count++;
    return connection->stub;
}

void peer_connections_close(struct peer_connections *connections)
{
    for (size_t i = 0; i < connections->count; i++) {
        protobuf_c_service_destroy(connections->list[i].stub);
        rpc_channel_destroy(&connections->list[i].channel);
    }
    connections->count = 0;
}
