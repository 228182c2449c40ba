/* Channels: gRPC's own machinery (channel_pool.c), and the stubs on it. */
#include "rpc/remote.h"

#include "base/memory.h"
#include "rpc/credentials.h"
#include "rpc/queue.h"
#include "rpc/tls.h"

#include <grpc/grpc_security.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rpc_channel *rpc_channel_create(const struct rpc_channel_options *options, struct status *st)
{
    if (options->tls && !rpc_tls_check(options->tls, st))
        return NULL;
    rpc_core_start();
    grpc_channel_credentials *credentials =
        options->tls ? rpc_tls_channel_credentials(options->tls, st) : grpc_insecure_credentials_create();
    if (!credentials)
        return NULL;
    struct rpc_channel *channel = xcalloc(1, sizeof *channel);
    channel->schema = options->schema;
    channel->foreign = options->foreign;
    channel->message_max = options->message_max ? options->message_max : RPC_MESSAGE_DEFAULT_MAX;
    if (options->key && asprintf(&channel->authorization, "Bearer %s", options->key) < 0)
        memory_exhausted();
    struct rpc_channel_options pooled = *options;
    pooled.message_max = channel->message_max;
    channel_pool_init(&channel->pool, &pooled, credentials);
    return channel;
}

void rpc_channel_destroy(struct rpc_channel **channel_pointer)
{
    struct rpc_channel *channel = *channel_pointer;
    if (!channel)
        return;
    *channel_pointer = NULL;
    channel_pool_fini(&channel->pool);
    free(channel->authorization);
    free(channel);
}

static void channel_destroy_stub(ProtobufCService *service)
{
    struct remote_stub *stub = (struct remote_stub *)service;
    free(stub->registered);
    free(stub);
}

ProtobufCService *rpc_channel_stub(struct rpc_channel *channel, const ProtobufCServiceDescriptor *service,
                                   struct status *st)
{
    size_t count;
    const struct rpc_method *methods = rpc_schema_service(channel->schema, service->name, &count);
    if (!methods || count != service->n_methods) {
        fail(st, NOT_FOUND, "service %s is not in the descriptor set as it was compiled", service->name);
        return NULL;
    }
    struct remote_stub *stub = xcalloc(1, sizeof *stub);
    void **registered = xcalloc(count, sizeof *registered);
    for (size_t i = 0; i < count; i++)
        registered[i] = grpc_channel_register_call(channel->pool.channels[0].grpc, methods[i].path, NULL, NULL);
    stub->base = (ProtobufCService){.descriptor = service, .invoke = remote_invoke, .destroy = channel_destroy_stub};
    stub->channel = channel;
    stub->methods = methods;
    stub->registered = registered;
    return &stub->base;
}
