/* A Redis that is lost, hangs or is slow, holds garbage, or is none at all; and a wrong password. */
#include "unit.h"

#include "response_cache_redis_fixture.h"

/* ---- Redis at fault ---------------------------------------------------------------------------------------------- */

static void a_redis_that_was_started_again_is_used_again(void **state)
{
    assert_int_equal(result_of(ours, "k"), RESPONSE_CACHE_MISS);
    server_kill(&server);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(result_of(ours, "k"), RESPONSE_CACHE_MISS);
        pass(60);
    }
    assert_true(failures(ours) > 0);
    server_run(&server);
    for (int i = 0; i < 600 && result_of(theirs, "k") != RESPONSE_CACHE_HIT; i++) {
        struct asker asker = asker_of(loop, "k");
        asker.query.reads = false;
        asker_ask(ours, &asker);
        asker_answer(&asker, "text", MINUTE_MS);
        pass(20);
    }
    assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_HIT);
}

static void a_redis_that_hangs_is_waited_for_once_and_then_left_alone(void **state)
{
    struct asker asker = asker_of(loop, "k");
    assert_int_equal(result_of(ours, "k"), RESPONSE_CACHE_MISS);
    kill(server.pid, SIGSTOP);
    assert_false(asker_ask(ours, &asker));
    loop_step(loop, RESPONSE_CACHE_REDIS_MS - 1);
    assert_int_equal(asker.told, 0);
    loop_step(loop, 1);
    assert_int_equal(asker.told, 1);
    assert_int_equal(asker.query.result, RESPONSE_CACHE_MISS);
    asker_leave(&asker);
    for (int i = 0; i < 200; i++) { /* twenty seconds, with all the connecting that goes on */
        assert_true(asker_ask(ours, &asker));
        asker_leave(&asker);
        pass(100);
    }
    kill(server.pid, SIGCONT);
    keep(theirs, asker, "k", "text", MINUTE_MS);
    for (int i = 0; i < 200 && result_of(ours, "k") != RESPONSE_CACHE_HIT; i++) {
        pass(100);
        usleep(10000); /* Redis has real things to do */
    }
    assert_int_equal(result_of(ours, "k"), RESPONSE_CACHE_HIT);

    kill(server.pid, SIGSTOP); /* it was well: the next rest is short again */
    assert_false(asker_ask(ours, &asker));
    loop_step(loop, RESPONSE_CACHE_REDIS_MS);
    asker_leave(&asker);
    kill(server.pid, SIGCONT);
    pass(200);
    for (int i = 0; i < TRIES && result_of(ours, "k") != RESPONSE_CACHE_HIT; i++) /* no more time passes in here */
        usleep(1000);
    assert_int_equal(result_of(ours, "k"), RESPONSE_CACHE_HIT);
}

static void a_redis_that_hangs_from_the_start_is_waited_for_once_too(void **state)
{
    struct asker asker = asker_of(loop, "k");
    kill(server.pid, SIGSTOP);
    struct response_cache *fresh = open_cache(0);
    assert_false(asker_ask(fresh, &asker));
    loop_step(loop, RESPONSE_CACHE_REDIS_MS);
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
    assert_int_equal(result_of(ours, "k"), RESPONSE_CACHE_MISS);
    kill(server.pid, SIGSTOP);
    for (size_t i = 0; i < COUNT(askers); i++) {
        char key[16];
        snprintf(key, sizeof key, "k%zu", i);
        askers[i] = asker_of(loop, key);
        waiting += !asker_ask(ours, &askers[i]);
    }
    assert_int_equal(waiting, 256);
    loop_step(loop, RESPONSE_CACHE_REDIS_MS);
    kill(server.pid, SIGCONT);
    for (size_t i = 0; i < COUNT(askers); i++) {
        told += askers[i].told;
        assert_int_equal(askers[i].query.result, RESPONSE_CACHE_MISS);
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
        assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_HIT);
        say(spoilt[i], "k");
        assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_MISS);
        say("DEL %s", "k");
    }
    assert_int_equal(failures(theirs), 0);
    say("LPUSH %s a b c", "k");
    assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_MISS);
    assert_int_equal(failures(theirs), 1);
    say("DEL %s", "k");
    keep(ours, asker, "k", "text", MINUTE_MS);
    assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_HIT);
}

static void a_value_under_another_key_is_not_taken_for_its_own(void **state)
{
    char from[128], to[128], command[300];
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    name_of("k", from);
    name_of("other", to);
    snprintf(command, sizeof command, "COPY %s %s", from, to);
    assert_string_equal(server_say(&server, command), ":1\r\n");
    assert_int_equal(result_of(theirs, "other"), RESPONSE_CACHE_MISS);
}

/* ---- passwords --------------------------------------------------------------------------------------------------- */

/* SETRANGE of one byte. */
static void set_byte(const char *key, size_t at, uint8_t byte)
{
    char format[64];
    snprintf(format, sizeof format, "SETRANGE %%s %zu \"\\x%02x\"", at, byte);
    assert_int_equal(say(format, key)[0], ':');
}

