/* The admission's places and its queue. */
#include "admission_callers.h"

/* Everybody inside leaves, until nobody is. */
static void let_all_through(struct caller *callers, size_t count)
{
    if (first.inside)
        leave_and_step(&first);
    for (size_t round = 0; round < count; round++)
        for (size_t i = 0; i < count; i++)
            if (callers[i].inside)
                leave_and_step(&callers[i]);
    assert_int_equal(stats().inside, 0);
}

static void who_finds_all_places_taken_waits_for_one(void **state)
{
    open_full_admission(10, NULL);
    struct caller callers[] = {caller_of("a", ADMISSION_NORMAL), caller_of("b", ADMISSION_NORMAL)};
    callers[1].letter = 'b';
    assert_int_equal(enter(&callers[0]), ADMISSION_QUEUED);
    assert_int_equal(enter(&callers[1]), ADMISSION_QUEUED);
    loop_step(loop, 1000);
    assert_int_equal(stats().waiting[ADMISSION_NORMAL], 2);
    assert_int_equal(callers[0].heard, 0);
    leave(&first);
    assert_int_equal(stats().inside, 1); /* the place is taken before its loop has heard of it */
    loop_step(loop, 0);
    assert_string_equal(trail, "a");
    let_all_through(callers, 2);
    assert_string_equal(trail, "ab");
    assert_int_equal(stats().admitted, 3);
}

static void all_who_are_called_hear_of_it(void **state)
{
    struct loop *other = loop_create(1);
    struct caller inside[3], waiting[3];
    open_admission((struct admission_options){.in_flight_max = 3, .queue_max = 3});
    for (int i = 0; i < 3; i++) {
        inside[i] = caller_of("i", ADMISSION_NORMAL);
        assert_int_equal(enter(&inside[i]), ADMISSION_ADMITTED);
    }
    for (int i = 0; i < 3; i++) {
        waiting[i] = caller_of("w", ADMISSION_NORMAL);
        waiting[i].ticket.loop = other;
        assert_int_equal(enter(&waiting[i]), ADMISSION_QUEUED);
    }
    for (int i = 0; i < 3; i++)
        leave(&inside[i]);
    assert_string_equal(trail, "");
    loop_step(other, 0);
    assert_string_equal(trail, "www");
    for (int i = 0; i < 3; i++)
        leave(&waiting[i]);
    loop_destroy(&other);
}

static void a_client_at_its_own_limit_is_passed_over(void **state)
{
    struct limits_table clients = {.fallback.concurrency = 2};
    open_admission((struct admission_options){.in_flight_max = 4, .queue_max = 10, .clients = &clients});
    struct caller callers[7], *a = callers, *b = callers + 4;
    for (int i = 0; i < 4; i++) {
        a[i] = caller_of("a", ADMISSION_INTERACTIVE);
        assert_int_equal(enter(&a[i]), i < 2 ? ADMISSION_ADMITTED : ADMISSION_QUEUED);
    }
    for (int i = 0; i < 3; i++) {
        b[i] = caller_of("b", ADMISSION_BATCH);
        assert_int_equal(enter(&b[i]), i < 2 ? ADMISSION_ADMITTED : ADMISSION_QUEUED);
    }
    leave_and_step(&b[0]);
    assert_string_equal(trail, "b");
    leave_and_step(&a[0]);
    assert_string_equal(trail, "ba");
    let_all_through(callers, 7);
    assert_string_equal(trail, "baa");
}

static void a_tenant_at_its_own_limit_is_passed_over(void **state)
{
    struct limits_table tenants = {.fallback.concurrency = 1};
    open_admission((struct admission_options){.queue_max = 10, .tenants = &tenants});
    struct caller north[3], south = caller_of("s", ADMISSION_BATCH);
    for (int i = 0; i < 3; i++) {
        north[i] = caller_of(i == 1 ? "b" : "a", ADMISSION_NORMAL);
        north[i].ticket.tenant = "north";
        assert_int_equal(enter(&north[i]), i < 1 ? ADMISSION_ADMITTED : ADMISSION_QUEUED);
    }
    south.ticket.tenant = "south";
    assert_int_equal(enter(&south), ADMISSION_ADMITTED);
    leave_and_step(&south);
    assert_string_equal(trail, "");
    let_all_through(north, 3);
    assert_string_equal(trail, "ba");
}

/* ---- whose turn it is -------------------------------------------------------------------------------------------- */

