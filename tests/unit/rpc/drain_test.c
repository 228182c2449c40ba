/* How long services go on while their server drains. The drain itself is tests/integration/rpc/drain.py. */
#include "rpc/drain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void services_go_on_until_no_client_can_use_a_connection(void **state)
{
    static const struct {
        int64_t limit_ms, age_ms, idle_ms;
    } cases[] = {
        {20000, 10000, 11500}, /* as configured when no option says otherwise */
        {12000, 10000, 11500}, /* 500 ms are left for services to leave */
        {11999, 10000, 5999},  /* less: half of the limit */
        {2000, 10000, 1000},   {60000, 10000, 30000}, {12000, 0, 10000}, {10000, 0, 5000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rpc_drain_idle_ms(cases[i].limit_ms, cases[i].age_ms), cases[i].idle_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_go_on_until_no_client_can_use_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
