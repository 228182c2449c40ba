/* Kept answers in a real Redis: found again, expired, lost, late, spoilt. */
#include "base/clock.h"
#include "loop/loop.h"
#include "recall/recall.h"
#include "recall_asker.h"
#include "redis_server.h"

#include "unit.h"

#define MINUTE_MS 60000
#define TRIES     4000 /* of a millisecond of real time, until something has come over the socket */

static struct loop *loop;
static struct server server;
static struct recall *ours, *theirs; /* two gateways */

static struct recall *open_to(const char *url, size_t bytes_max)
{
    struct status st = {0};
    struct recall *recall = recall_create(&(struct recall_options){.bytes_max = bytes_max, .redis = url}, &st);
    assert_non_null(recall);
    loop_enter(loop);
    recall_open(recall, loop);
    loop_leave(loop);
    return recall;
}

static struct recall *open_recall(size_t bytes_max)
{
    char url[128];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server.port);
    return open_to(url, bytes_max);
}

static void shut(struct recall **recall)
{
    loop_enter(loop);
    recall_close(*recall, loop);
    loop_leave(loop);
    recall_destroy(recall);
}

static int set_up(void **state)
{
    loop = loop_create(0);
    if (server.pid == 0)
        server_run(&server);
    server_say(&server, "FLUSHALL");
    ours = open_recall(0);
    theirs = open_recall(0);
    return 0;
}

static int tear_down(void **state)
{
    shut(&ours);
    shut(&theirs);
    loop_destroy(&loop);
    return 0;
}

static bool is_told(const struct asker *asker)
{
    for (int i = 0; i < TRIES && !asker->told; i++) {
        loop_step(loop, 0);
        usleep(asker->told ? 0 : 1000);
    }
    return asker->told == 1;
}

/* Asks, and waits for what Redis says. */
static enum recall_result ask(struct recall *recall, struct asker *asker)
{
    asker->told = 0;
    if (!asker_ask(recall, asker))
        assert_true(is_told(asker));
    return asker->query.result;
}

static enum recall_result result_of(struct recall *recall, const char *key)
{
    struct asker asker = asker_of(loop, key);
    loop_step(loop, 0);
    enum recall_result result = ask(recall, &asker);
    asker_leave(&asker);
    return result;
}

static void name_of(const char *key, char name[128])
{
    struct recall_key hash;
    int size = snprintf(name, 128, "renga:recall:");
    recall_key_of_word("tenant", key, &hash);
    for (size_t i = 0; i < RECALL_KEY_SIZE; i++)
        size += snprintf(name + size, 128 - (size_t)size, "%02x", hash.bytes[i]);
}

