#include "base/clock.h"

#include <assert.h>
#include <stdatomic.h>
#include <time.h>

#define RUNNING INT64_MIN

static _Atomic int64_t stopped_at = RUNNING;
static _Atomic int64_t ahead; /* of the wall clock */

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

int64_t clock_now_ns(void)
{
    int64_t at = atomic_load_explicit(&stopped_at, memory_order_acquire);
    return at == RUNNING ? read_clock(CLOCK_MONOTONIC) : at;
}

int64_t clock_boot_ns(void)
{
    int64_t at = atomic_load_explicit(&stopped_at, memory_order_acquire);
    return at == RUNNING ? read_clock(CLOCK_BOOTTIME) : at;
}

int64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME) + atomic_load_explicit(&ahead, memory_order_relaxed);
}

void clock_wall_step(int64_t ns)
{
    atomic_fetch_add(&ahead, ns);
}

void clock_stop(void)
{
    int64_t running = RUNNING;
    atomic_compare_exchange_strong(&stopped_at, &running, read_clock(CLOCK_MONOTONIC));
}

void clock_step(int64_t ns)
{
    assert(atomic_load(&stopped_at) != RUNNING && ns >= 0);
    atomic_fetch_add(&stopped_at, ns);
}
