/* Lookups of names, where the name server hangs: getaddrinfo is this program's own, and waits to be let go. */
#include "redis/link.h"

#include "base/clock.h"

#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static atomic_uint asleep;
static atomic_bool let_go;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    (void)service;
    (void)found;
    if (hints->ai_flags & AI_NUMERICHOST || strcmp(name, "hangs.test") != 0)
        return EAI_NONAME;
    atomic_fetch_add(&asleep, 1);
    while (!atomic_load(&let_go))
        usleep(1000);
    atomic_fetch_sub(&asleep, 1);
    return EAI_AGAIN;
}

static void wait_for(unsigned wanted)
{
    for (int ms = 0; atomic_load(&asleep) != wanted && ms < 10000; ms++)
        usleep(1000);
    assert_int_equal(atomic_load(&asleep), wanted);
}

static void lookups_that_hang_are_bounded_and_end_with_the_name_server(void **state)
{
    struct redis_target target;
    struct status st = {0};
    struct sockaddr_storage address;
    socklen_t size;
    assert_true(redis_target_parse("store", "redis://hangs.test", &target, &st));
    for (unsigned i = 0; i < REDIS_LOOKUPS_MAX; i++) {
        struct redis_lookup *lookup = redis_lookup_start(&target);
        assert_non_null(lookup);
        redis_lookup_drop(&lookup);
    }
    wait_for(REDIS_LOOKUPS_MAX);
    assert_null(redis_lookup_start(&target));
    const struct redis_link_options options = {.target = &target, .silence_ms = 1000, .request_max = 1000};
    assert_null(redis_link_open(&options, clock_now_ns() + NS_PER_SEC, &st));
    assert_int_equal(st.code, UNAVAILABLE);
    assert_non_null(strstr(st.text, "too many lookups hang"));
    assert_int_equal(atomic_load(&asleep), REDIS_LOOKUPS_MAX);

    struct redis_lookup *lookup = NULL;
    atomic_store(&let_go, true);
    wait_for(0);
    for (int ms = 0; !lookup && ms < 10000; ms++, usleep(1000)) /* until the threads have ended */
        lookup = redis_lookup_start(&target);
    assert_non_null(lookup);
    for (int ms = 0; !redis_lookup_done(lookup, &address, &size) && ms < 10000; ms++)
        usleep(1000);
    assert_true(redis_lookup_done(lookup, &address, &size));
    assert_int_equal(size, 0);
    redis_lookup_drop(&lookup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_that_hang_are_bounded_and_end_with_the_name_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
