/* Runs from their start to their end: steps, arrows, joins, reducers, limits, over a store in memory. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

static void a_run_of_one_node_comes_to_its_end(void **state)
{
    stage_set(&stage, "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}");
    char *run = start(&stage, "t", "");
    assert_run(&stage, run, SUCCEEDED, "{}");
    assert_int_equal(get(&stage, run)->step, 1);
    stage_clear(&stage);
}

static void nodes_write_one_after_the_other(void **state)
{
    stage_set(&stage, "\"state\": {\"q\": {\"type\": \"string\"}, \"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}},"
                      "\"start\": \"a\", \"nodes\": {"
                      "\"a\": {\"kind\": \"set\", \"values\": {\"n\": 2}, \"on\": {\"done\": \"b\"}},"
                      "\"b\": {\"kind\": \"set\", \"values\": {\"n\": 3}}}");
    char *run = start(&stage, "t", "{\"q\":\"x\"}");
    assert_run(&stage, run, SUCCEEDED, "{\"q\":\"x\",\"n\":5}");
    run = start(&stage, "t", "{\"q\":\"y\"}"); /* the thread remembers */
    assert_run(&stage, run, SUCCEEDED, "{\"q\":\"y\",\"n\":10}");
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_one_node_comes_to_its_end),
        cmocka_unit_test(nodes_write_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
