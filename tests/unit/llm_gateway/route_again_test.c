/* The document of the routes, read again: what stays the same stands as it did, the rest begins anew. */
#include "upstream/endpoint_health_priv.h"

#include "base/clock.h"

#include "unit.h"

#include "route_fixture.h"

static const char FIRST[] =
    "{\"deployments\": {\"a\": {\"upstream\": \"http://127.0.0.1:1/v1\", \"key\": \"one\", \"limits\": "
    "{\"concurrency\": 1}},"
    " \"b\": {\"upstream\": \"http://127.0.0.1:2/v1\"}},"
    " \"models\": {\"m\": {\"targets\": [{\"deployment\": \"a\"}]}, \"n\": {\"targets\": [{\"deployment\": \"b\"}]}}}";

static struct routing first, second;
static struct endpoint_slot place;

static void read_again(const char *document)
{
    routing_write(&second, document);
    routing_configure(&second, NULL);
    second.routes = routes_create(second.config, first.routes, &second.st);
}

static struct endpoint_health *health_in(const struct routing *routing, const char *model)
{
    const struct route *route = routes_named(routing->routes, model);
    assert_non_null(route);
    return route->targets[0].health;
}

static enum endpoint_refusal take(struct endpoint_health *health)
{
    int64_t wait_ms;
    return endpoint_health_acquire(health, clock_now_ns(), 0, &place, &wait_ms);
}

static void give_back(struct endpoint_health *health, enum endpoint_verdict verdict)
{
    endpoint_health_release(health, clock_now_ns(), &(struct endpoint_report){.verdict = verdict, .place = place});
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
    struct endpoint_health *old = health_in(&first, "n");
    for (int i = 0; i < BREAKER_FAILURES; i++) {
        assert_int_equal(take(old), ENDPOINT_AVAILABLE);
        give_back(old, ENDPOINT_FAILED);
    }
    endpoint_health_refuse_parameters(old, 5);
    read_again("{\"deployments\": {\"b\": {\"upstream\": \"http://127.0.0.1:2/v1\"}},"
               " \"models\": {\"renamed\": {\"targets\": [{\"deployment\": \"b\", \"model\": \"n\"}]}}}");
    struct endpoint_health *now = health_in(&second, "renamed");
    assert_int_equal(take(now), ENDPOINT_CIRCUIT_OPEN);
    assert_int_equal(endpoint_health_refused_parameters(now), 5);
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
    endpoint_health_refuse_parameters(health_in(&first, "n"), 5);
    for (size_t i = 0; i < COUNT(documents); i++) {
        read_again(documents[i]);
        assert_int_equal(endpoint_health_refused_parameters(health_in(&second, "n")), 0);
        if (i + 1 < COUNT(documents))
            routing_end(&second);
    }
}

static void limits_count_once_they_are_enforced(void **state)
{
    struct endpoint_health *old = health_in(&first, "m");
    assert_int_equal(take(old), ENDPOINT_AVAILABLE);
    read_again("{\"deployments\": {\"a\": {\"upstream\": \"http://127.0.0.1:1/v1\", \"key\": \"one\", \"limits\": "
               "{\"concurrency\": 2}}}, \"models\": {\"m\": {\"targets\": [{\"deployment\": \"a\"}]}}}");
    assert_int_equal(take(old), ENDPOINT_SATURATED);
    routes_enforce(second.routes);
    assert_int_equal(take(old), ENDPOINT_AVAILABLE);
    assert_int_equal(take(health_in(&second, "m")), ENDPOINT_SATURATED);
    routes_destroy(&first.routes); /* what is under way ends on the other's */
    give_back(health_in(&second, "m"), ENDPOINT_SUCCEEDED);
    give_back(health_in(&second, "m"), ENDPOINT_SUCCEEDED);
}

static void a_wrong_document_changes_nothing(void **state)
{
    read_again("{\"deployments\": {\"a\": {\"upstream\": \"http://127.0.0.1:1/v1\", \"key\": \"one\", \"limits\": "
               "{\"concurrency\": 2}}},\n\"models\": {\"m\": {\"targets\": [{\"deployment\": \"c\"}]}}}");
    assert_null(second.routes);
    assert_contains(second.st.text, ":2:");
    assert_contains(second.st.text, "there is no deployment 'c'");
    assert_int_equal(take(health_in(&first, "m")), ENDPOINT_AVAILABLE);
    struct endpoint_slot held = place;
    assert_int_equal(take(health_in(&first, "m")), ENDPOINT_SATURATED);
    place = held;
    give_back(health_in(&first, "m"), ENDPOINT_SUCCEEDED);
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
