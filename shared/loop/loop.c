/* The loop's own thread goes round like this; a queue thread of shared/rpc does only the second line.
 *
 *      wait        epoll, until a socket, a post or the next timer          outside the loop
 *      enter       ready sockets, posts, due timers, deferred work, leave   inside
 *
 * A watch is known to epoll by its slot and the slot's generation, not by its address: events may have been gathered
 * when another thread, inside the loop, takes the watch away. */
#include "loop/loop.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "loop/timers.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOP_EVENTS_MAX  128             /* sockets handled in one visit */
#define LOOP_DEFERS_MAX  512             /* deferred work run in one visit; the rest waits for the loop's own thread */
#define LOOP_LATE_NS     (2 * NS_PER_MS) /* of deferred work in one visit; and of a visit's other callbacks */
#define LOOP_SLOTS_FIRST 64
#define SLOT_WAKE        0 /* the eventfd's place in epoll's data; slots count from 1 */

struct slot {
    struct watch *watch; /* NULL: free */
    uint32_t generation;
};

struct loop {
    unsigned index;
    pthread_mutex_t baton;
    _Atomic(struct work *) posted; /* newest first */

    /* From here on: only inside the loop. */
    struct work *deferred_first, *deferred_last;
    struct timers timers;
    struct slot *slots;
    uint32_t slot_room, slot_hint;
    int64_t looked_ns;       /* the state of every socket has been reported up to this time */
    int64_t asleep_until_ns; /* when the loop's thread wakes by itself; TIME_NEVER: not at all; 0: it is awake */
    void (*held)(const struct loop *loop, int64_t held_ns, void *data);
    void *held_data;
    int64_t entered_ns;
    int64_t yields_ns; /* loop_should_yield from then on */
    bool deferring;    /* deferred work has begun in this visit */

    int epoll_fd, wake_fd;
    pthread_t thread;
    bool running;
    atomic_bool stopping;
};

static _Thread_local struct loop *current;

struct loop *loop_current(void)
{
    return current;
}

unsigned loop_index(const struct loop *loop)
{
    return loop->index;
}

bool loop_has_thread(const struct loop *loop)
{
    return loop->running;
}

void loop_on_held(struct loop *loop, void (*held)(const struct loop *loop, int64_t held_ns, void *data), void *data)
{
    assert(current == loop);
    loop->held = held;
    loop->held_data = data;
}

static void loop_wake(struct loop *loop)
{
    uint64_t one = 1;
    ssize_t written = write(loop->wake_fd, &one, sizeof one);
    (void)written; /* a full counter wakes as well */
}

struct loop *loop_create(unsigned index)
{
    assert(index < LOOPS_MAX);
    struct loop *loop = xcalloc(1, sizeof *loop);
    loop->index = index;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0)
        fatal("loop.descriptors", "a loop cannot have its two descriptors: errno %d", errno);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = SLOT_WAKE};
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event);

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP); /* visits are short: spin a little first */
    pthread_mutex_init(&loop->baton, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return loop;
}

void loop_destroy(struct loop **loop_pointer)
{
    struct loop *loop = *loop_pointer;
    if (!loop)
        return;
    assert(!loop->running);
    *loop_pointer = NULL;
    close(loop->epoll_fd);
    close(loop->wake_fd);
    timers_fini(&loop->timers);
    free(loop->slots);
    pthread_mutex_destroy(&loop->baton);
    free(loop);
}

/* ---- work ------------------------------------------------------------------------------------------------------- */

void loop_defer(struct loop *loop, struct work *work)
{
    assert(current == loop);
    if (work->queued)
        return;
    work->queued = true;
    LIST_APPEND(loop->deferred_first, loop->deferred_last, work);
}

void loop_undefer(struct loop *loop, struct work *work)
{
    assert(current == loop);
    if (!work->queued)
        return;
    work->queued = false;
    LIST_REMOVE(loop->deferred_first, loop->deferred_last, work);
}

void loop_post(struct loop *loop, struct work *work)
{
    if (current == loop) {
        loop_defer(loop, work);
        return;
    }
    struct work *head = atomic_load_explicit(&loop->posted, memory_order_relaxed);
    do
        work->next = head;
    while (
        !atomic_compare_exchange_weak_explicit(&loop->posted, &head, work, memory_order_release, memory_order_relaxed));
    if (!head)
        loop_wake(loop);
}

