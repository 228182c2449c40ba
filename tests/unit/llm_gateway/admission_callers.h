/* Callers at the admission, on a stopped clock and one loop that the test steps. Include this last but unit.h. */
#ifndef RENGA_ADMISSION_CALLERS_H
#define RENGA_ADMISSION_CALLERS_H

#include "admission/admission.h"
#include "base/clock.h"

#include <stdio.h>

#include "unit.h"

#define DAY_NS INT64_C(86400000000000)

struct caller {
    struct ticket ticket;
    char letter;
    unsigned heard; /* times that `admitted` ran */
    bool inside;
};

static struct loop *loop;
static struct admission *admission;
static char trail[256]; /* who was admitted after waiting, a letter each */
static int64_t wall = 20000 * DAY_NS + DAY_NS / 2;

static inline int64_t test_wall_ns(void)
{
    return wall;
}

static inline void heard(struct ticket *ticket)
{
    struct caller *caller = (struct caller *)ticket;
    size_t length = strlen(trail);
    assert_ptr_equal(loop_current(), ticket->loop);
    caller->heard++;
    caller->inside = ticket->status.code == OK;
    if (caller->inside && caller->letter && length + 1 < sizeof trail) {
        trail[length] = caller->letter;
        trail[length + 1] = '\0';
    }
}

static inline struct caller caller_of(const char *client, enum admission_priority priority)
{
    return (struct caller){
        .ticket = {.loop = loop, .client = client, .tenant = "", .priority = priority, .admitted = heard},
        .letter = client[0],
    };
}

static inline enum admission_result enter(struct caller *caller)
{
    loop_enter(caller->ticket.loop);
    enum admission_result answer = admission_enter(admission, &caller->ticket);
    loop_leave(caller->ticket.loop);
    caller->inside = answer == ADMISSION_ADMITTED;
    return answer;
}

static inline void leave_with(struct caller *caller, int64_t tokens, int64_t micros)
{
    loop_enter(caller->ticket.loop);
    admission_leave(&caller->ticket, tokens, micros);
    caller->inside = false;
    loop_leave(caller->ticket.loop);
}

/* With what it had reserved. */
static inline void leave(struct caller *caller)
{
    leave_with(caller, caller->ticket.tokens, caller->ticket.micros);
}

static inline void leave_and_step(struct caller *caller)
{
    leave(caller);
    loop_step(loop, 1);
}

static inline void withdraw(struct caller *caller)
{
    loop_enter(caller->ticket.loop);
    admission_withdraw(&caller->ticket);
    loop_leave(caller->ticket.loop);
}

static inline struct admission_stats stats(void)
{
    struct admission_stats now;
    admission_stats(admission, &now);
    return now;
}

static inline void open_admission(struct admission_options options)
{
    options.wall_ns = test_wall_ns;
    if (!options.queue_wait_ms)
        options.queue_wait_ms = 60000;
    admission = admission_create(&options);
}

/* The same limits for everybody. */
static inline void open_admission_for_all(struct limits clients, struct limits tenants)
{
    struct limits_table of_clients = {.fallback = clients}, of_tenants = {.fallback = tenants};
    open_admission((struct admission_options){.queue_max = 1000, .clients = &of_clients, .tenants = &of_tenants});
}

static struct caller first; /* has the only place of a admission that is full from the start */

static inline void open_full_admission(unsigned queue_max, const struct limits_table *clients)
{
    open_admission((struct admission_options){.in_flight_max = 1, .queue_max = queue_max, .clients = clients});
    first = caller_of("first", ADMISSION_NORMAL);
    assert_int_equal(enter(&first), ADMISSION_ADMITTED);
}

static inline int set_up(void **state)
{
    clock_stop();
    trail[0] = '\0';
    loop = loop_create(0);
    return 0;
}

static inline int tear_down(void **state)
{
    admission_destroy(&admission);
    loop_destroy(&loop);
    return 0;
}

#define ADMISSION_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
