/* Peers whose every byte and pause a test writes down, and loops to test from. */
#ifndef RENGA_TESTS_HTTP_PEER_H
#define RENGA_TESTS_HTTP_PEER_H

#include "loop/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* A listener on 127.0.0.1; `serve` runs in a thread of its own for one connection after the other and closes none. */
struct peer {
    int port, listen_fd;
    void (*serve)(struct peer *peer, int fd);
    pthread_t thread;
    atomic_int accepted, requests, closed;
    atomic_bool stopping, left; /* left: set by peer_wait_left */
    bool started;
};

void peer_start(struct peer *peer, void (*serve)(struct peer *peer, int fd));
void peer_stop(struct peer *peer); /* one that does not run: nothing */

/* Reads a request's headers, and a body by Content-Length. False at end of file. */
bool peer_read_request(struct peer *peer, int fd);
/* Waits until there is something to read, or the end; false where the peer is to stop. */
bool peer_wait_readable(struct peer *peer, int fd);
void peer_send(int fd, const char *text);
void peer_send_bytes(int fd, const void *bytes, size_t size);
void peer_pause(int ms);
/* Waits until the other side has closed; notes it in `left`. */
void peer_wait_left(struct peer *peer, int fd);
/* The next close sends RST. */
void peer_reset_on_close(int fd);

/* A listener that takes no connection any more, and the descriptors that make it so; gives its port. */
int peer_full_listener(int *fds, int count);

/* A client's raw socket. */
int raw_connect(int port);
/* Reads until the text is seen, end of file or `ms` are over; gives what was read, in a static buffer. */
const char *raw_read_until(int fd, const char *text, int ms);

/* A loop with a thread. */
struct loop *loop_started(unsigned index);
void loop_ended(struct loop **loop);

/* Looks at `condition` from inside `loop` until it holds; false after `ms`. */
#define WAIT_FOR(loop, condition, ms)                                                                                  \
    __extension__({                                                                                                    \
        bool held_ = false;                                                                                            \
        for (int waited_ = 0; !held_ && waited_ < (ms)*4; waited_++) {                                                 \
            loop_enter(loop);                                                                                          \
            held_ = (condition);                                                                                       \
            loop_leave(loop);                                                                                          \
            if (!held_)                                                                                                \
                usleep(250);                                                                                           \
        }                                                                                                              \
        held_;                                                                                                         \
    })

#endif