static void run_posted(struct loop *loop)
{
    struct work *newest = atomic_exchange_explicit(&loop->posted, NULL, memory_order_acquire);
    struct work *oldest = NULL;
    while (newest) {
        struct work *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct work *work = oldest;
        oldest = work->next;
        work->run(work);
    }
}

bool loop_should_yield(const struct loop *loop)
{
    return loop->running && clock_now_ns() >= loop->yields_ns;
}

/* Deferred work has time of its own in each visit: otherwise callbacks that make each visit late would starve it. */
static void run_deferred(struct loop *loop)
{
    if (loop->deferred_first && !loop->deferring) {
        loop->deferring = true;
        loop->yields_ns = clock_now_ns() + LOOP_LATE_NS;
    }
    for (int i = 0; loop->deferred_first; i++) {
        if ((i == LOOP_DEFERS_MAX && loop->running) || loop_should_yield(loop)) {
            loop_wake(loop);
            return;
        }
        struct work *work = loop->deferred_first;
        loop_undefer(loop, work);
        work->run(work);
    }
}

void loop_enter(struct loop *loop)
{
    assert(current == NULL);
    pthread_mutex_lock(&loop->baton);
    current = loop;
    loop->entered_ns = clock_now_ns();
    loop->yields_ns = loop->entered_ns + LOOP_LATE_NS;
    loop->deferring = false;
}

void loop_leave(struct loop *loop)
{
    assert(current == loop);
    if (loop->deferred_first)
        run_deferred(loop);
    if (loop->held)
        loop->held(loop, clock_now_ns() - loop->entered_ns, loop->held_data);
    current = NULL;
    pthread_mutex_unlock(&loop->baton);
}

/* ---- timers ----------------------------------------------------------------------------------------------------- */

void loop_arm(struct loop *loop, struct timer *timer, int64_t at_ns)
{
    assert(current == loop);
    timers_set(&loop->timers, timer, at_ns);
    if (at_ns < loop->asleep_until_ns) {
        loop->asleep_until_ns = at_ns;
        loop_wake(loop);
    }
}

void loop_arm_after(struct loop *loop, struct timer *timer, int64_t delay_ms)
{
    int64_t most_ms = (INT64_MAX - clock_now_ns()) / NS_PER_MS; /* centuries */
    loop_arm(loop, timer, clock_now_ns() + (delay_ms < most_ms ? delay_ms : most_ms - 1) * NS_PER_MS);
}

void loop_disarm(struct loop *loop, struct timer *timer)
{
    assert(current == loop);
    timers_remove(&loop->timers, timer);
}

static void run_timers(struct loop *loop)
{
    int64_t now_ns = clock_now_ns();
    for (struct timer *due; (due = timers_take_due(&loop->timers, now_ns));)
        due->expired(due);
}

/* ---- sockets ---------------------------------------------------------------------------------------------------- */

static uint32_t loop_slot_take(struct loop *loop)
{
    for (uint32_t i = 0; i < loop->slot_room; i++) {
        uint32_t place = (loop->slot_hint + i) % loop->slot_room;
        if (!loop->slots[place].watch) {
            loop->slot_hint = place + 1;
            return place;
        }
    }
    uint32_t room = loop->slot_room ? loop->slot_room * 2 : LOOP_SLOTS_FIRST;
    struct slot *slots = xrealloc(loop->slots, room * sizeof *slots);
    for (uint32_t place = loop->slot_room; place < room; place++)
        slots[place] = (struct slot){0};
    uint32_t first = loop->slot_room;
    loop->slots = slots;
    loop->slot_room = room;
    loop->slot_hint = first + 1;
    return first;
}

bool loop_watch(struct loop *loop, struct watch *watch, int fd, uint32_t events)
{
    assert(current == loop);
    bool fresh = watch->slot == 0;
    assert(fresh || watch->fd == fd);
    if (fresh) {
        watch->slot = loop_slot_take(loop) + 1;
        watch->fd = fd;
        loop->slots[watch->slot - 1].watch = watch;
    }
    uint64_t generation = loop->slots[watch->slot - 1].generation;
    struct epoll_event event = {.events = events, .data.u64 = generation << 32 | watch->slot};
    if (epoll_ctl(loop->epoll_fd, fresh ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) == 0)
        return true;
    loop_unwatch(loop, watch);
    return false;
}

