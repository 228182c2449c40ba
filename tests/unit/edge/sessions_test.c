#include "sessions.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define IDLE_MS 1000
#define MAX_MS  5000

static char key[SESSION_KEY_SIZE];

static bool is_there(struct sessions *sessions, const char *id)
{
    return sessions_find(sessions, id, strlen(id), key);
}

static void a_session_gives_its_key_until_it_ends(void **state)
{
    struct sessions *sessions = sessions_create(IDLE_MS, MAX_MS, NULL);
    char id[SESSION_ID_SIZE], other[SESSION_ID_SIZE];
    assert_true(sessions_begin(sessions, "Bearer a", id));
    assert_true(sessions_begin(sessions, "Bearer b", other));
    assert_int_equal(strlen(id), 64);
    assert_string_not_equal(id, other);
    assert_true(is_there(sessions, id));
    assert_string_equal(key, "Bearer a");
    id[0] = id[0] == 'a' ? 'b' : 'a';
    assert_false(is_there(sessions, id));
    assert_false(is_there(sessions, ""));
    sessions_end(sessions, other, strlen(other));
    assert_false(is_there(sessions, other));
    assert_int_equal(sessions_count(sessions), 1);
    sessions_destroy(&sessions);
}

static void one_that_nobody_uses_ends_and_so_does_an_old_one(void **state)
{
    clock_stop();
    struct sessions *sessions = sessions_create(IDLE_MS, MAX_MS, NULL);
    char id[SESSION_ID_SIZE];
    assert_true(sessions_begin(sessions, "Bearer a", id));
    for (int i = 0; i < 5; i++) {
        clock_step(900 * NS_PER_MS);
        assert_true(is_there(sessions, id));
    }
    clock_step(900 * NS_PER_MS);
    assert_false(is_there(sessions, id)); /* 5.4 s */
    assert_true(sessions_begin(sessions, "Bearer a", id));
    clock_step(1100 * NS_PER_MS);
    assert_false(is_there(sessions, id));
    assert_int_equal(sessions_count(sessions), 0);
    sessions_destroy(&sessions);
}

static void the_sessions_of_a_key_are_bounded(void **state)
{
    struct sessions *sessions = sessions_create(IDLE_MS * 1000, MAX_MS * 1000, NULL);
    char first[SESSION_ID_SIZE], other[SESSION_ID_SIZE], id[SESSION_ID_SIZE];
    assert_true(sessions_begin(sessions, "Bearer other", other));
    assert_true(sessions_begin(sessions, "Bearer a", first));
    for (int i = 0; i < SESSIONS_PER_KEY; i++) {
        clock_step(NS_PER_MS);
        assert_true(sessions_begin(sessions, "Bearer a", id));
    }
    assert_false(is_there(sessions, first));
    assert_true(is_there(sessions, other));
    assert_true(is_there(sessions, id));
    assert_int_equal(sessions_count(sessions), SESSIONS_PER_KEY + 1);
    sessions_destroy(&sessions);
}

static void a_sealed_session_holds_in_each_process_with_the_same_secret_until_it_ends_or_is_idle(void **state)
{
    const char *secret = "0123456789abcdef0123456789abcdef";
    struct sessions *here = sessions_create(IDLE_MS * 100, MAX_MS * 100, secret);
    struct sessions *there = sessions_create(IDLE_MS * 100, MAX_MS * 100, secret);
    struct sessions *other = sessions_create(IDLE_MS * 100, MAX_MS * 100, "another secret of the same length");
    char id[SESSION_ID_SIZE], renewed[SESSION_ID_SIZE];
    assert_true(sessions_begin(here, "Bearer a", id));
    assert_null(strstr(id, "Bearer"));
    assert_true(is_there(here, id));
    assert_true(is_there(there, id));
    assert_string_equal(key, "Bearer a");
    assert_false(is_there(other, id));
    for (size_t i = 0; id[i]; i++) { /* no byte of it may be changed */
        char before = id[i];
        id[i] = before == 'A' ? 'B' : 'A';
        assert_false(is_there(there, id) && i + 4 < strlen(id));
        id[i] = before;
    }
    assert_false(sessions_renew(there, id, strlen(id), renewed));
    clock_wall_step(90 * NS_PER_SEC);
    assert_true(sessions_renew(there, id, strlen(id), renewed));
    clock_wall_step(20 * NS_PER_SEC);
    assert_false(is_there(here, id));
    assert_true(is_there(here, renewed));
    sessions_end(here, renewed, strlen(renewed));
    assert_false(is_there(here, renewed));
    assert_int_equal(sessions_count(here), 0);
    clock_step(150 * NS_PER_SEC); /* longer than an idle one lasts: a copy may have been renewed elsewhere */
    clock_wall_step(60 * NS_PER_SEC);
    assert_true(sessions_renew(there, renewed, strlen(renewed), id));
    assert_true(is_there(there, id));
    assert_false(is_there(here, id));
    for (int i = 0; i < 8; i++) { /* renewed again and again, until the longest time is over */
        clock_wall_step(60 * NS_PER_SEC);
        if (sessions_renew(there, renewed, strlen(renewed), id))
            strcpy(renewed, id);
    }
    assert_false(is_there(there, renewed));
    sessions_destroy(&here);
    sessions_destroy(&there);
    sessions_destroy(&other);
}

static void the_longest_key_fits_into_a_sealed_session(void **state)
{
    struct sessions *sessions = sessions_create(IDLE_MS, MAX_MS, "0123456789abcdef0123456789abcdef");
    char authorization[SESSION_KEY_SIZE], id[SESSION_ID_SIZE];
    memset(authorization, 'k', sizeof authorization);
    authorization[SESSION_KEY_SIZE - 1] = '\0';
    assert_true(sessions_begin(sessions, authorization, id));
    assert_true(is_there(sessions, id));
    assert_string_equal(key, authorization);
    sessions_destroy(&sessions);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_gives_its_key_until_it_ends),
        cmocka_unit_test(one_that_nobody_uses_ends_and_so_does_an_old_one),
        cmocka_unit_test(the_sessions_of_a_key_are_bounded),
        cmocka_unit_test(a_sealed_session_holds_in_each_process_with_the_same_secret_until_it_ends_or_is_idle),
        cmocka_unit_test(the_longest_key_fits_into_a_sealed_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
