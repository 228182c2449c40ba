/* Two threads find, hold and release while a third reloads: whoever holds reads a whole agent. */
#include "unit.h"

#include "agent_fixture.h"

#include <pthread.h>

#define FINDS      2000
#define RELOADS    40
#define GOOD(node) "{\"agent\": \"x\", \"start\": \"" node "\", \"nodes\": {\"" node "\": {\"kind\": \"noop\"}}}"

static void *find_and_release(void *data)
{
    struct agents *agents = data;
    for (unsigned i = 0; i < FINDS; i++) {
        struct status st = {0};
        struct agent *agent = agents_find(agents, "x", NULL, &st);
        assert_non_null(agent);
        agent_hold(agent);
        struct agent *again = agents_find(agents, "x", agent->version, &st);
        assert_ptr_equal(again, agent);
        const char *name = agent->graph->nodes[0].name;
        assert_true(strcmp(name, "first") == 0 || strcmp(name, "second") == 0);
        agent_release(agents, agent);
        agent_release(agents, again);
        agent_release(agents, agent);
    }
    return NULL;
}

static void *bring_back(void *data)
{
    struct agents *agents = data;
    static const char bundle[] = "{\"graph\":" GOOD("kept") ",\"prompts\":{}}";
    for (unsigned i = 0; i < FINDS / 10; i++) {
        struct status st = {0};
        struct agent *agent = agents_of_bundle(agents, bundle, strlen(bundle), &st);
        assert_non_null(agent);
        assert_string_equal(agent->graph->nodes[0].name, "kept");
        agent_release(agents, agent);
    }
    return NULL;
}

static void agents_are_held_and_released_while_they_are_reloaded(void **state)
{
    struct house house = house_open();
    pthread_t threads[4];
    house_write(&house, "x/graph.json", GOOD("first"));
    house_load(&house);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_create(&threads[i], NULL, i < 2 ? find_and_release : bring_back, house.agents);
    for (unsigned i = 0; i < RELOADS; i++) {
        house_write(&house, "x/graph.json", i & 1 ? GOOD("first") : GOOD("second"));
        house_load(&house);
    }
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    house_close(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_are_held_and_released_while_they_are_reloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
