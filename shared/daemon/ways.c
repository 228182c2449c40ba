#include "daemon/ways.h"

#include "rpc/channel.h"
#include "rpc/schema.h"

#include <assert.h>

void ways_init(struct ways *ways, const struct config *config, const struct peer *peers, struct rpc_schema *schema)
{
    *ways = (struct ways){.config = config, .peers = peers, .schema = schema};
    ways->tls = (struct rpc_tls){
        .certificate = config_string(config, "peers.tls.certificate"),
        .key = config_string(config, "peers.tls.key"),
        .authorities = config_string(config, "peers.tls.authorities"),
    };
}

/* The option that has the service's address, the first of several; NULL where none is meant for it. */
static const char *option_of(const struct ways *ways, const ProtobufCServiceDescriptor *descriptor)
{
    const char *first = NULL;
    for (const struct peer *peer = ways->peers; peer->option; peer++) {
        if (peer->descriptor != descriptor)
            continue;
        if (config_string(ways->config, peer->option))
            return peer->option;
        first = first ? first : peer->option;
    }
    return first;
}

static size_t message_max(const struct ways *ways)
{
    return (size_t)config_size(ways->config, "rpc.message_max");
}

static bool open_channel(const struct ways *ways, struct way *way, const char *target, struct status *st)
{
    struct rpc_channel_options options = {
        .schema = ways->schema,
        .target = target,
        .tls = ways->tls.authorities ? &ways->tls : NULL,
        .authority = config_string(ways->config, "peers.tls.name"),
        .key = config_string(ways->config, "peers.key"),
        .message_max = message_max(ways),
        .keepalive_ms = config_duration_ms(ways->config, "peers.keepalive"),
    };
    way->channel = rpc_channel_create(&options, st);
    way->stub = way->channel ? rpc_channel_stub(way->channel, way->descriptor, st) : NULL;
    if (!way->stub)
        rpc_channel_destroy(&way->channel);
    return way->stub != NULL;
}

static bool open_way(const struct ways *ways, struct way *way, ProtobufCService **carried, struct status *st)
{
    const char *option = option_of(ways, way->descriptor);
    const char *target = option ? config_string(ways->config, option) : NULL;
    if (target)
        return open_channel(ways, way, target, st);
    if (!carried)
        return fail(st, FAILED_PRECONDITION, "%s is not in this process; give its address by %s", way->descriptor->name,
                    option ? option : "an option");
    way->stub = rpc_local_stub(ways->schema, carried, message_max(ways));
    return true;
}

ProtobufCService *ways_find(struct ways *ways, const ProtobufCServiceDescriptor *descriptor, ProtobufCService **carried,
                            struct status *st)
{
    for (size_t i = 0; i < ways->count; i++)
        if (ways->list[i].descriptor == descriptor)
            return ways->list[i].stub;
    assert(ways->count < PEERS_MAX);
    struct way *way = &ways->list[ways->count];
    *way = (struct way){.descriptor = descriptor};
    if (!open_way(ways, way, carried, st))
        return NULL;
    ways->count++;
    return way->stub;
}

void ways_close(struct ways *ways)
{
    for (size_t i = 0; i < ways->count; i++) {
        protobuf_c_service_destroy(ways->list[i].stub);
        rpc_channel_destroy(&ways->list[i].channel);
    }
    ways->count = 0;
}