static const char *say(const char *format, const char *key)
{
    char name[128], command[512];
    name_of(key, name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(command, sizeof command, format, name);
#pragma GCC diagnostic pop
    return server_say(&server, command);
}

/* Kept by `recall`; returns when Redis has it. */
static void keep(struct recall *recall, struct asker asker, const char *key, const char *text, int64_t keep_ms)
{
    asker.query.reads = false;
    assert_true(asker_ask(recall, &asker));
    asker_answer(&asker, text, keep_ms);
    for (int i = 0; i < TRIES && strncmp(say("EXISTS %s", key), ":1", 2) != 0; i++) {
        loop_step(loop, 0);
        usleep(1000);
    }
}

static uint64_t failures(struct recall *recall)
{
    struct recall_stats stats;
    recall_stats(recall, &stats);
    return stats.failures;
}

/* Lets `ms` go by, and what comes over the socket come. */
static void pass(int64_t ms)
{
    for (int64_t passed = 0; passed < ms; passed += 20) {
        loop_step(loop, 20);
        usleep(300);
    }
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */

static void what_one_gateway_keeps_another_finds(void **state)
{
    struct asker asker = asker_of(loop, "k");
    assert_int_equal(result_of(theirs, "k"), RECALL_NOTHING);
    keep(ours, asker, "k", "text", MINUTE_MS);
    assert_int_equal(ask(theirs, &asker), RECALL_KEPT);
    assert_true(asker_has(&asker, RECALL_KEPT, "text"));
    recall_done(&asker.query);
    assert_int_equal(failures(ours) + failures(theirs), 0);
}

static void a_gateway_that_has_just_started_knows_what_was_kept_before(void **state)
{
    struct asker asker = asker_of(loop, "k");
    keep(ours, asker, "k", "text", MINUTE_MS);
    struct recall *fresh = open_recall(0);
    assert_int_equal(ask(fresh, &asker), RECALL_KEPT);
    recall_done(&asker.query);
    shut(&fresh);
}

static void redis_forgets_it_after_its_time(void **state)
{
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    int left_ms = atoi(say("PTTL %s", "k") + 1);
    assert_in_range(left_ms, 1, MINUTE_MS);
    keep(ours, asker_of(loop, "short"), "short", "text", 1500);
    assert_int_equal(result_of(theirs, "short"), RECALL_KEPT);
    usleep(1600000);
    assert_int_equal(result_of(theirs, "short"), RECALL_NOTHING);
}

static void age_is_counted_from_when_it_was_made(void **state)
{
    struct asker asker = asker_of(loop, "k");
    keep(ours, asker, "k", "text", MINUTE_MS);
    usleep(30000);
    asker.query.max_age_ms = 20;
    assert_int_equal(ask(theirs, &asker), RECALL_NOTHING);
    asker_leave(&asker);
    asker.query.max_age_ms = MINUTE_MS;
    assert_int_equal(ask(theirs, &asker), RECALL_KEPT);
    asker_leave(&asker);
}

static void a_word_holds_between_gateways(void **state)
{
    struct asker first = asker_of_word(loop, "w", "question"), other = asker_of_word(loop, "w", "another");
    keep(ours, first, "w", "text", RECALL_WORD_MS);
    assert_int_equal(ask(theirs, &first), RECALL_KEPT);
    asker_leave(&first);
    assert_int_equal(ask(theirs, &other), RECALL_OTHER);
    asker_leave(&other);
}

static void what_came_from_redis_is_kept_in_memory_for_what_is_left_of_its_time(void **state)
{
    struct recall *near = open_recall(1 << 20);
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    assert_int_equal(result_of(near, "k"), RECALL_KEPT);
    say("DEL %s", "k");
    struct asker asker = asker_of(loop, "k");
    assert_true(asker_ask(near, &asker));
    assert_true(asker_has(&asker, RECALL_KEPT, "text"));
    asker_leave(&asker);
    clock_step(MINUTE_MS * NS_PER_MS);
    assert_int_equal(result_of(near, "k"), RECALL_NOTHING);
    shut(&near);
}

static void a_large_answer_comes_back_as_it_was_and_one_too_large_is_not_sent(void **state)
{
    static char text[(1 << 20) + 1];
    struct asker asker = asker_of(loop, "k"), larger = asker_of(loop, "larger");
    memset(text, 'x', sizeof text - 1);
    larger.query.reads = false;
    asker_ask(ours, &larger);
    asker_answer(&larger, text, MINUTE_MS);
    text[900000] = '\0';
    keep(ours, asker, "k", text, MINUTE_MS);
    assert_int_equal(ask(theirs, &asker), RECALL_KEPT);
    assert_true(asker_has(&asker, RECALL_KEPT, text));
    recall_done(&asker.query);
    assert_string_equal(say("EXISTS %s", "larger"), ":0\r\n");
    assert_int_equal(failures(ours) + failures(theirs), 0);
}

static void who_asks_while_redis_is_asked_shares_the_answer_in_the_end(void **state)
{
    struct asker first = asker_of(loop, "k"), second = asker_of(loop, "k");
    assert_false(asker_ask(ours, &first));
    assert_false(asker_ask(ours, &second));
    assert_true(is_told(&first));
    assert_int_equal(first.query.result, RECALL_NOTHING);
    asker_answer(&first, "text", 0);
    assert_true(is_told(&second));
    assert_true(asker_has(&second, RECALL_SHARED, "text"));
    recall_done(&second.query);
}

static void who_leaves_while_redis_is_asked_is_not_told(void **state)
{
    struct asker *asker = malloc(sizeof *asker);
    *asker = asker_of(loop, "k");
    assert_false(asker_ask(ours, asker));
    asker_leave(asker);
    free(asker);
    assert_int_equal(result_of(ours, "other"), RECALL_NOTHING);
}

/* ---- Redis at fault ---------------------------------------------------------------------------------------------- */

static void a_redis_that_was_started_again_is_used_again(void **state)
{
    assert_int_equal(result_of(ours, "k"), RECALL_NOTHING);
    server_kill(&server);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(result_of(ours, "k"), RECALL_NOTHING);
        pass(60);
    }
    assert_true(failures(ours) > 0);
    server_run(&server);
    for (int i = 0; i < 600 && result_of(theirs, "k") != RECALL_KEPT; i++) {
        struct asker asker = asker_of(loop, "k");
        asker.query.reads = false;
        asker_ask(ours, &asker);
        asker_answer(&asker, "text", MINUTE_MS);
        pass(20);
    }
    assert_int_equal(result_of(theirs, "k"), RECALL_KEPT);
}

static void a_redis_that_hangs_is_waited_for_once_and_then_left_alone(void **state)
{
    struct asker asker = asker_of(loop, "k");
    assert_int_equal(result_of(ours, "k"), RECALL_NOTHING);
    kill(server.pid, SIGSTOP);
    assert_false(asker_ask(ours, &asker));
    loop_step(loop, RECALL_REDIS_MS - 1);
    assert_int_equal(asker.told, 0);
    loop_step(loop, 1);
    assert_int_equal(asker.told, 1);
    assert_int_equal(asker.query.result, RECALL_NOTHING);
    asker_leave(&asker);
    for (int i = 0; i < 200; i++) { /* twenty seconds, with all the connecting that goes on */
        assert_true(asker_ask(ours, &asker));
        asker_leave(&asker);
        pass(100);
    }
    kill(server.pid, SIGCONT);
    keep(theirs, asker, "k", "text", MINUTE_MS);
    for (int i = 0; i < 200 && result_of(ours, "k") != RECALL_KEPT; i++) {
        pass(100);
        usleep(10000); /* Redis has real things to do */
    }
    assert_int_equal(result_of(ours, "k"), RECALL_KEPT);

    kill(server.pid, SIGSTOP); /* it was well: the next rest is short again */
    assert_false(asker_ask(ours, &asker));
    loop_step(loop, RECALL_REDIS_MS);
    asker_leave(&asker);
    kill(server.pid, SIGCONT);
    pass(200);
    for (int i = 0; i < TRIES && result_of(ours, "k") != RECALL_KEPT; i++) /* no more time passes in here */
        usleep(1000);
    assert_int_equal(result_of(ours, "k"), RECALL_KEPT);
}

static void a_redis_that_hangs_from_the_start_is_waited_for_once_too(void **state)
{
    struct asker asker = asker_of(loop, "k");
    kill(server.pid, SIGSTOP);
    struct recall *fresh = open_recall(0);
    assert_false(asker_ask(fresh, &asker));
    loop_step(loop, RECALL_REDIS_MS);
    assert_int_equal(asker.told, 1);
    asker_leave(&asker);
    for (int i = 0; i < 50; i++) {
        assert_true(asker_ask(fresh, &asker));
        asker_leave(&asker);
        pass(40);
    }
    kill(server.pid, SIGCONT);
    shut(&fresh);
}

static void questions_to_a_redis_that_hangs_are_bounded_and_all_let_go_at_once(void **state)
{
    static struct asker askers[400];
    int waiting = 0, told = 0;
    assert_int_equal(result_of(ours, "k"), RECALL_NOTHING);
    kill(server.pid, SIGSTOP);
    for (size_t i = 0; i < COUNT(askers); i++) {
        char key[16];
        snprintf(key, sizeof key, "k%zu", i);
        askers[i] = asker_of(loop, key);
        waiting += !asker_ask(ours, &askers[i]);
    }
    assert_int_equal(waiting, 256);
    loop_step(loop, RECALL_REDIS_MS);
    kill(server.pid, SIGCONT);
    for (size_t i = 0; i < COUNT(askers); i++) {
        told += askers[i].told;
        assert_int_equal(askers[i].query.result, RECALL_NOTHING);
        asker_leave(&askers[i]);
    }
    assert_int_equal(told, 256);
}

static void garbage_under_our_keys_is_nothing(void **state)
{
    static const char *const spoilt[] = {
        "SET %s \"\"",           "SET %s garbage",          "SET %s rg",         "SETRANGE %s 200000 x",
        "SETRANGE %s 2000000 x", "SETRANGE %s 2 \"\\x02\"", "SETRANGE %s 60 XX", "APPEND %s x",
    };
    struct asker asker = asker_of(loop, "k");
    for (size_t i = 0; i < COUNT(spoilt); i++) {
        keep(ours, asker, "k", "text that is long enough", MINUTE_MS);
        assert_int_equal(result_of(theirs, "k"), RECALL_KEPT);
        say(spoilt[i], "k");
        assert_int_equal(result_of(theirs, "k"), RECALL_NOTHING);
        say("DEL %s", "k");
    }
    assert_int_equal(failures(theirs), 0);
    say("LPUSH %s a b c", "k");
    assert_int_equal(result_of(theirs, "k"), RECALL_NOTHING);
    assert_int_equal(failures(theirs), 1);
    say("DEL %s", "k");
    keep(ours, asker, "k", "text", MINUTE_MS);
    assert_int_equal(result_of(theirs, "k"), RECALL_KEPT);
}

static void a_value_under_another_key_is_not_taken_for_its_own(void **state)
{
    char from[128], to[128], command[300];
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    name_of("k", from);
    name_of("other", to);
    snprintf(command, sizeof command, "COPY %s %s", from, to);
    assert_string_equal(server_say(&server, command), ":1\r\n");
    assert_int_equal(result_of(theirs, "other"), RECALL_NOTHING);
}

/* ---- passwords --------------------------------------------------------------------------------------------------- */

static void a_wrong_password_costs_nothing_and_stands_in_no_log(void **state)
{
    char url[128], log[4096] = "";
    FILE *said = tmpfile();
    int error = dup(STDERR_FILENO);
    struct server guarded = {0};
    struct asker asker = asker_of(loop, "k");
    server_start(&guarded, "right-secret");
    dup2(fileno(said), STDERR_FILENO);
    snprintf(url, sizeof url, "redis://:wrong-secret@127.0.0.1:%d/3", guarded.port);
    struct recall *wrong = open_to(url, 0);
    enum recall_result first = ask(wrong, &asker);
    asker_leave(&asker);
    bool at_once = asker_ask(wrong, &asker);
    asker_leave(&asker);
    snprintf(url, sizeof url, "redis://:right%%2Dsecret@127.0.0.1:%d/3", guarded.port);
    struct recall *right = open_to(url, 0);
    asker.query.reads = false;
    asker_ask(right, &asker);
    asker_answer(&asker, "text", MINUTE_MS);
    asker.query.reads = true;
    enum recall_result kept = ask(right, &asker);
    asker_leave(&asker);
    snprintf(url, sizeof url, "redis://:right-secret@127.0.0.1:%d", guarded.port);
    struct recall *elsewhere = open_to(url, 0);
    enum recall_result kept_elsewhere = ask(elsewhere, &asker);
    asker_leave(&asker);
    dup2(error, STDERR_FILENO);
    close(error);
    rewind(said);
    log[fread(log, 1, sizeof log - 1, said)] = '\0';
    fclose(said);
    shut(&wrong);
    shut(&right);
    shut(&elsewhere);
    server_end(&guarded);
    assert_int_equal(first, RECALL_NOTHING);
    assert_true(at_once);
    assert_int_equal(kept, RECALL_KEPT);
    assert_int_equal(kept_elsewhere, RECALL_NOTHING); /* another database */
    assert_contains(log, "refuses the user or password");
    assert_lacks(log, "secret");
}

/* ---- who is no Redis --------------------------------------------------------------------------------------------- */

/* Says `text` to whoever connects; then the recall is asked, and goes on without it. */
static void meet(const char *text, size_t times)
{
    char url[64];
    int port, listener = server_bind(&port, 4);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    struct recall *recall = open_to(url, 0);
    int peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0);
    for (size_t i = 0; i < times; i++) {
        if (send(peer, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            usleep(200);
        loop_step(loop, 0);
    }
    for (int i = 0; i < TRIES && !failures(recall); i++) {
        loop_step(loop, 0);
        usleep(1000);
    }
    struct asker asker = asker_of(loop, "k");
    assert_true(asker_ask(recall, &asker));
    assert_int_equal(asker.query.result, RECALL_NOTHING);
    asker_leave(&asker);
    assert_true(failures(recall) > 0);
    close(peer);
    close(listener);
    shut(&recall);
}

static void one_that_speaks_otherwise_is_left_alone(void **state)
{
    static char long_text[65536];
    memset(long_text, '+', sizeof long_text - 1);
    meet("+PONG\r\n+OK\r\n", 1); /* one reply too many: hiredis itself would abort here */
    meet("HTTP/1.1 400 Bad Request\r\n\r\n", 1);
    meet("*2147483647\r\n", 1);
    meet("*1\r\n$4\r\nPING\r\n", 1);
    meet("-NOAUTH Authentication required.\r\n", 1);
    meet("+PONG\r\n$-7\r\n", 1);
    meet(long_text, 200); /* a line without an end */
    memcpy(long_text, "$2147483647\r\n", 13);
    meet(long_text, 200); /* a value without an end */
}

static void hear(int peer, const char *text)
{
    assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    for (int i = 0; i < 20; i++) {
        loop_step(loop, 0);
        usleep(500);
    }
}

static void one_that_is_late_but_alive_is_not_given_up(void **state)
{
    char url[64];
    int port, listener = server_bind(&port, 4);
    struct asker first = asker_of(loop, "a"), second = asker_of(loop, "b"), third = asker_of(loop, "c");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    struct recall *recall = open_to(url, 0);
    int peer = accept(listener, NULL, NULL);
    hear(peer, "+PONG\r\n");
    assert_false(asker_ask(recall, &first));
    loop_step(loop, RECALL_REDIS_MS - 20);
    assert_false(asker_ask(recall, &second));
    hear(peer, "$-1\r\n");
    assert_int_equal(first.told, 1);
    loop_step(loop, RECALL_REDIS_MS - 1);
    assert_false(asker_ask(recall, &third));
    assert_int_equal(second.told, 0);
    loop_step(loop, 1);
    assert_int_equal(second.told, 1); /* as if it had nothing */
    assert_int_equal(second.query.result, RECALL_NOTHING);
    assert_int_equal(failures(recall), 1);
    assert_int_equal(third.told, 0);
    hear(peer, "$-1\r\n$-1\r\n"); /* the late one, which nobody waits for, and the next */
    assert_int_equal(second.told, 1);
    assert_int_equal(third.told, 1);
    assert_int_equal(failures(recall), 1);
    asker_leave(&first);
    asker_leave(&second);
    asker_leave(&third);
    close(peer);
    close(listener);
    shut(&recall);
}

static void a_name_is_looked_up_beside_the_loop(void **state)
{
    char url[64];
    snprintf(url, sizeof url, "redis://localhost:%d/", server.port);
    struct recall *named = open_to(url, 0);
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    for (int i = 0; i < TRIES && result_of(named, "k") != RECALL_KEPT; i++)
        pass(20);
    assert_int_equal(result_of(named, "k"), RECALL_KEPT);
    shut(&named);
    struct recall *unknown = open_to("redis://no-such-host.invalid:6379", 0);
    assert_int_equal(result_of(unknown, "k"), RECALL_NOTHING);
    shut(&unknown); /* while the name is being looked up */
}

static int start(void **state)
{
    clock_stop();
    server_start(&server, NULL);
    return 0;
}

static int end(void **state)
{
    server_end(&server);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_one_gateway_keeps_another_finds),
        TEST(a_gateway_that_has_just_started_knows_what_was_kept_before),
        TEST(redis_forgets_it_after_its_time),
        TEST(age_is_counted_from_when_it_was_made),
        TEST(a_word_holds_between_gateways),
        TEST(what_came_from_redis_is_kept_in_memory_for_what_is_left_of_its_time),
        TEST(a_large_answer_comes_back_as_it_was_and_one_too_large_is_not_sent),
        TEST(who_asks_while_redis_is_asked_shares_the_answer_in_the_end),
        TEST(who_leaves_while_redis_is_asked_is_not_told),
        TEST(a_redis_that_was_started_again_is_used_again),
        TEST(a_redis_that_hangs_is_waited_for_once_and_then_left_alone),
        TEST(a_redis_that_hangs_from_the_start_is_waited_for_once_too),
        TEST(questions_to_a_redis_that_hangs_are_bounded_and_all_let_go_at_once),
        TEST(garbage_under_our_keys_is_nothing),
        TEST(a_value_under_another_key_is_not_taken_for_its_own),
        TEST(a_wrong_password_costs_nothing_and_stands_in_no_log),
        TEST(one_that_speaks_otherwise_is_left_alone),
        TEST(one_that_is_late_but_alive_is_not_given_up),
        TEST(a_name_is_looked_up_beside_the_loop),
    };
    return cmocka_run_group_tests(tests, start, end);
}
