/* What libgrpc makes of our service config, counted by a scripted peer: a config that it does not like is ignored
 * without a word. */
#include "rpc/service_config.h"

#include "rpc/schema.h"

#include "core_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define IDEMPOTENT     "/renga.test.schema.Desk/Ask"
#define NOT_IDEMPOTENT "/renga.test.schema.Desk/Change"

static uint8_t set[1u << 16];
static char *config;

static int config_make(void **state)
{
    struct status st;
    FILE *file = fopen(SCHEMA_SET, "rb");
    assert_non_null(file);
    size_t size = fread(set, 1, sizeof set, file);
    fclose(file);
    struct rpc_schema *schema = rpc_schema_load(set, size, &st);
    assert_non_null(schema);
    config = rpc_service_config(schema);
    rpc_schema_destroy(&schema);
    grpc_init();
    return config == NULL;
}

static int config_free(void **state)
{
    free(config);
    grpc_shutdown_blocking();
    return 0;
}

static grpc_arg text(const char *key, char *value)
{
    return (grpc_arg){.type = GRPC_ARG_STRING, .key = (char *)(uintptr_t)key, .value.string = value};
}

static grpc_arg number(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

static grpc_channel *channel_to(const struct core_peer *first, const struct core_peer *second)
{
    char target[64];
    int length = snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", first->port);
    if (second)
        snprintf(target + length, sizeof target - (size_t)length, ",127.0.0.1:%d", second->port);
    grpc_arg list[] = {text(GRPC_ARG_SERVICE_CONFIG, config), number(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
                       number(GRPC_ARG_ENABLE_HTTP_PROXY, 0), number(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1)};
    grpc_channel_args arguments = {.num_args = sizeof list / sizeof list[0], .args = list};
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    grpc_channel *channel = grpc_channel_create(target, credentials, &arguments);
    grpc_channel_credentials_release(credentials);
    return channel;
}

static void start(struct core_peer *peer)
{
    assert_true(core_peer_start(peer, grpc_insecure_server_credentials_create(), 0));
}

static const grpc_status_code twice_unavailable[] = {GRPC_STATUS_UNAVAILABLE, GRPC_STATUS_UNAVAILABLE, GRPC_STATUS_OK};

static void an_idempotent_call_is_sent_again_until_it_succeeds(void **state)
{
    struct core_peer peer = {.script = twice_unavailable, .script_length = 3};
    start(&peer);
    grpc_channel *channel = channel_to(&peer, NULL);
    assert_int_equal(core_call(channel, IDEMPOTENT, 5000), GRPC_STATUS_OK);
    assert_int_equal(peer.calls, 3);
    grpc_channel_destroy(channel);
    core_peer_stop(&peer);
}

static void any_other_call_is_sent_once(void **state)
{
    struct core_peer peer = {.script = twice_unavailable, .script_length = 3};
    start(&peer);
    grpc_channel *channel = channel_to(&peer, NULL);
    assert_int_equal(core_call(channel, NOT_IDEMPOTENT, 5000), GRPC_STATUS_UNAVAILABLE);
    assert_int_equal(peer.calls, 1);
    grpc_channel_destroy(channel);
    core_peer_stop(&peer);
}

static void a_failure_of_another_kind_is_not_repeated(void **state)
{
    static const grpc_status_code script[] = {GRPC_STATUS_INTERNAL, GRPC_STATUS_OK};
    struct core_peer peer = {.script = script, .script_length = 2};
    start(&peer);
    grpc_channel *channel = channel_to(&peer, NULL);
    assert_int_equal(core_call(channel, IDEMPOTENT, 5000), GRPC_STATUS_INTERNAL);
    assert_int_equal(peer.calls, 1);
    grpc_channel_destroy(channel);
    core_peer_stop(&peer);
}

static void retries_end_after_four_attempts_and_when_the_budget_is_spent(void **state)
{
    static const grpc_status_code script[] = {GRPC_STATUS_UNAVAILABLE};
    struct core_peer peer = {.script = script, .script_length = 1};
    start(&peer);
    grpc_channel *channel = channel_to(&peer, NULL);
    assert_int_equal(core_call(channel, IDEMPOTENT, 5000), GRPC_STATUS_UNAVAILABLE);
    assert_int_equal(peer.calls, 4);
    for (int i = 0; i < 10; i++)
        assert_int_equal(core_call(channel, IDEMPOTENT, 5000), GRPC_STATUS_UNAVAILABLE);
    assert_int_equal(peer.calls, 14); /* one attempt each */
    grpc_channel_destroy(channel);
    core_peer_stop(&peer);
}

static void calls_go_round_robin(void **state)
{
    struct core_peer first = {0}, second = {0};
    start(&first);
    start(&second);
    grpc_channel *channel = channel_to(&first, &second);
    for (int i = 0; i < 1000 && (first.calls == 0 || second.calls == 0); i++) /* until both are connected */
        assert_int_equal(core_call(channel, NOT_IDEMPOTENT, 5000), GRPC_STATUS_OK);
    first.calls = second.calls = 0;
    for (int i = 0; i < 40; i++)
        assert_int_equal(core_call(channel, NOT_IDEMPOTENT, 5000), GRPC_STATUS_OK);
    assert_in_range(first.calls, 10, 30);
    assert_in_range(second.calls, 10, 30);
    grpc_channel_destroy(channel);
    core_peer_stop(&first);
    core_peer_stop(&second);
}

static void a_peer_that_is_not_serving_is_passed_over(void **state)
{
    struct core_peer well = {.health = 1}, ill = {.health = 2};
    start(&well);
    start(&ill);
    grpc_channel *channel = channel_to(&ill, &well);
    for (int i = 0; i < 20; i++)
        assert_int_equal(core_call(channel, NOT_IDEMPOTENT, 5000), GRPC_STATUS_OK);
    assert_int_equal(well.calls, 20);
    assert_int_equal(ill.calls, 0);
    grpc_channel_destroy(channel);
    core_peer_stop(&well);
    core_peer_stop(&ill);
}

static void a_schema_without_idempotent_methods_makes_a_config_too(void **state)
{
    struct status st;
    struct rpc_schema *schema = rpc_schema_load("", 0, &st);
    char *none = rpc_service_config(schema);
    assert_non_null(strstr(none, "round_robin"));
    assert_null(strstr(none, "methodConfig"));
    free(none);
    rpc_schema_destroy(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idempotent_call_is_sent_again_until_it_succeeds),
        cmocka_unit_test(any_other_call_is_sent_once),
        cmocka_unit_test(a_failure_of_another_kind_is_not_repeated),
        cmocka_unit_test(retries_end_after_four_attempts_and_when_the_budget_is_spent),
        cmocka_unit_test(calls_go_round_robin),
        cmocka_unit_test(a_peer_that_is_not_serving_is_passed_over),
        cmocka_unit_test(a_schema_without_idempotent_methods_makes_a_config_too),
    };
    return cmocka_run_group_tests(tests, config_make, config_free);
}
