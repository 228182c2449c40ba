/* The URL of a Redis: what is understood, what is refused, and that no part of it is told. */
#include "redis/target.h"

#include "unit.h"

static struct redis_target target;

static bool parses(const char *url)
{
    struct status st = {0};
    bool good = redis_target_parse("store.url", url, &target, &st);
    if (!good) {
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_lacks(st.text, "s3cret");
        assert_contains(st.text, "store.url: ");
    }
    return good;
}

static void a_host_alone_is_enough(void **state)
{
    assert_true(parses("redis://cache"));
    assert_string_equal(target.host, "cache");
    assert_int_equal(target.port, 6379);
    assert_int_equal(target.database, 0);
    assert_string_equal(target.user, "");
    assert_string_equal(target.password, "");
}

static void all_parts_are_understood(void **state)
{
    assert_true(parses("redis://:s3cret@10.0.0.7:6380/5"));
    assert_string_equal(target.password, "s3cret");
    assert_string_equal(target.host, "10.0.0.7");
    assert_int_equal(target.port, 6380);
    assert_int_equal(target.database, 5);
    assert_true(parses("redis://renga:p%40s%2Fs3cret%25@[2001:db8::1]:7000/"));
    assert_string_equal(target.user, "renga");
    assert_string_equal(target.password, "p@s/s3cret%");
    assert_string_equal(target.host, "2001:db8::1");
    assert_int_equal(target.port, 7000);
    assert_true(parses("redis://[::1]/2"));
    assert_string_equal(target.host, "::1");
    assert_int_equal(target.database, 2);
}

static void tls_and_sockets_of_this_machine_are_understood(void **state)
{
    char place[REDIS_PLACE_MAX];
    struct sockaddr_storage address;
    socklen_t size;
    assert_true(parses("rediss://:s3cret@cache/3"));
    assert_true(target.tls);
    assert_int_equal(target.database, 3);
    assert_string_equal(redis_target_place(&target, place), "cache port 6379");
    assert_true(parses("unix:/run/redis.sock"));
    assert_false(target.tls);
    assert_string_equal(redis_target_place(&target, place), "/run/redis.sock");
    assert_true(redis_target_address(&target, &address, &size));
    assert_int_equal(address.ss_family, AF_UNIX);
}

static void what_is_malformed_is_refused_and_not_told(void **state)
{
    static const char *const wrong[] = {
        "",
        "cache:6379",
        "http://:s3cret@cache",
        "redis:cache",
        "unix:s3cret.sock",
        "unix:",
        "redis://",
        "redis:///1",
        "redis://:s3cret@",
        "redis://s3cret@cache",
        "redis://:s3cret%@cache",
        "redis://:s3cret%4@cache",
        "redis://:s3cret%zz@cache",
        "redis://:s3cret%00@cache",
        "redis://:s3cret@cache:",
        "redis://:s3cret@cache:0",
        "redis://:s3cret@cache:65536",
        "redis://:s3cret@cache:6379x",
        "redis://:s3cret@cache/one",
        "redis://:s3cret@cache/99999",
        "redis://:s3cret@[::1",
        "redis://:s3cret@[::1]6379",
    };
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (parses(wrong[i]))
            fail_msg("'%s' was taken", wrong[i]);
}

static void what_is_too_long_is_refused(void **state)
{
    static char url[4096];
    memset(url, 'a', sizeof url - 1);
    memcpy(url, "redis://", 8);
    assert_false(parses(url));
    memcpy(url, "redis://:", 9);
    memcpy(url + 3000, "@cache", 7);
    assert_false(parses(url));
    memcpy(url, "unix:/aaa", 9);
    assert_false(parses(url));
}

static void an_address_needs_no_lookup_and_a_name_does(void **state)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    assert_true(parses("redis://127.0.0.1:6379"));
    assert_true(redis_target_address(&target, &address, &size));
    assert_int_equal(address.ss_family, AF_INET);
    assert_true(parses("redis://[::1]:6379"));
    assert_true(redis_target_address(&target, &address, &size));
    assert_int_equal(address.ss_family, AF_INET6);
    assert_true(parses("redis://localhost:6379"));
    assert_false(redis_target_address(&target, &address, &size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_alone_is_enough),
        cmocka_unit_test(all_parts_are_understood),
        cmocka_unit_test(tls_and_sockets_of_this_machine_are_understood),
        cmocka_unit_test(what_is_malformed_is_refused_and_not_told),
        cmocka_unit_test(what_is_too_long_is_refused),
        cmocka_unit_test(an_address_needs_no_lookup_and_a_name_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