/* Each client sends as much as it is given; one place; how many of the first `turns` each had. */
static void share(const char *const *names, const unsigned *sent, size_t clients, unsigned turns, unsigned *had)
{
    static struct caller callers[3][1000];
    unsigned taken = 0;
    for (unsigned i = 0; i < 1000; i++)
        for (size_t c = 0; c < clients; c++)
            if (i < sent[c]) {
                callers[c][i] = caller_of(names[c], ADMISSION_NORMAL);
                assert_int_equal(enter(&callers[c][i]), ADMISSION_QUEUED);
                clock_step(NS_PER_MS / 1000);
            }
    memset(had, 0, clients * sizeof *had);
    leave_and_step(&first);
    while (stats().inside)
        for (size_t c = 0; c < clients; c++)
            for (unsigned i = 0; i < sent[c]; i++)
                if (callers[c][i].inside) {
                    had[c] += taken++ < turns;
                    leave_and_step(&callers[c][i]);
                }
}

static void a_greedy_client_waits_behind_itself(void **state)
{
    const char *const names[] = {"greedy", "polite"};
    const unsigned sent[] = {1000, 100};
    unsigned had[2];
    open_full_admission(2000, NULL);
    share(names, sent, 2, 200, had);
    assert_in_range(had[0], 90, 110);
    assert_in_range(had[1], 90, 110);
}

static void turns_are_shared_by_weight(void **state)
{
    const struct limits_row rows[] = {{"heavy", {.weight = 3}}, {"light", {.weight = 1}}, {"middle", {.weight = 2}}};
    struct limits_table clients = {.rows = rows, .count = 3};
    const char *const names[] = {"heavy", "light", "middle"};
    const unsigned sent[] = {600, 600, 600};
    unsigned had[3];
    open_full_admission(2000, &clients);
    share(names, sent, 3, 600, had);
    assert_in_range(had[0], 270, 330);
    assert_in_range(had[1], 90, 130); /* some of the oldest's turns are more than its own */
    assert_in_range(had[2], 180, 220);
}

static void a_higher_priority_goes_first(void **state)
{
    open_full_admission(10, NULL);
    struct caller callers[] = {caller_of("b", ADMISSION_BATCH),       caller_of("n", ADMISSION_NORMAL),
                               caller_of("i", ADMISSION_INTERACTIVE), caller_of("B", ADMISSION_BATCH),
                               caller_of("N", ADMISSION_NORMAL),      caller_of("I", ADMISSION_INTERACTIVE)};
    for (size_t i = 0; i < COUNT(callers); i++)
        assert_int_equal(enter(&callers[i]), ADMISSION_QUEUED);
    let_all_through(callers, COUNT(callers));
    assert_string_equal(trail, "iInNbB");
}

static void every_16th_turn_goes_to_the_one_that_waits_longest(void **state)
{
    struct caller callers[42];
    open_full_admission(100, NULL);
    for (size_t i = 0; i < COUNT(callers); i++) {
        callers[i] = caller_of(i < 2 ? "b" : "i", i < 2 ? ADMISSION_BATCH : ADMISSION_INTERACTIVE);
        assert_int_equal(enter(&callers[i]), ADMISSION_QUEUED);
        clock_step(1);
    }
    let_all_through(callers, COUNT(callers));
    assert_string_equal(trail, "iiiiiiiiiiiiiiibiiiiiiiiiiiiiiibiiiiiiiiii");
}

/* ---- a full queue ------------------------------------------------------------------------------------------------ */

