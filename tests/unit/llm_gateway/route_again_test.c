/* The document of the routes, read again: what stays the same stands as it did, the rest begins anew. */
#include "upstream/standing_priv.h"

#include "base/clock.h"

#include "unit.h"

#include "route_fixture.h"

static const char FIRST[] =
    "{\"deployments\": {\"a\": {\"upstream\": \"http://127.0.0.1:1/v1\", \"key\": \"one\", \"limits\": "
    "{\"concurrency\": 1}},"
    " \"b\": {\"upstream\": \"http://127.0.0.1:2/v1\"}},"
    " \"models\": {\"m\": {\"targets\": [{\"deployment\": \"a\"}]}, \"n\": {\"targets\": [{\"deployment\": \"b\"}]}}}";

static struct routing first, second;
static struct standing_place place;

static void read_again(const char *document)
{
    routing_write(&second, document);
    routing_configure(&second, NULL);
    second.routes = routes_create(second.config, first.routes, &second.st);
}

static struct standing *standing_in(const struct routing *routing, const char *model)
{
    const struct route *route = routes_named(routing->routes, model);
    assert_non_null(route);
    return route->targets[0].standing;
}

static enum standing_refusal take(struct standing *standing)
{
    int64_t wait_ms;
    return standing_take(standing, clock_now_ns(), 0, &place, &wait_ms);
}

static void give_back(struct standing *standing, enum standing_verdict verdict)
{
    standing_give_back(standing, clock_now_ns(), &(struct standing_report){.verdict = verdict, .place = place});
}

static int read_first(void **state)
{
    routing_of(&first, FIRST);
    assert_non_null(first.routes);
    return 0;
}

static int end_both(void **state)
{
    routing_end(&first);
    routing_end(&second);
    return 0;
}

static void a_deployment_that_stays_stands_as_it_did(void **state)
{
    struct standing *old = standing_in(&first, "n");
    for (int i = 0; i < BREAKER_FAILURES; i++) {
        assert_int_equal(take(old), STANDING_FREE);
        give_back(old, STANDING_BAD);
    }
    standing_learn(old, 5);
    read_again("{\"deployments\": {\"b\": {\"upstream\": \"http://127.0.0.1:2/v1\"}},"
               " \"models\": {\"renamed\": {\"targets\": [{\"deployment\": \"b\", \"model\": \"n\"}]}}}");
    struct standing *now = standing_in(&second, "renamed");
    assert_int_equal(take(now), STANDING_BROKEN);
    assert_int_equal(standing_left_out(now), 5);
}

static void another_place_or_key_begins_anew(void **state)
{
    static const char *const documents[] = {
        "{\"deployments\": {\"b\": {\"upstream\": \"http://127.0.0.1:3/v1\"}},"
        " \"models\": {\"n\": {\"targets\": [{\"deployment\": \"b\"}]}}}",
        "{\"deployments\": {\"b\": {\"upstream\": \"http://127.0.0.1:2/v1\", \"key\": \"two\"}},"
        " \"models\": {\"n\": {\"targets\": [{\"deployment\": \"b\"}]}}}",
        "{\"deployments\": {\"b\": {\"upstream\": \"http://127.0.0.1:2/v1\", \"provider\": \"ollama\"}},"
        " \"models\": {\"n\": {\"targets\": [{\"deployment\": \"b\"}]}}}",
        "{\"deployments\": {\"b\": {\"upstream\": \"http://127.0.0.1:2/v1\"}},"
        " \"models\": {\"n\": {\"targets\": [{\"deployment\": \"b\", \"model\": \"other\"}]}}}",
    };
    standing_learn(standing_in(&first, "n"), 5);
    for (size_t i = 0; i < COUNT(documents); i++) {
        read_again(documents[i]);
        assert_int_equal(standing_left_out(standing_in(&second, "n")), 0);
        if (i + 1 < COUNT(documents))
            routing_end(&second);
    }
}

static void limits_count_once_they_are_enforced(void **state)
{
    struct standing *old = standing_in(&first, "m");
    assert_int_equal(take(old), STANDING_FREE);
    read_again("{\"deployments\": {\"a\": {\"upstream\": \"http://127.0.0.1:1/v1\", \"key\": \"one\", \"limits\": "
               "{\"concurrency\": 2}}}, \"models\": {\"m\": {\"targets\": [{\"deployment\": \"a\"}]}}}");
    assert_int_equal(take(old), STANDING_BUSY);
    routes_enforce(second.routes);
    assert_int_equal(take(old), STANDING_FREE);
    assert_int_equal(take(standing_in(&second, "m")), STANDING_BUSY);
    routes_destroy(&first.routes); /* what is under way ends on the other's */
    give_back(standing_in(&second, "m"), STANDING_GOOD);
    give_back(standing_in(&second, "m"), STANDING_GOOD);
}

static void a_wrong_document_changes_nothing(void **state)
{
    read_again("{\"deployments\": {\"a\": {\"upstream\": \"http://127.0.0.1:1/v1\", \"key\": \"one\", \"limits\": "
               "{\"concurrency\": 2}}},\n\"models\": {\"m\": {\"targets\": [{\"deployment\": \"c\"}]}}}");
    assert_null(second.routes);
    assert_contains(second.st.text, ":2:");
    assert_contains(second.st.text, "there is no deployment 'c'");
    assert_int_equal(take(standing_in(&first, "m")), STANDING_FREE);
    struct standing_place held = place;
    assert_int_equal(take(standing_in(&first, "m")), STANDING_BUSY);
    place = held;
    give_back(standing_in(&first, "m"), STANDING_GOOD);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, read_first, end_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_deployment_that_stays_stands_as_it_did),
        TEST(another_place_or_key_begins_anew),
        TEST(limits_count_once_they_are_enforced),
        TEST(a_wrong_document_changes_nothing),
    };
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
