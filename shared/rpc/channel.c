/* Channels: gRPC's own machinery, set up for changing peers. */
#include "rpc/remote.h"

#include "base/memory.h"
#include "rpc/credentials.h"
#include "rpc/service_config.h"
#include "rpc/tls.h"

#include <grpc/grpc_security.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS   100  /* so that a peer that is back is found within half a second */
#define BACKOFF_MAX_MS     350  /* core adds up to a fifth; the handshake and the health check follow */
#define CONNECT_TIMEOUT_MS 2000 /* TCP and TLS; core calls it the least time between two tries, which it is not */
#define KEEPALIVE_OURS_MS  1000 /* with its timeout: a peer that has vanished is given up within 3 s */
#define TIMEOUT_OURS_MS    1500 /* also of sent data without an acknowledgement (TCP_USER_TIMEOUT) */
#define TIMEOUT_OTHERS_MS  5000
#define STREAM_WINDOW      (1 << 20) /* bytes on their way to a peer that does not read */
#define RESOLVE_MIN_MS     1000      /* dns is asked again at most this often */

static grpc_arg channel_integer(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

static grpc_arg string(const char *key, const char *value)
{
    return (grpc_arg){.type = GRPC_ARG_STRING, .key = (char *)(uintptr_t)key, .value.string = (char *)(uintptr_t)value};
}

static grpc_channel *core_channel(const struct rpc_channel_options *options, size_t message_max,
                                  grpc_channel_credentials *credentials)
{
    char *config = rpc_service_config(options->schema);
    int64_t keepalive_ms = options->keepalive_ms ? options->keepalive_ms : KEEPALIVE_OURS_MS;
    grpc_arg arguments[18] = {
        string(GRPC_ARG_SERVICE_CONFIG, config),
        channel_integer(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        channel_integer(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, BACKOFF_FIRST_MS),
        channel_integer(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, CONNECT_TIMEOUT_MS),
        channel_integer(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, BACKOFF_MAX_MS),
        channel_integer(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, RESOLVE_MIN_MS),
        channel_integer(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
        channel_integer(GRPC_ARG_KEEPALIVE_TIME_MS, (int)keepalive_ms),
        channel_integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                        keepalive_ms > TIMEOUT_OTHERS_MS ? TIMEOUT_OTHERS_MS : TIMEOUT_OURS_MS),
        channel_integer(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
        /* Core's bandwidth estimate widens a stream's window with all received bytes, read or not: without bound. */
        channel_integer(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        channel_integer(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, STREAM_WINDOW),
        channel_integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)message_max),
        channel_integer(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, (int)message_max),
        channel_integer(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
    };
    size_t count = 15;
    if (options->authority) {
        arguments[count++] = string(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, options->authority);
        arguments[count++] = string(GRPC_ARG_DEFAULT_AUTHORITY, options->authority);
    }
    grpc_channel_args list = {.num_args = count, .args = arguments};
    grpc_channel *channel = grpc_channel_create(options->target, credentials, &list);
    free(config);
    return channel;
}

struct rpc_channel *rpc_channel_create(const struct rpc_channel_options *options, struct status *st)
{
    if (options->tls && !rpc_tls_check(options->tls, st))
        return NULL;
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
    channel->grpc = core_channel(options, channel->message_max, credentials);
    grpc_channel_credentials_release(credentials);
    return channel;
}

void rpc_channel_destroy(struct rpc_channel **channel_pointer)
{
    struct rpc_channel *channel = *channel_pointer;
    if (!channel)
        return;
    *channel_pointer = NULL;
    grpc_channel_destroy(channel->grpc);
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
        registered[i] = grpc_channel_register_call(channel->grpc, methods[i].path, NULL, NULL);
    stub->base = (ProtobufCService){.descriptor = service, .invoke = remote_invoke, .destroy = channel_destroy_stub};
    stub->channel = channel;
    stub->methods = methods;
    stub->registered = registered;
    return &stub->base;
}