static void a_value_with_a_flipped_bit_is_a_miss_and_never_another_answer(void **state)
{
    uint8_t value[256];
    struct asker asker = asker_of(loop, "k");
    keep(ours, asker, "k", "the answer of the model", MINUTE_MS);
    const char *reply = say("GET %s", "k");
    size_t size = (size_t)atoi(reply + 1);
    assert_in_range(size, 1, sizeof value);
    memcpy(value, strchr(reply, '\n') + 1, size);
    for (size_t at = 0; at < size; at++) {
        set_byte("k", at, value[at] ^ (uint8_t)(1 << at % 8));
        assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_MISS);
        set_byte("k", at, value[at]);
    }
    assert_int_equal(ask(theirs, &asker), RESPONSE_CACHE_HIT);
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, "the answer of the model"));
    asker_leave(&asker);
    assert_int_equal(failures(theirs), 0);
}

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
    struct response_cache *wrong = open_to(url, 0);
    enum response_cache_result first = ask(wrong, &asker);
    asker_leave(&asker);
    bool at_once = asker_ask(wrong, &asker);
    asker_leave(&asker);
    snprintf(url, sizeof url, "redis://:right%%2Dsecret@127.0.0.1:%d/3", guarded.port);
    struct response_cache *right = open_to(url, 0);
    asker.query.reads = false;
    asker_ask(right, &asker);
    asker_answer(&asker, "text", MINUTE_MS);
    asker.query.reads = true;
    enum response_cache_result kept = ask(right, &asker);
    asker_leave(&asker);
    snprintf(url, sizeof url, "redis://:right-secret@127.0.0.1:%d", guarded.port);
    struct response_cache *elsewhere = open_to(url, 0);
    enum response_cache_result kept_elsewhere = ask(elsewhere, &asker);
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
    assert_int_equal(first, RESPONSE_CACHE_MISS);
    assert_true(at_once);
    assert_int_equal(kept, RESPONSE_CACHE_HIT);
    assert_int_equal(kept_elsewhere, RESPONSE_CACHE_MISS); /* another database */
    assert_contains(log, "refuses the user or password");
    assert_lacks(log, "secret");
}

/* ---- who is no Redis --------------------------------------------------------------------------------------------- */

/* Says `text` to whoever connects; then the cache is asked, and goes on without it. */
static void meet(const char *text, size_t times)
{
    char url[64];
    int port, listener = server_bind(&port, 4);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    struct response_cache *cache = open_to(url, 0);
    int peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0);
    for (size_t i = 0; i < times; i++) {
        if (send(peer, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            usleep(200);
        loop_step(loop, 0);
    }
    for (int i = 0; i < TRIES && !failures(cache); i++) {
        loop_step(loop, 0);
        usleep(1000);
    }
    struct asker asker = asker_of(loop, "k");
    assert_true(asker_ask(cache, &asker));
    assert_int_equal(asker.query.result, RESPONSE_CACHE_MISS);
    asker_leave(&asker);
    assert_true(failures(cache) > 0);
    close(peer);
    close(listener);
    shut(&cache);
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
    struct response_cache *cache = open_to(url, 0);
    int peer = accept(listener, NULL, NULL);
    hear(peer, "+PONG\r\n");
    assert_false(asker_ask(cache, &first));
    loop_step(loop, RESPONSE_CACHE_REDIS_MS - 20);
    assert_false(asker_ask(cache, &second));
    hear(peer, "$-1\r\n");
    assert_int_equal(first.told, 1);
    loop_step(loop, RESPONSE_CACHE_REDIS_MS - 1);
    assert_false(asker_ask(cache, &third));
    assert_int_equal(second.told, 0);
    loop_step(loop, 1);
    assert_int_equal(second.told, 1); /* as if it had nothing */
    assert_int_equal(second.query.result, RESPONSE_CACHE_MISS);
    assert_int_equal(failures(cache), 1);
    assert_int_equal(third.told, 0);
    hear(peer, "$-1\r\n$-1\r\n"); /* the late one, which nobody waits for, and the next */
    assert_int_equal(second.told, 1);
    assert_int_equal(third.told, 1);
    assert_int_equal(failures(cache), 1);
    asker_leave(&first);
    asker_leave(&second);
    asker_leave(&third);
    close(peer);
    close(listener);
    shut(&cache);
}

static void a_name_is_looked_up_beside_the_loop(void **state)
{
    char url[64];
    snprintf(url, sizeof url, "redis://localhost:%d/", server.port);
    struct response_cache *named = open_to(url, 0);
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    for (int i = 0; i < TRIES && result_of(named, "k") != RESPONSE_CACHE_HIT; i++)
        pass(20);
    assert_int_equal(result_of(named, "k"), RESPONSE_CACHE_HIT);
    shut(&named);
    struct response_cache *unknown = open_to("redis://no-such-host.invalid:6379", 0);
    assert_int_equal(result_of(unknown, "k"), RESPONSE_CACHE_MISS);
    shut(&unknown); /* while the name is being looked up */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_redis_that_was_started_again_is_used_again),
        TEST(a_redis_that_hangs_is_waited_for_once_and_then_left_alone),
        TEST(a_redis_that_hangs_from_the_start_is_waited_for_once_too),
        TEST(questions_to_a_redis_that_hangs_are_bounded_and_all_let_go_at_once),
        TEST(garbage_under_our_keys_is_nothing),
        TEST(a_value_under_another_key_is_not_taken_for_its_own),
        TEST(a_value_with_a_flipped_bit_is_a_miss_and_never_another_answer),
        TEST(a_wrong_password_costs_nothing_and_stands_in_no_log),
        TEST(one_that_speaks_otherwise_is_left_alone),
        TEST(one_that_is_late_but_alive_is_not_given_up),
        TEST(a_name_is_looked_up_beside_the_loop),
    };
    return cmocka_run_group_tests(tests, start, end);
}
