/* The admission among loops with threads of their own, who enter, leave and withdraw at random. Run under TSan as well.
 */
#include "admission/admission.h"
#include "base/clock.h"
#include "base/random.h"

#include <stdatomic.h>
#include <time.h>

#include "unit.h"

#define LOOPS         2
#define CALLERS       40 /* of a loop */
#define PLACES        8
#define RUN_MS        1000
#define STEP_NS       50000 /* between what a caller does, about */
#define MICROS_OF_DAY INT64_C(50000)

struct caller {
    struct ticket *ticket; /* a new one each time, so that a late use of an old one is seen */
    struct timer timer;
    struct room *rate_limits;
    bool inside;
};

/* A loop with its callers. */
struct room {
    struct loop *loop;
    struct caller callers[CALLERS];
    unsigned admitted, heard_no, withdrawn;
};

struct held {
    struct ticket ticket;
    struct caller *caller;
};

static const char *const names[] = {"a", "b", "c", "d"};
static struct admission *admission;
static struct room rooms[LOOPS];
static atomic_int inside;
static _Atomic int64_t committed; /* reserved and spent */

static int64_t noon_ns(void)
{
    return INT64_C(20000) * 86400 * NS_PER_SEC + INT64_C(43200) * NS_PER_SEC;
}

static void rest(struct caller *caller)
{
    loop_arm(caller->rate_limits->loop, &caller->timer, clock_now_ns() + (int64_t)random_below(2 * STEP_NS));
}

static void drop(struct caller *caller)
{
    free(caller->ticket);
    caller->ticket = NULL;
    caller->inside = false;
}

static void came_in(struct caller *caller)
{
    caller->inside = true;
    caller->rate_limits->admitted++;
    assert_true(atomic_fetch_add(&inside, 1) < PLACES);
    assert_true(atomic_fetch_add(&committed, caller->ticket->micros) + caller->ticket->micros <= MICROS_OF_DAY);
}

static void heard(struct ticket *ticket)
{
    struct caller *caller = ((struct held *)ticket)->caller;
    assert_ptr_equal(loop_current(), caller->rate_limits->loop);
    if (ticket->status.code == OK) {
        came_in(caller);
        return;
    }
    caller->rate_limits->heard_no++;
    drop(caller);
}

static void come(struct caller *caller)
{
    struct held *held = calloc(1, sizeof *held);
    held->caller = caller;
    held->ticket = (struct ticket){
        .loop = caller->rate_limits->loop,
        .client = names[random_below(COUNT(names))],
        .tenant = names[random_below(2)],
        .priority = (enum admission_priority)random_below(ADMISSION_PRIORITIES),
        .micros = (int64_t)(random_below(2) * random_below(1000)), /* half of them cost nothing */
        .admitted = heard,
    };
    caller->ticket = &held->ticket;
    enum admission_result answer = admission_enter(admission, caller->ticket);
    if (answer == ADMISSION_ADMITTED)
        came_in(caller);
    else if (answer == ADMISSION_REJECTED)
        drop(caller);
}

/* What is counted here is never more than what the admission counts. */
static void go(struct caller *caller)
{
    if (caller->inside) {
        int64_t used = caller->ticket->micros / 4;
        atomic_fetch_sub(&inside, 1);
        atomic_fetch_sub(&committed, caller->ticket->micros - used);
        admission_leave(caller->ticket, 0, used);
    } else {
        admission_withdraw(caller->ticket);
        caller->rate_limits->withdrawn++;
    }
    drop(caller);
}

static void acts(struct timer *timer)
{
    struct caller *caller = CONTAINER_OF(timer, struct caller, timer);
    if (!caller->ticket)
        come(caller);
    else if (caller->inside || random_below(4) == 0)
        go(caller);
    rest(caller);
}

static void begin(struct room *rate_limits)
{
    struct status st;
    assert_true(loop_start(rate_limits->loop, &st));
    loop_enter(rate_limits->loop);
    for (int i = 0; i < CALLERS; i++) {
        rate_limits->callers[i] = (struct caller){.rate_limits = rate_limits, .timer.expired = acts};
        rest(&rate_limits->callers[i]);
    }
    loop_leave(rate_limits->loop);
}

static void end(struct room *rate_limits)
{
    loop_enter(rate_limits->loop);
    for (int i = 0; i < CALLERS; i++) {
        loop_disarm(rate_limits->loop, &rate_limits->callers[i].timer);
        if (rate_limits->callers[i].ticket)
            go(&rate_limits->callers[i]);
    }
    loop_leave(rate_limits->loop);
}

static void loops_share_places_and_money_and_leave_nothing_behind(void **state)
{
    struct limits_table clients = {.fallback.concurrency = 3},
                        tenants = {.fallback = {.concurrency = 5, .micros_per_day = MICROS_OF_DAY / 2}};
    admission = admission_create(&(struct admission_options){.wall_ns = noon_ns,
                                                             .in_flight_max = PLACES,
                                                             .queue_max = 20,
                                                             .queue_wait_ms = 1,
                                                             .clients = &clients,
                                                             .tenants = &tenants});
    struct timespec second = {.tv_sec = RUN_MS / 1000};
    for (unsigned i = 0; i < LOOPS; i++)
        rooms[i].loop = loop_create(i);
    for (unsigned i = 0; i < LOOPS; i++)
        begin(&rooms[i]);
    struct admission_stats stats = {0};
    for (int i = 0; i < 60 && stats.refused_money == 0; i++) { /* until the day's money is spent */
        nanosleep(&second, NULL);
        admission_stats(admission, &stats);
    }
    for (unsigned i = 0; i < LOOPS; i++)
        end(&rooms[i]);
    admission_stats(admission, &stats);
    assert_int_equal(stats.inside + stats.waiting[0] + stats.waiting[1] + stats.waiting[2], 0);
    assert_int_equal(inside, 0);
    assert_in_range(committed, MICROS_OF_DAY / 2, MICROS_OF_DAY);
    assert_true(stats.refused_money > 0);
    admission_destroy(&admission);
    for (unsigned i = 0; i < LOOPS; i++) {
        print_message("loop %u: %u admitted, %u refused late, %u withdrawn\n", i, rooms[i].admitted, rooms[i].heard_no,
                      rooms[i].withdrawn);
        assert_true(rooms[i].admitted > 0 && rooms[i].heard_no > 0 && rooms[i].withdrawn > 0);
        loop_stop(rooms[i].loop);
        loop_step(rooms[i].loop, 0); /* what the admission has posted and the loop has not run holds the admission */
        loop_destroy(&rooms[i].loop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_share_places_and_money_and_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
