/* A loop: runs a share of the process's work, one callback at a time.
 *
 *        sockets, timers, posts                     an event of gRPC
 *        (the loop's own thread, epoll)             (a queue thread of shared/rpc)
 *                     \                               /
 *                      `--- loop_enter ... loop_leave '      one of them at a time is in the loop
 *
 * A process has N identical loops that share no data. The state of a run or a call is touched only from inside its own
 * loop, without locks. A loop is not a thread. Its own thread waits for sockets, timers and posts. Threads that wait
 * for other events (a gRPC completion queue) enter with loop_enter, which saves a switch of threads. Code in the loop
 * never blocks.
 *
 * Callbacks are never run from within the function that arms them, only later, from the loop. Without loop_start a loop
 * has no thread: a test then drives it with loop_step, on a stopped clock. */
#ifndef RENGA_LOOP_LOOP_H
#define RENGA_LOOP_LOOP_H

#include "base/container_of.h" /* callbacks get the embedded member and find its container */
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;

/* Work that runs in a loop once. Embedded in its owner, which keeps it until it has run. */
struct work {
    void (*run)(struct work *work);
    struct work *next, *previous;
    bool queued;
};

/* A moment. Embedded in its owner; zeroed before its first use. */
struct timer {
    void (*expired)(struct timer *timer);
    int64_t at_ns;
    size_t place; /* in the loop's heap, from 1; 0: not armed */
};

/* A file descriptor that is watched. Embedded in its owner, zeroed before its first use. The descriptor is the
 * owner's and stays open until loop_unwatch. */
struct watch {
    void (*ready)(struct watch *watch, uint32_t events); /* EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP */
    int fd;
    uint32_t slot; /* in the loop's table, from 1; 0: not watched */
};

#define LOOPS_MAX 64 /* in one process */

/* `index` is less than LOOPS_MAX. */
struct loop *loop_create(unsigned index);
/* The loop must not be running. Work that is still queued is dropped. */
void loop_destroy(struct loop **loop);

bool loop_start(struct loop *loop, struct status *st);
/* Asks the loop's thread to end and waits for it. Not from inside the loop. */
void loop_stop(struct loop *loop);

unsigned loop_index(const struct loop *loop);
/* Whether loop_start has given it a thread: then others may post to it at any time. */
bool loop_has_thread(const struct loop *loop);

/* The loop that the calling thread is in, or NULL. */
struct loop *loop_current(void);

/* Come in and go out, from any thread; entering waits while another is inside. Deferred work runs before leaving. */
void loop_enter(struct loop *loop);
void loop_leave(struct loop *loop);

/* From any thread: run `work` in the loop soon. It is not posted again before it has run. */
void loop_post(struct loop *loop, struct work *work);

/* From inside the loop: runs `work` before the loop is left, after the present callback has returned. Queued work keeps
 * its position. */
void loop_defer(struct loop *loop, struct work *work);
/* From inside the loop: takes deferred work back; no effect if it is not queued. */
void loop_undefer(struct loop *loop, struct work *work);

/* From inside the loop. Arming a timer that is armed moves it. A timer fires at or after its time, never before. */
void loop_arm(struct loop *loop, struct timer *timer, int64_t at_ns);
void loop_arm_after(struct loop *loop, struct timer *timer, int64_t delay_ms);
void loop_disarm(struct loop *loop, struct timer *timer);

/* From inside the loop. Watching again with other events changes them. After loop_unwatch `ready` is not called any
 * more, not even for events that were already gathered. */
bool loop_watch(struct loop *loop, struct watch *watch, int fd, uint32_t events);
void loop_unwatch(struct loop *loop, struct watch *watch);

/* From inside a loop with a thread: this visit has lasted 2 ms, so the rest should be deferred. Deferred work has 2 ms
 * of its own at the end of each visit; the rest of it runs in the next visit, after other threads and sockets. */
bool loop_should_yield(const struct loop *loop);

/* From inside the loop: the time of its thread's last poll of the sockets. For earlier events `ready` has run already.
 * 0 without a thread. */
int64_t loop_polled_ns(const struct loop *loop);

/* From inside the loop: `held` runs after each visit, inside the loop, with the time that other visits had to wait.
 * NULL: not measured, and the clock is not read. */
void loop_on_held(struct loop *loop, void (*held)(const struct loop *loop, int64_t held_ns, void *data), void *data);

/* For tests of a loop without a thread, on a stopped clock: moves the clock forward by `ms`. Runs due timers in order,
 * and all posted, deferred and readable work. */
void loop_step(struct loop *loop, int64_t ms);

#endif
