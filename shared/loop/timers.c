#include "loop/timers.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

#define TIMERS_ROOM_FIRST 64

static void timers_put(struct timers *timers, size_t place, struct timer *timer)
{
    timers->heap[place] = timer;
    timer->place = place;
}

static void sift_up(struct timers *timers, size_t place, struct timer *timer)
{
    while (place > 1 && timers->heap[place / 2]->at_ns > timer->at_ns) {
        timers_put(timers, place, timers->heap[place / 2]);
        place /= 2;
    }
    timers_put(timers, place, timer);
}

static void sift_down(struct timers *timers, size_t place, struct timer *timer)
{
    for (;;) {
        size_t child = place * 2;
        if (child > timers->count)
            break;
        if (child < timers->count && timers->heap[child + 1]->at_ns < timers->heap[child]->at_ns)
            child++;
        if (timers->heap[child]->at_ns >= timer->at_ns)
            break;
        timers_put(timers, place, timers->heap[child]);
        place = child;
    }
    timers_put(timers, place, timer);
}

static void timers_settle(struct timers *timers, size_t place, struct timer *timer)
{
    if (place > 1 && timers->heap[place / 2]->at_ns > timer->at_ns)
        sift_up(timers, place, timer);
    else
        sift_down(timers, place, timer);
}

void timers_fini(struct timers *timers)
{
    free(timers->heap);
    *timers = (struct timers){0};
}

void timers_set(struct timers *timers, struct timer *timer, int64_t at_ns)
{
    timer->at_ns = at_ns;
    if (timer->place) {
        timers_settle(timers, timer->place, timer);
        return;
    }
    if (timers->count + 1 >= timers->room) {
        timers->room = timers->room ? timers->room * 2 : TIMERS_ROOM_FIRST;
        timers->heap = xrealloc(timers->heap, timers->room * sizeof *timers->heap);
    }
    timers->count++;
    sift_up(timers, timers->count, timer);
}

void timers_remove(struct timers *timers, struct timer *timer)
{
    size_t place = timer->place;
    if (!place)
        return;
    timer->place = 0;
    struct timer *last = timers->heap[timers->count--];
    if (last != timer)
        timers_settle(timers, place, last);
}

int64_t timers_next_ns(const struct timers *timers)
{
    return timers->count ? timers->heap[1]->at_ns : TIME_NEVER;
}

struct timer *timers_take_due(struct timers *timers, int64_t now_ns)
{
    if (timers_next_ns(timers) > now_ns)
        return NULL;
    struct timer *due = timers->heap[1];
    timers_remove(timers, due);
    return due;
}