static void a_full_queue_refuses_with_a_hint_from_the_pace_of_departures(void **state)
{
    struct caller callers[8];
    open_full_admission(4, NULL);
    for (int i = 0; i < 8; i++)
        callers[i] = caller_of("a", ADMISSION_NORMAL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(enter(&callers[i]), ADMISSION_QUEUED);
    assert_int_equal(enter(&callers[7]), ADMISSION_REJECTED);
    assert_string_equal(callers[7].ticket.exhausted, "process/queue");
    assert_null(admission_exhausted_by(&callers[7].ticket));
    assert_int_equal(callers[7].ticket.status.retry_after_ms, 100);
    assert_string_equal(callers[7].ticket.status.text,
                        "all places are taken and 4 requests, as many as may, wait for one; come back in 0.1 s");
    loop_step(loop, 400);
    leave(&first); /* the first of the queue is called after 400 ms */
    loop_step(loop, 0);
    assert_int_equal(enter(&callers[5]), ADMISSION_QUEUED);
    assert_int_equal(enter(&callers[7]), ADMISSION_REJECTED);
    assert_int_equal(callers[7].ticket.status.retry_after_ms, 5 * 400);
    loop_step(loop, 1200);
    leave(&callers[0]);
    loop_step(loop, 0);
    assert_int_equal(enter(&callers[6]), ADMISSION_QUEUED);
    assert_int_equal(enter(&callers[7]), ADMISSION_REJECTED);
    assert_int_equal(callers[7].ticket.status.retry_after_ms, 5 * 500); /* an eighth of the way to 1,200 */
    loop_step(loop, 20000);                                             /* nobody has left since */
    assert_int_equal(enter(&callers[7]), ADMISSION_REJECTED);
    assert_int_equal(callers[7].ticket.status.retry_after_ms, 30000);
    assert_int_equal(callers[7].heard, 0);
    assert_int_equal(stats().refused_queue, 4);
    let_all_through(callers, 7);
}

static void a_higher_priority_takes_the_place_of_the_last_of_the_lowest(void **state)
{
    open_full_admission(4, NULL);
    struct caller callers[] = {caller_of("b", ADMISSION_BATCH), caller_of("B", ADMISSION_BATCH),
                               caller_of("B", ADMISSION_BATCH), caller_of("n", ADMISSION_NORMAL)};
    for (size_t i = 0; i < COUNT(callers); i++)
        assert_int_equal(enter(&callers[i]), ADMISSION_QUEUED);
    struct caller newcomer = caller_of("i", ADMISSION_INTERACTIVE), batch = caller_of("x", ADMISSION_BATCH);
    assert_int_equal(enter(&newcomer), ADMISSION_QUEUED);
    assert_int_equal(callers[2].heard, 1);
    assert_int_equal(callers[2].ticket.status.code, RESOURCE_EXHAUSTED);
    assert_string_equal(callers[2].ticket.exhausted, "process/queue");
    assert_true(callers[2].ticket.status.retry_after_ms >= 100);
    assert_int_equal(enter(&batch), ADMISSION_REJECTED);
    leave_and_step(&first);
    struct caller *all[] = {&newcomer, &callers[3], &callers[0], &callers[1]};
    for (size_t i = 0; i < COUNT(all); i++) {
        assert_true(all[i]->inside);
        leave_and_step(all[i]);
    }
    assert_string_equal(trail, "inbB");
}

static void a_client_cannot_fill_the_queue_against_others(void **state)
{
    struct caller greedy[10], polite[6];
    open_full_admission(10, NULL);
    for (int i = 0; i < 10; i++) {
        greedy[i] = caller_of("g", ADMISSION_NORMAL);
        assert_int_equal(enter(&greedy[i]), ADMISSION_QUEUED);
    }
    for (int i = 0; i < 6; i++) {
        polite[i] = caller_of("p", ADMISSION_NORMAL);
        assert_int_equal(enter(&polite[i]), i < 5 ? ADMISSION_QUEUED : ADMISSION_REJECTED);
    }
    loop_step(loop, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(greedy[i].heard, i >= 5);
    leave_and_step(&first);
    while (stats().inside) {
        for (int i = 0; i < 5; i++) {
            if (greedy[i].inside)
                leave_and_step(&greedy[i]);
            if (polite[i].inside)
                leave_and_step(&polite[i]);
        }
    }
    assert_string_equal(trail, "gpgpgpgpgp");
}

static void without_a_queue_nobody_waits(void **state)
{
    open_full_admission(0, NULL);
    struct caller a = caller_of("a", ADMISSION_INTERACTIVE);
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    leave(&first);
}

static void nobody_waits_too_long(void **state)
{
    struct limits_table clients = {.fallback = {.concurrency = 1, .tokens_per_minute = 100}};
    open_admission(
        (struct admission_options){.in_flight_max = 2, .queue_max = 10, .queue_wait_ms = 5000, .clients = &clients});
    struct caller a = caller_of("a", ADMISSION_NORMAL), again = caller_of("a", ADMISSION_NORMAL),
                  b = caller_of("b", ADMISSION_NORMAL), c = caller_of("c", ADMISSION_NORMAL);
    again.ticket.tokens = c.ticket.tokens = 100;
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    assert_int_equal(enter(&b), ADMISSION_ADMITTED);
    assert_int_equal(enter(&again), ADMISSION_QUEUED);
    assert_int_equal(enter(&c), ADMISSION_QUEUED);
    loop_step(loop, 4999);
    assert_int_equal(again.heard + c.heard, 0);
    loop_step(loop, 1);
    assert_string_equal(again.ticket.exhausted, "client/concurrency");
    assert_string_equal(again.ticket.status.text,
                        "client 'a' has 1 places, and none was free for 5000 ms; come back in 15.0 s");
    assert_string_equal(c.ticket.exhausted, "process/in_flight");
    assert_int_equal(again.heard + c.heard, 2);
    assert_int_equal(stats().refused_late, 2);
    leave(&a);
    assert_int_equal(enter(&c), ADMISSION_ADMITTED); /* its tokens were given back */
    leave(&c);
    leave(&b);
}

/* ---- places of a model ------------------------------------------------------------------------------------------- */

static void the_places_of_a_model_know_clients_by_their_weight_alone(void **state)
{
    static const struct limits_row rows[] = {
        {"h", {.concurrency = 1, .requests_per_minute = 1, .tokens_per_minute = 1, .micros_per_day = 1, .weight = 2}}};
    struct limits_table clients = {.fallback = {.concurrency = 1, .weight = 1}, .rows = rows, .count = 1};
    open_admission((struct admission_options){
        .in_flight_max = 1, .queue_max = 6, .queue_wait_ms = 5000, .clients = &clients, .model = "small"});
    first = caller_of("h", ADMISSION_NORMAL);
    assert_int_equal(enter(&first), ADMISSION_ADMITTED);
    struct caller callers[6];
    for (int i = 0; i < 6; i++) {
        callers[i] = caller_of(i < 4 ? "h" : "l", ADMISSION_NORMAL);
        callers[i].ticket.tokens = callers[i].ticket.micros = 100;
        assert_int_equal(enter(&callers[i]), ADMISSION_QUEUED);
    }
    struct caller late = caller_of("h", ADMISSION_NORMAL);
    assert_int_equal(enter(&late), ADMISSION_REJECTED);
    assert_string_equal(late.ticket.exhausted, "model/queue");
    assert_null(admission_exhausted_by(&late.ticket));
    assert_non_null(strstr(late.ticket.status.text, "all places of the model 'small' are taken"));
    let_all_through(callers, 6);
    assert_string_equal(trail, "hhlhhl");
}

static void who_waits_too_long_for_a_models_place_is_told_which(void **state)
{
    open_admission(
        (struct admission_options){.in_flight_max = 1, .queue_max = 6, .queue_wait_ms = 5000, .model = "small"});
    struct caller a = caller_of("a", ADMISSION_NORMAL), b = caller_of("b", ADMISSION_NORMAL);
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    assert_int_equal(enter(&b), ADMISSION_QUEUED);
    loop_step(loop, 5000);
    assert_int_equal(b.heard, 1);
    assert_string_equal(b.ticket.exhausted, "model/concurrency");
    assert_non_null(strstr(b.ticket.status.text, "model 'small' has 1 places, and none was free for 5000 ms"));
    leave(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMISSION_TEST(who_finds_all_places_taken_waits_for_one),
        ADMISSION_TEST(all_who_are_called_hear_of_it),
        ADMISSION_TEST(a_client_at_its_own_limit_is_passed_over),
        ADMISSION_TEST(a_tenant_at_its_own_limit_is_passed_over),
        ADMISSION_TEST(a_greedy_client_waits_behind_itself),
        ADMISSION_TEST(turns_are_shared_by_weight),
        ADMISSION_TEST(a_higher_priority_goes_first),
        ADMISSION_TEST(every_16th_turn_goes_to_the_one_that_waits_longest),
        ADMISSION_TEST(a_full_queue_refuses_with_a_hint_from_the_pace_of_departures),
        ADMISSION_TEST(a_higher_priority_takes_the_place_of_the_last_of_the_lowest),
        ADMISSION_TEST(a_client_cannot_fill_the_queue_against_others),
        ADMISSION_TEST(without_a_queue_nobody_waits),
        ADMISSION_TEST(nobody_waits_too_long),
        ADMISSION_TEST(the_places_of_a_model_know_clients_by_their_weight_alone),
        ADMISSION_TEST(who_waits_too_long_for_a_models_place_is_told_which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
