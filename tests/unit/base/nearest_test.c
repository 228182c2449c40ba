#include "base/nearest.h"

#include "unit.h"

#include <stdio.h>

static const char *find(const char *wanted)
{
    static const char *const names[] = {"rpc.listen", "rpc.limit", "llm.routes", "log.level", "x"};
    struct nearest nearest = nearest_to(wanted);
    for (size_t i = 0; i < COUNT(names); i++)
        nearest_try(&nearest, names[i]);
    return nearest.name != NULL ? nearest.name : "(none)";
}

static void slips_of_the_pen_are_mended(void **state)
{
    assert_string_equal(find("rpc.listem"), "rpc.listen");
    assert_string_equal(find("rcp.listen"), "rpc.listen");
    assert_string_equal(find("rpclisten"), "rpc.listen");
    assert_string_equal(find("llm.route"), "llm.routes");
    assert_string_equal(find("log.levle"), "log.level");
    assert_string_equal(find("rpc.limit"), "rpc.limit");

    struct nearest swapped = nearest_to("badc"); /* two swaps; four letters replaced would be too far */
    nearest_try(&swapped, "abcd");
    assert_string_equal(swapped.name, "abcd");
}

static void what_is_far_from_all_has_no_neighbour(void **state)
{
    char longer[500];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_string_equal(find("temperature"), "(none)");
    assert_string_equal(find("y"), "(none)");
    assert_string_equal(find(""), "(none)");
    assert_string_equal(find(longer), "(none)");
}

static void a_hint_names_the_nearest_or_the_first_names_that_fit(void **state)
{
    char name[16];
    struct nearest nearest = nearest_to("logs");
    assert_string_equal(nearest_hint(&nearest).text, "none is set up");
    nearest_try(&nearest, "listen");
    assert_string_equal(nearest_hint(&nearest).text, "there is 'listen'");
    nearest_try(&nearest, "limits-of-all");
    assert_string_equal(nearest_hint(&nearest).text, "there are 'listen', 'limits-of-all'");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "far-away-%d", i);
        nearest_try(&nearest, name);
    }
    assert_contains(nearest_hint(&nearest).text, "there are 'listen', 'limits-of-all', 'far-away-0'");
    assert_contains(nearest_hint(&nearest).text, " more");
    nearest_try(&nearest, "log");
    assert_string_equal(nearest_hint(&nearest).text, "did you mean 'log'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_of_the_pen_are_mended),
        cmocka_unit_test(what_is_far_from_all_has_no_neighbour),
        cmocka_unit_test(a_hint_names_the_nearest_or_the_first_names_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
