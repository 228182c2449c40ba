#include "rpc/channel_pool.h"

#include "base/memory.h"
#include "rpc/service_config.h"

#include <assert.h>
#include <grpc/grpc_security.h>
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

/* Core shares connections between channels with equal arguments: this one tells them apart. */
#define ARG_CHANNEL_NUMBER "renga.channel_number"

static grpc_arg channel_integer(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

static grpc_arg channel_string(const char *key, const char *value)
{
    return (grpc_arg){.type = GRPC_ARG_STRING, .key = (char *)(uintptr_t)key, .value.string = (char *)(uintptr_t)value};
}

static grpc_channel *core_channel(const struct channel_pool *pool, unsigned number)
{
    const struct rpc_channel_options *options = &pool->options;
    char *config = rpc_service_config(options->schema);
    int64_t keepalive_ms = options->keepalive_ms ? options->keepalive_ms : KEEPALIVE_OURS_MS;
    grpc_arg arguments[18] = {
        channel_string(GRPC_ARG_SERVICE_CONFIG, config),
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
        channel_integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)options->message_max),
        channel_integer(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, (int)options->message_max),
        channel_integer(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        channel_integer(ARG_CHANNEL_NUMBER, (int)number),
    };
    size_t count = 16;
    if (options->authority) {
        arguments[count++] = channel_string(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, options->authority);
        arguments[count++] = channel_string(GRPC_ARG_DEFAULT_AUTHORITY, options->authority);
    }
    grpc_channel_args list = {.num_args = count, .args = arguments};
    grpc_channel *channel = grpc_channel_create(options->target, pool->credentials, &list);
    free(config);
    return channel;
}

void channel_pool_init(struct channel_pool *pool, const struct rpc_channel_options *options,
                       grpc_channel_credentials *credentials)
{
    *pool = (struct channel_pool){.options = *options, .credentials = credentials, .count = 1};
    pool->options.target = xstrdup(options->target);
    pool->options.authority = options->authority ? xstrdup(options->authority) : NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->channels[0].grpc = core_channel(pool, 0);
}

void channel_pool_fini(struct channel_pool *pool)
{
    for (unsigned i = 0; i < pool->count; i++)
        grpc_channel_destroy(pool->channels[i].grpc);
    grpc_channel_credentials_release(pool->credentials);
    pthread_mutex_destroy(&pool->lock);
    free((char *)(uintptr_t)pool->options.target);
    free((char *)(uintptr_t)pool->options.authority);
}

bool channel_pool_take(struct channel_pool *pool, bool is_stream, unsigned *number)
{
    unsigned most = is_stream ? CHANNELS_STREAM_MAX : CHANNELS_MAX;
    *number = 0;
    pthread_mutex_lock(&pool->lock);
    while (*number < pool->count && pool->channels[*number].calls >= CHANNEL_CALLS)
        ++*number;
    bool has_room = *number < most;
    if (!has_room)
        *number = 0;
    if (*number == pool->count) {
        pool->channels[*number].grpc = core_channel(pool, *number);
        pool->count++;
    }
    pool->channels[*number].calls++;
    pthread_mutex_unlock(&pool->lock);
    return has_room;
}

void channel_pool_release(struct channel_pool *pool, unsigned number)
{
    pthread_mutex_lock(&pool->lock);
    assert(pool->channels[number].calls);
    pool->channels[number].calls--;
    pthread_mutex_unlock(&pool->lock);
}