void loop_unwatch(struct loop *loop, struct watch *watch)
{
    assert(current == loop);
    if (!watch->slot)
        return;
    struct slot *slot = &loop->slots[watch->slot - 1];
    slot->watch = NULL;
    slot->generation++;
    loop->slot_hint = watch->slot - 1;
    watch->slot = 0;
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

int64_t loop_polled_ns(const struct loop *loop)
{
    assert(current == loop);
    return loop->looked_ns;
}

static void run_ready(struct loop *loop, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)events[i].data.u64;
        if (slot == SLOT_WAKE) {
            uint64_t wakes;
            ssize_t got = read(loop->wake_fd, &wakes, sizeof wakes);
            (void)got;
            continue;
        }
        struct watch *watch = loop->slots[slot - 1].watch;
        if (watch && loop->slots[slot - 1].generation == events[i].data.u64 >> 32)
            watch->ready(watch, events[i].events);
    }
}

/* ---- the loop's own thread -------------------------------------------------------------------------------------- */

static int wait_ms(const struct loop *loop, int64_t now_ns)
{
    int64_t next_ns = timers_next_ns(&loop->timers);
    if (loop->deferred_first || next_ns <= now_ns)
        return 0;
    if (next_ns == TIME_NEVER)
        return -1;
    int64_t ms = (next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static void *loop_run(void *data)
{
    struct loop *loop = data;
    struct epoll_event events[LOOP_EVENTS_MAX];
    int timeout_ms = 0;
    thread_name("loop %u", loop->index);
    while (!atomic_load_explicit(&loop->stopping, memory_order_relaxed)) {
        int count = epoll_wait(loop->epoll_fd, events, LOOP_EVENTS_MAX, timeout_ms);
        int64_t looked_ns = clock_now_ns();
        loop_enter(loop);
        loop->asleep_until_ns = 0;
        run_ready(loop, events, count);
        if (count >= 0 && count < LOOP_EVENTS_MAX) /* otherwise there may be more events */
            loop->looked_ns = looked_ns;
        run_posted(loop);
        run_timers(loop);
        run_deferred(loop);
        timeout_ms = wait_ms(loop, clock_now_ns());
        loop->asleep_until_ns = timers_next_ns(&loop->timers);
        loop_leave(loop);
    }
    return NULL;
}

bool loop_start(struct loop *loop, struct status *st)
{
    assert(!loop->running);
    loop->running = true;
    atomic_store(&loop->stopping, false);
    int error = pthread_create(&loop->thread, NULL, loop_run, loop);
    if (error) {
        loop->running = false;
        return fail(st, RESOURCE_EXHAUSTED, "no thread for loop %u: errno %d", loop->index, error);
    }
    return true;
}

void loop_stop(struct loop *loop)
{
    assert(current != loop);
    if (!loop->running)
        return;
    atomic_store(&loop->stopping, true);
    loop_wake(loop);
    pthread_join(loop->thread, NULL);
    loop->running = false;
}

/* ---- virtual time ----------------------------------------------------------------------------------------------- */

static void loop_visit(struct loop *loop)
{
    struct epoll_event events[LOOP_EVENTS_MAX];
    for (;;) {
        int count = epoll_wait(loop->epoll_fd, events, LOOP_EVENTS_MAX, 0);
        loop_enter(loop);
        run_ready(loop, events, count);
        run_posted(loop);
        run_timers(loop);
        bool idle = count <= 0 && !loop->deferred_first;
        loop_leave(loop);
        if (idle)
            return;
    }
}

void loop_step(struct loop *loop, int64_t ms)
{
    assert(!loop->running);
    int64_t until_ns = clock_now_ns() + ms * NS_PER_MS;
    loop_visit(loop);
    for (int64_t next_ns; (next_ns = timers_next_ns(&loop->timers)) <= until_ns;) {
        if (next_ns > clock_now_ns())
            clock_step(next_ns - clock_now_ns());
        loop_visit(loop);
    }
    if (until_ns > clock_now_ns())
        clock_step(until_ns - clock_now_ns());
}
