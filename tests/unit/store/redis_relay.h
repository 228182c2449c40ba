/* What stands between a store and its Redis, and makes of it the network that a test needs: answers that get lost on
 * the way, requests that come late. */
#ifndef RENGA_TESTS_REDIS_RELAY_H
#define RENGA_TESTS_REDIS_RELAY_H

#include "redis_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#define RELAY_PAIRS 32
#define RELAY_HELD  65536 /* bytes of what comes late */

enum relay_mode {
    RELAY_PASSES,
    RELAY_SWALLOWS, /* the next answer, and its connection with it; then it passes */
    RELAY_HOLDS,    /* requests, also when their connection is gone, until they are let go */
};

struct relay_pair {
    int client, server; /* -1: closed */
    bool late;
    size_t size;
    char held[RELAY_HELD];
};

static struct relay {
    int port, listener, server_port;
    atomic_int mode;
    atomic_bool let_go, ends;
    atomic_int swallowed, held;
    pthread_t thread;
    struct relay_pair pairs[RELAY_PAIRS];
} relay;

static inline void relay_shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static inline void relay_accept(void)
{
    for (int i = 0; i < RELAY_PAIRS; i++) {
        struct relay_pair *pair = &relay.pairs[i];
        if (pair->client >= 0 || pair->server >= 0)
            continue;
        pair->client = accept(relay.listener, NULL, NULL);
        pair->server = server_connect(relay.server_port);
        pair->late = false;
        pair->size = 0;
        return;
    }
}

static inline void relay_send(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        size -= (size_t)sent;
    }
}

static inline void relay_from_client(struct relay_pair *pair)
{
    char bytes[32768];
    ssize_t size = recv(pair->client, bytes, sizeof bytes, 0);
    if (size <= 0) {
        relay_shut(&pair->client);
        if (!pair->late)
            relay_shut(&pair->server);
    } else if (relay.mode == RELAY_HOLDS || pair->late) {
        size_t room = RELAY_HELD - pair->size, taken = (size_t)size < room ? (size_t)size : room;
        memcpy(pair->held + pair->size, bytes, taken);
        pair->size += taken;
        pair->late = true;
        relay.held++;
    } else {
        relay_send(pair->server, bytes, (size_t)size);
    }
}

static inline void relay_from_server(struct relay_pair *pair)
{
    char bytes[32768];
    ssize_t size = recv(pair->server, bytes, sizeof bytes, 0);
    if (size > 0 && relay.mode == RELAY_SWALLOWS) {
        relay.mode = RELAY_PASSES;
        relay.swallowed++;
        size = 0;
    }
    if (size > 0) {
        relay_send(pair->client, bytes, (size_t)size);
        return;
    }
    relay_shut(&pair->client);
    relay_shut(&pair->server);
}

/* What was held reaches the server now, whoever has gone meanwhile. */
static inline void relay_let_go(void)
{
    for (int i = 0; i < RELAY_PAIRS; i++) {
        struct relay_pair *pair = &relay.pairs[i];
        if (!pair->late || pair->server < 0)
            continue;
        char answer[4096];
        relay_send(pair->server, pair->held, pair->size);
        recv(pair->server, answer, sizeof answer, 0); /* so it was carried out, or refused */
        relay_shut(&pair->client);
        relay_shut(&pair->server);
    }
    relay.let_go = false;
}

static inline void *relay_run(void *unused)
{
    while (!relay.ends) {
        struct pollfd watched[1 + 2 * RELAY_PAIRS] = {{.fd = relay.listener, .events = POLLIN}};
        for (int i = 0; i < RELAY_PAIRS; i++) {
            watched[1 + 2 * i] = (struct pollfd){.fd = relay.pairs[i].client, .events = POLLIN};
            watched[2 + 2 * i] = (struct pollfd){.fd = relay.pairs[i].server, .events = POLLIN};
        }
        poll(watched, 1 + 2 * RELAY_PAIRS, 5);
        for (int i = 0; i < RELAY_PAIRS; i++) {
            struct relay_pair *pair = &relay.pairs[i];
            if (watched[1 + 2 * i].revents && pair->client >= 0)
                relay_from_client(pair);
            if (watched[2 + 2 * i].revents && pair->server >= 0)
                relay_from_server(pair);
        }
        if (watched[0].revents)
            relay_accept();
        if (relay.let_go)
            relay_let_go();
    }
    return NULL;
}

static inline void relay_start(int server_port)
{
    memset(&relay, 0, sizeof relay);
    for (int i = 0; i < RELAY_PAIRS; i++)
        relay.pairs[i].client = relay.pairs[i].server = -1;
    relay.server_port = server_port;
    relay.listener = server_bind(&relay.port, 64);
    pthread_create(&relay.thread, NULL, relay_run, NULL);
}

static inline void relay_end(void)
{
    relay.ends = true;
    pthread_join(relay.thread, NULL);
    close(relay.listener);
    for (int i = 0; i < RELAY_PAIRS; i++) {
        relay_shut(&relay.pairs[i].client);
        relay_shut(&relay.pairs[i].server);
    }
}

#endif
