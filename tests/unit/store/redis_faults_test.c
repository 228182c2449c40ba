/* A Redis that is lost, silent, late, full, emptied or somebody's replica: what a batch is told, and that it is written
 * once or not at all. */
#include <time.h>

#include "redis_relay.h"
#include "starved.h"
#define REDIS_TIMEOUT ""
#include "store_fixture.h"

#define NOTICED_MS 3000

/* Stands still while others have the cores. */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + (now.tv_nsec - starved_ns()) / 1000000;
}

static struct status put(const char *key, const char *value)
{
    struct written written;
    store_put(begin(&written), text_of(key), text_of(value));
    return commit_now(&written);
}

/* Would not hold if it was written twice. */
static struct status put_new(const char *key, const char *value)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_expect(batch, text_of(key), ABSENT);
    store_put(batch, text_of(key), text_of(value));
    return commit_now(&written);
}

/* Redis is there again: it is found within a backoff, and what a loaded machine needs. */
static struct status put_when_found(const char *key, const char *value)
{
    struct status st = put(key, value);
    for (int i = 0; i < 200 && st.code == UNAVAILABLE; i++, usleep(20000))
        st = put(key, value);
    return st;
}

/* A busy machine may also let the timeout end in an attempt: then the text is of that. */
static struct status put_refused(const char *key, const char *part)
{
    struct status st = put(key, "1");
    for (int i = 0; i < 200 && st.code == UNAVAILABLE && strstr(st.text, part) == NULL; i++, usleep(20000))
        st = put(key, "1");
    return st;
}

static void assert_status(struct status st, enum status_code code, const char *part)
{
    if (st.code != code)
        fail_msg("it is %s: %s", status_code_name((int)st.code), st.text);
    assert_contains(st.text, part);
}

/* Patience is short, where it is not the default that is looked at. */
static int set_up_hasty(void **state)
{
    set_up(SITE_REDIS);
    store_close(&site.store);
    strcat(site.url, "&timeout=1200");
    open_store();
    return 0;
}

/* Long enough for a Redis to start on a busy machine. */
static int set_up_patient(void **state)
{
    set_up(SITE_REDIS);
    store_close(&site.store);
    strcat(site.url, "&timeout=20000");
    open_store();
    return 0;
}

static int set_up_relayed(void **state)
{
    set_up(SITE_REDIS);
    store_close(&site.store);
    relay_start(redis.port);
    snprintf(site.url, sizeof site.url, "redis://127.0.0.1:%d?name=relayed&timeout=1200", relay.port);
    open_store();
    return 0;
}

static int tear_down_relayed(void **state)
{
    tear_down(state);
    relay_end();
    return 0;
}

/* ---- once -------------------------------------------------------------------------------------------------------- */

static void a_batch_whose_answer_is_lost_is_written_once(void **state)
{
    for (int i = 0; i < 3; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        relay.mode = RELAY_SWALLOWS;
        assert_status(put_new(key, "1"), OK, "");
        assert_int_equal(relay.swallowed, i + 1);
    }
    assert_all("k0=1 k1=1 k2=1 ");
}

static void what_was_left_out_is_known_though_the_answer_is_lost(void **state)
{
    put_now("k", "1");
    relay.mode = RELAY_SWALLOWS;
    assert_status(put_new("k", "2"), ABORTED, "'k'");
    assert_int_equal(relay.swallowed, 1);
    assert_all("k=1 ");
}

static void scans_whose_answers_are_lost_are_asked_again(void **state)
{
    put_for_together(100);
    for (int i = 0; i < 3; i++) {
        relay.mode = RELAY_SWALLOWS;
        assert_found_together(100);
        assert_int_equal(relay.swallowed, i + 1);
    }
}

static void a_batch_that_was_given_up_does_not_come_late(void **state)
{
    put_now("k", "1");
    relay.mode = RELAY_HOLDS;
    assert_status(put("k", "late"), UNAVAILABLE, "does not answer in time");
    assert_true(relay.held > 0);
    relay.mode = RELAY_PASSES;
    usleep(200000); /* the backoff */
    assert_all("k=1 ");
    relay.let_go = true;
    while (relay.let_go)
        usleep(1000);
    assert_all("k=1 ");
    put_now("k", "2");
    assert_all("k=2 ");
}

