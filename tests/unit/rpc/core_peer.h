/* A scripted peer: a server written directly on gRPC core, and calls to match. It answers call n of any method with
 * script[n] (the last one for all that follow), so that what a channel of ours does about it can be counted. */
#ifndef CORE_PEER_H
#define CORE_PEER_H

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct core_peer {
    const grpc_status_code *script; /* NULL: OK for ever */
    size_t script_length;
    int health; /* what a health watcher hears: 1 SERVING, 2 NOT_SERVING, 0 UNIMPLEMENTED */

    int port;
    atomic_uint calls; /* health watchers are not counted */
    grpc_server *server;
    grpc_completion_queue *queue;
    pthread_t thread;
};

/* Listens on 127.0.0.1, on `port` or, where it is 0, on a free one. Releases the credentials. */
bool core_peer_start(struct core_peer *peer, grpc_server_credentials *credentials, int port);
void core_peer_stop(struct core_peer *peer);

/* A unary call with an empty message. */
grpc_status_code core_call(grpc_channel *channel, const char *path, int timeout_ms);

/* Tries to connect until the channel is ready or `timeout_ms` are over. */
bool core_connects(grpc_channel *channel, int timeout_ms);

#endif
