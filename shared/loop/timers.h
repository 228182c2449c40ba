/* The timers of one loop: a binary heap that stores each timer's position. Private to shared/loop. */
#ifndef RENGA_LOOP_TIMERS_H
#define RENGA_LOOP_TIMERS_H

#include "loop/loop.h"

struct timers {
    struct timer **heap; /* from 1; [0] is unused */
    size_t count, room;
};

void timers_fini(struct timers *timers);
/* Adds `timer`, or moves it if it is set already. */
void timers_set(struct timers *timers, struct timer *timer, int64_t at_ns);
void timers_remove(struct timers *timers, struct timer *timer);
/* The earliest deadline; TIME_NEVER without a timer. */
int64_t timers_next_ns(const struct timers *timers);
/* Takes the earliest out if it is due at `now_ns`, otherwise NULL. */
struct timer *timers_take_due(struct timers *timers, int64_t now_ns);

#endif