static void a_batch_that_was_given_up_and_came_late_stands_in_no_newer_ones_way(void **state)
{
    relay.mode = RELAY_HOLDS;
    assert_status(put("k", "late"), UNAVAILABLE, "");
    relay.mode = RELAY_PASSES;
    relay.let_go = true;
    while (relay.let_go)
        usleep(1000);
    usleep(200000);
    assert_all("k=late ");
    put_now("k", "newer");
    put_now("j", "newer");
    assert_all("j=newer k=newer ");
}

static void a_batch_that_was_given_up_does_not_come_after_a_newer_one(void **state)
{
    relay.mode = RELAY_HOLDS;
    assert_status(put("k", "late"), UNAVAILABLE, "");
    relay.mode = RELAY_PASSES;
    usleep(200000);
    put_now("k", "newer");
    relay.let_go = true;
    while (relay.let_go)
        usleep(1000);
    assert_all("k=newer ");
}

/* ---- gone and back ----------------------------------------------------------------------------------------------- */

static void a_batch_waits_for_a_redis_that_is_started_again(void **state)
{
    struct written written;
    struct store_stats stats;
    put_now("a", "1");
    server_kill(&redis);
    store_expect(begin(&written), TEXT("b"), ABSENT);
    store_put(&written.batch, TEXT("b"), TEXT("1"));
    commit(&written);
    usleep(150000);
    server_run(&redis);
    settle();
    assert_status(written.batch.status, OK, "");
    store_batch_fini(&written.batch);
    assert_all("a=1 b=1 ");
    store_stats(site.store, &stats);
    assert_true(stats.losses >= 1);
}

static void a_redis_that_stays_away_is_noticed_and_then_told_at_once(void **state)
{
    put_now("a", "1");
    server_kill(&redis);
    int64_t begun_ms = now_ms();
    assert_status(put("b", "1"), UNAVAILABLE, "127.0.0.1 port");
    assert_true(now_ms() - begun_ms <= NOTICED_MS);
    begun_ms = now_ms();
    for (int i = 0; i < 20; i++)
        assert_int_equal(put("b", "1").code, UNAVAILABLE);
    assert_true(now_ms() - begun_ms <= NOTICED_MS); /* together */
    server_run(&redis);
    assert_status(put_when_found("c", "1"), OK, "");
    assert_rows(TEXT("a"), TEXT("b"), "a=1 ");
    assert_rows(TEXT("c"), NO_END, "c=1 ");
}

static void a_redis_that_hangs_is_noticed_within_three_seconds(void **state)
{
    struct looked looked;
    struct written written;
    put_now("a", "1");
    kill(redis.pid, SIGSTOP);
    int64_t begun_ms = now_ms();
    store_expect(begin(&written), TEXT("b"), ABSENT);
    store_put(&written.batch, TEXT("b"), TEXT("1"));
    commit(&written);
    look(&looked, ABSENT, NO_END);
    start_scan(&looked);
    settle();
    int64_t noticed_ms = now_ms() - begun_ms;
    kill(redis.pid, SIGCONT);
    assert_status(written.batch.status, UNAVAILABLE, "does not answer in time");
    assert_status(looked.scan.status, UNAVAILABLE, "does not answer in time");
    assert_true(noticed_ms <= NOTICED_MS);
    store_batch_fini(&written.batch);
    store_scan_fini(&looked.scan);
    assert_status(put_when_found("c", "1"), OK, "");
    look(&looked, ABSENT, NO_END);
    assert_true(scan_now(&looked)->count >= 2); /* whether b is there was never told */
    store_scan_fini(&looked.scan);
}

static void scripts_that_redis_forgot_are_given_to_it_again(void **state)
{
    put_now("a", "1");
    assert_contains(server_say(&redis, "SCRIPT FLUSH"), "+OK");
    assert_status(put_new("b", "1"), OK, "");
    assert_contains(server_say(&redis, "SCRIPT FLUSH"), "+OK");
    assert_all("a=1 b=1 ");
}

/* ---- what it promised -------------------------------------------------------------------------------------------- */

static void a_redis_that_was_emptied_is_noticed(void **state)
{
    put_now("a", "1");
    server_say(&redis, "FLUSHALL");
    assert_status(put("b", "1"), DATA_LOSS, "less than it had acknowledged");
    assert_all("");
    assert_status(put("c", "1"), OK, "");
    assert_all("c=1 ");
}

static void one_that_writes_to_its_disk_only_later_is_not_taken_back(void **state)
{
    put_now("a", "1");
    server_say(&redis, "CONFIG SET appendfsync everysec");
    server_say(&redis, "CLIENT KILL TYPE normal");
    struct status st = put_refused("b", "appendfsync");
    server_say(&redis, "CONFIG SET appendfsync always");
    assert_status(st, UNAVAILABLE, "appendfsync 'everysec'");
    assert_status(put_when_found("c", "1"), OK, "");
    assert_all("a=1 c=1 ");
}

