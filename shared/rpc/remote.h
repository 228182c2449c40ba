/* A remote channel and its stubs: channel.c makes them, remote.c makes the calls. Private to shared/rpc. */
#ifndef RENGA_RPC_REMOTE_H
#define RENGA_RPC_REMOTE_H

#include "rpc/channel.h"
#include "rpc/channel_pool.h"
#include "rpc/schema.h"

#include <grpc/grpc.h>

struct rpc_channel {
    struct channel_pool pool;
    const struct rpc_schema *schema;
    char *authorization; /* "Bearer …" or NULL */
    size_t message_max;
    bool foreign; /* as rpc_channel_options */
};

struct remote_stub {
    ProtobufCService base; /* first */
    struct rpc_channel *channel;
    const struct rpc_method *methods;
    void **registered; /* the methods at the first channel of the pool */
};

/* The `invoke` of a remote stub. */
void remote_invoke(ProtobufCService *service, unsigned index, const ProtobufCMessage *input, ProtobufCClosure closure,
                   void *data);

#endif
