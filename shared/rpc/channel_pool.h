/* The channels of gRPC core that make up one channel of ours. Private to shared/rpc.
 *
 * A server allows a number of calls on a connection (rpc.streams_max), and core lets further ones wait, perhaps until
 * their deadlines. Streams that watch waiting runs would so hold up every other call of the process. The pool opens
 * another channel of core, which has connections of its own, when CHANNEL_CALLS calls are under way on each open one.
 * Half of the channels are for unary calls alone. Any thread. */
#ifndef RENGA_RPC_CHANNEL_POOL_H
#define RENGA_RPC_CHANNEL_POOL_H

#include "rpc/channel.h"

#include <grpc/grpc.h>
#include <pthread.h>

#define CHANNEL_CALLS       500 /* half of the default of rpc.streams_max */
#define CHANNELS_MAX        40
#define CHANNELS_STREAM_MAX 20

struct pooled_channel {
    grpc_channel *grpc;
    unsigned calls; /* under way */
};

struct channel_pool {
    struct rpc_channel_options options; /* target and authority are ours */
    grpc_channel_credentials *credentials;
    pthread_mutex_t lock;
    /* Below the lock; the first one is open from the beginning. */
    struct pooled_channel channels[CHANNELS_MAX];
    unsigned count;
};

/* Takes the credentials. */
void channel_pool_init(struct channel_pool *pool, const struct rpc_channel_options *options,
                       grpc_channel_credentials *credentials);
void channel_pool_fini(struct channel_pool *pool);

/* The number of a channel with room for a call; give it back when the call is over. False if there is none: then the
 * number is of a channel on which the call may fail, and must be given back, too. */
bool channel_pool_take(struct channel_pool *pool, bool is_stream, unsigned *number);
void channel_pool_release(struct channel_pool *pool, unsigned number);

#endif