static void a_replica_takes_nothing_and_says_what_it_is(void **state)
{
    put_now("a", "1");
    server_say(&redis, "REPLICAOF 127.0.0.1 1");
    struct status st = put_refused("b", "is a replica");
    server_say(&redis, "REPLICAOF NO ONE");
    assert_status(st, UNAVAILABLE, "is a replica");
    assert_status(put_when_found("c", "1"), OK, "");
    assert_all("a=1 c=1 ");
}

static void a_value_that_is_gone_costs_its_row_alone(void **state)
{
    char command[128];
    struct looked looked;
    struct written written;
    put_now("a", "1");
    put_now("b", "2");
    const char *name = strstr(site.url, "name=") + 5;
    snprintf(command, sizeof command, "HDEL renga:{%.*s}:values a", (int)strcspn(name, "&"), name);
    assert_contains(server_say(&redis, command), ":1");
    look(&looked, ABSENT, NO_END);
    assert_string_equal(rows_text(scan_now(&looked)), "a=\xfd b=2 ");
    assert_true(looked.scan.rows[0].lost && !looked.scan.rows[1].lost);
    store_scan_fini(&looked.scan);
    store_delete(begin(&written), TEXT("a"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("b=2 ");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void a_redis_without_memory_refuses_what_puts_and_takes_what_takes_away(void **state)
{
    struct written first, putting, deleting, other;
    put_now("a", "1");
    put_now("b", "1");
    server_say(&redis, "CONFIG SET maxmemory 1");
    assert_status(put("c", "1"), RESOURCE_EXHAUSTED, "maxmemory");
    store_delete(begin(&first), TEXT("nothing"));
    commit(&first); /* the others wait behind it, and go together */
    store_put(begin(&putting), TEXT("c"), TEXT("1"));
    commit(&putting);
    store_delete(begin(&deleting), TEXT("a"));
    commit(&deleting);
    store_delete_range(begin(&other), TEXT("b"), TEXT("c"));
    store_put(&other.batch, TEXT("d"), TEXT("1"));
    commit(&other);
    settle();
    server_say(&redis, "CONFIG SET maxmemory 0");
    assert_status(first.batch.status, OK, "");
    assert_status(putting.batch.status, RESOURCE_EXHAUSTED, "maxmemory");
    assert_status(deleting.batch.status, OK, "");
    assert_status(other.batch.status, RESOURCE_EXHAUSTED, "");
    assert_all("b=1 ");
    assert_status(put("c", "1"), OK, "");
    assert_all("b=1 c=1 ");
    store_batch_fini(&first.batch);
    store_batch_fini(&putting.batch);
    store_batch_fini(&deleting.batch);
    store_batch_fini(&other.batch);
}

#define ON(test)      cmocka_unit_test_setup_teardown(test, set_up_hasty, tear_down)
#define PATIENT(test) cmocka_unit_test_setup_teardown(test, set_up_patient, tear_down)
#define RELAYED(test) cmocka_unit_test_setup_teardown(test, set_up_relayed, tear_down_relayed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELAYED(a_batch_whose_answer_is_lost_is_written_once),
        RELAYED(what_was_left_out_is_known_though_the_answer_is_lost),
        RELAYED(scans_whose_answers_are_lost_are_asked_again),
        RELAYED(a_batch_that_was_given_up_does_not_come_late),
        RELAYED(a_batch_that_was_given_up_and_came_late_stands_in_no_newer_ones_way),
        RELAYED(a_batch_that_was_given_up_does_not_come_after_a_newer_one),
        PATIENT(a_batch_waits_for_a_redis_that_is_started_again),
        ON(a_redis_that_stays_away_is_noticed_and_then_told_at_once),
        cmocka_unit_test_setup_teardown(a_redis_that_hangs_is_noticed_within_three_seconds, set_up_redis, tear_down),
        ON(scripts_that_redis_forgot_are_given_to_it_again),
        ON(a_redis_that_was_emptied_is_noticed),
        ON(one_that_writes_to_its_disk_only_later_is_not_taken_back),
        ON(a_replica_takes_nothing_and_says_what_it_is),
        ON(a_value_that_is_gone_costs_its_row_alone),
        ON(a_redis_without_memory_refuses_what_puts_and_takes_what_takes_away),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_end(&redis);
    return failed;
}
