/* Bearer keys. */
#include "rpc/auth.h"

#include "base/clock.h"
#include "base/trace.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct status st;

/* SHA-256 in hexadecimal, in one of a few buffers. */
static const char *hash_of(const char *key)
{
    static char texts[8][65];
    static unsigned next;
    uint8_t hash[32];
    assert_int_equal(EVP_Digest(key, strlen(key), hash, NULL, EVP_sha256(), NULL), 1);
    char *text = texts[next++ % 8];
    trace_hex(hash, sizeof hash, text);
    return text;
}

static struct rpc_auth *two_keys(void)
{
    static const char *const all[] = {"*"};
    static const char *const some[] = {"renga.v1.Planner/Plan", "renga.v1.LlmGateway/*"};
    struct rpc_auth_key keys[] = {
        {{"operator", "house"}, hash_of("top-secret-key"), all, 1, 0},
        {{"shop", "acme"}, hash_of("shop-secret-key"), some, 2, 0},
        {{"idle", ""}, hash_of("idle-secret-key"), NULL, 0, 0},
    };
    struct rpc_auth *auth = rpc_auth_create(keys, 3, &st);
    assert_non_null(auth);
    return auth;
}

static const struct rpc_principal *check(const struct rpc_auth *auth, const char *header, const char *method)
{
    status_clear(&st);
    return rpc_auth_check(auth, header, header ? strlen(header) : 0, method, &st);
}

static void a_known_key_is_its_owner(void **state)
{
    struct rpc_auth *auth = two_keys();
    const struct rpc_principal *principal = check(auth, "Bearer shop-secret-key", "renga.v1.Planner/Plan");
    assert_non_null(principal);
    assert_string_equal(principal->name, "shop");
    assert_string_equal(principal->tenant, "acme");
    assert_non_null(check(auth, "bearer  shop-secret-key ", "renga.v1.LlmGateway/Chat"));
    assert_non_null(check(auth, "Bearer top-secret-key", "anything.At/All"));
    rpc_auth_destroy(&auth);
    assert_null(auth);
}

static void a_missing_or_unknown_key_is_unauthenticated(void **state)
{
    static const char *const headers[] = {
        NULL,
        "",
        "Bearer",
        "Bearer ",
        "Bearer   ",
        "Basic shop-secret-key",
        "shop-secret-key",
        "Bearer shop-secret-kex",
        "Bearer shop-secret-key x",
        "Bearer SHOP-SECRET-KEY",
    };
    struct rpc_auth *auth = two_keys();
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        assert_null(check(auth, headers[i], "renga.v1.Planner/Plan"));
        assert_int_equal(st.code, UNAUTHENTICATED);
        assert_null(strstr(st.text, "secret"));
    }
    rpc_auth_destroy(&auth);
}

static void a_method_outside_the_patterns_is_denied(void **state)
{
    static const char *const methods[] = {"renga.v1.Planner/PlanX", "renga.v1.Planner/Pla", "renga.v1.LlmGatewayX/Chat",
                                          "renga.v1.Reviewer/Review"};
    struct rpc_auth *auth = two_keys();
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        assert_null(check(auth, "Bearer shop-secret-key", methods[i]));
        assert_int_equal(st.code, PERMISSION_DENIED);
        assert_non_null(strstr(st.text, methods[i]));
        assert_null(strstr(st.text, "secret"));
    }
    assert_null(check(auth, "Bearer idle-secret-key", "renga.v1.Planner/Plan"));
    assert_int_equal(st.code, PERMISSION_DENIED);
    rpc_auth_destroy(&auth);
}

static void a_right_must_be_named_or_everything_allowed(void **state)
{
    static const char *const everything[] = {"*"};
    static const char *const service[] = {"renga.v1.LlmGateway/*"};
    static const char *const named[] = {"renga.v1.Planner/*", "renga.v1.LlmGateway/GetUsage.all"};
    static const char right[] = "renga.v1.LlmGateway/GetUsage.all", method[] = "renga.v1.LlmGateway/GetUsage";
    struct rpc_auth_key keys[] = {
        {{"operator", ""}, hash_of("operator-key"), everything, 1, 0},
        {{"shop", "acme"}, hash_of("shop-key"), service, 1, 0},
        {{"shop", "acme"}, hash_of("shop-key-of-the-bookkeeper"), named, 2, 0},
    };
    static const struct rpc_principal anyone = {.name = "", .tenant = ""};
    struct rpc_auth *auth = rpc_auth_create(keys, 3, &st);
    assert_non_null(auth);
    const struct rpc_principal *operator= check(auth, "Bearer operator-key", method);
    const struct rpc_principal *shop = check(auth, "Bearer shop-key", method);
    const struct rpc_principal *keeper = check(auth, "Bearer shop-key-of-the-bookkeeper", "renga.v1.Planner/Plan");
    assert_true(rpc_auth_grants(auth, operator, right));
    assert_false(rpc_auth_grants(auth, shop, right));
    struct rpc_principal copy = *keeper;
    assert_true(rpc_auth_grants(auth, &copy, right));
    assert_false(rpc_auth_grants(auth, &anyone, right));
    assert_true(rpc_auth_grants(NULL, &anyone, right));
    rpc_auth_destroy(&auth);
}

static void a_key_of_a_tenant_has_a_right_over_others_only_if_its_methods_name_it(void **state)
{
    static const char right[] = "renga.v1.Planner/forward", method[] = "renga.v1.Planner/Plan";
    static const char *const everything[] = {"*"}, *const service[] = {"renga.v1.Planner/*"};
    static const char *const named[] = {"renga.v1.Planner/*", "renga.v1.Planner/forward"};
    const struct {
        struct rpc_auth_key key;
        bool granted;
    } rows[] = {
        {{{"peer", ""}, hash_of("key"), everything, 1, 0}, true},
        {{{"peer", ""}, hash_of("key"), service, 1, 0}, false},
        {{{"peer", ""}, hash_of("key"), named, 2, 0}, true},
        {{{"shop", "acme"}, hash_of("key"), everything, 1, 0}, false},
        {{{"shop", "acme"}, hash_of("key"), service, 1, 0}, false},
        {{{"shop", "acme"}, hash_of("key"), named, 2, 0}, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rpc_auth *auth = rpc_auth_create(&rows[i].key, 1, &st);
        assert_non_null(auth);
        assert_int_equal(rpc_auth_grants(auth, check(auth, "Bearer key", method), right), rows[i].granted);
        rpc_auth_destroy(&auth);
    }
}

static void health_is_open_to_all(void **state)
{
    struct rpc_auth *auth = two_keys();
    const struct rpc_principal *anyone = check(auth, NULL, "grpc.health.v1.Health/Check");
    assert_non_null(anyone);
    assert_string_equal(anyone->name, "");
    assert_non_null(check(auth, "Bearer nonsense", "grpc.health.v1.Health/Watch"));
    assert_null(check(auth, NULL, "grpc.health.v1x.Health/Check"));
    assert_null(check(auth, NULL, "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"));
    rpc_auth_destroy(&auth);
}

static void a_header_may_hold_any_bytes(void **state)
{
    static const char nul[] = "Bearer shop-secret-key\0x";
    struct rpc_auth *auth = two_keys();
    assert_null(rpc_auth_check(auth, nul, sizeof nul - 1, "renga.v1.Planner/Plan", &st));
    char *huge = malloc(1u << 16);
    memset(huge, 'x', 1u << 16);
    memcpy(huge, "Bearer ", 7);
    assert_null(rpc_auth_check(auth, huge, 1u << 16, "renga.v1.Planner/Plan", &st));
    assert_int_equal(st.code, UNAUTHENTICATED);
    free(huge);
    rpc_auth_destroy(&auth);
}

static void a_thousand_keys_are_told_apart(void **state)
{
    enum { COUNT = 1000 };
    static char names[COUNT][16], hashes[COUNT][65];
    static struct rpc_auth_key keys[COUNT];
    static const char *const all[] = {"*"};
    char header[32];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "key-%zu", i);
        memcpy(hashes[i], hash_of(names[i]), sizeof hashes[i]);
        keys[i] = (struct rpc_auth_key){{names[i], "t"}, hashes[i], all, 1, 0};
    }
    struct rpc_auth *auth = rpc_auth_create(keys, COUNT, &st);
    assert_non_null(auth);
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(header, sizeof header, "Bearer key-%zu", i);
        assert_string_equal(check(auth, header, "a.B/C")->name, names[i]);
    }
    assert_null(check(auth, "Bearer key-1000", "a.B/C"));
    rpc_auth_destroy(&auth);
}

static void a_configuration_that_cannot_be_meant_is_refused(void **state)
{
    static const char *const fine[] = {"*"};
    static const char *const wrong[] = {"renga.v1.*", "renga.v1.Planner", "/Plan", "a.B/", "a.B/Pl*", "**",
                                        "",           "a.B/C/D"};
    struct rpc_auth_key key = {{"shop", "acme"}, hash_of("k"), fine, 1, 0};
    struct rpc_auth_key twins[] = {key, key};
    twins[1].principal.name = "twin";

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct rpc_auth_key other = key;
        other.methods = &wrong[i];
        assert_null(rpc_auth_create(&other, 1, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_non_null(strstr(st.text, "'shop'"));
    }
    assert_null(rpc_auth_create(twins, 2, &st));
    assert_non_null(strstr(st.text, "'twin'"));
    char tenant[RPC_AUTH_TENANT_MAX + 2] = "";
    memset(tenant, 't', sizeof tenant - 1);
    twins[0].principal.tenant = tenant;
    assert_null(rpc_auth_create(twins, 1, &st));
    assert_non_null(strstr(st.text, "'shop' has 97 bytes"));
    tenant[RPC_AUTH_TENANT_MAX] = '\0';
    struct rpc_auth *longest = rpc_auth_create(twins, 1, &st);
    assert_non_null(longest);
    rpc_auth_destroy(&longest);
    key.sha256 = "k";
    assert_null(rpc_auth_create(&key, 1, &st));
    assert_non_null(strstr(st.text, "64 hexadecimal digits"));
    key.sha256 = "zz00000000000000000000000000000000000000000000000000000000000000";
    assert_null(rpc_auth_create(&key, 1, &st));
    key.sha256 = NULL;
    assert_null(rpc_auth_create(&key, 1, &st));
    key.principal.name = NULL;
    assert_null(rpc_auth_create(&key, 1, &st));
    assert_null(rpc_auth_create(twins, RPC_AUTH_KEYS_MAX + 1, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
}

static void without_keys_nobody_comes_in(void **state)
{
    struct rpc_auth *auth = rpc_auth_create(NULL, 0, &st);
    assert_non_null(auth);
    assert_null(check(auth, "Bearer x", "a.B/C"));
    rpc_auth_destroy(&auth);
}

/* Gives `auth` one key of this name. */
static void replace(struct rpc_auth *auth, const char *name, const char *secret, const char *method)
{
    struct rpc_auth_key key = {{name, "acme"}, hash_of(secret), &method, 1, 0};
    assert_true(rpc_auth_replace(auth, &key, 1, &st));
}

static void replaced_keys_hold_from_the_next_call_on(void **state)
{
    struct rpc_auth *auth = two_keys();
    replace(auth, "newcomer", "new-secret-key", "*");
    assert_null(check(auth, "Bearer shop-secret-key", "renga.v1.Planner/Plan"));
    assert_int_equal(st.code, UNAUTHENTICATED);
    assert_null(rpc_auth_find(auth, "acme", "shop"));
    assert_string_equal(check(auth, "Bearer new-secret-key", "renga.v1.Planner/Plan")->name, "newcomer");
    rpc_auth_destroy(&auth);
}

static void wrong_keys_replace_nothing(void **state)
{
    static const char *const all[] = {"*"};
    struct rpc_auth *auth = two_keys();
    struct rpc_auth_key twins[] = {{{"a", ""}, hash_of("k"), all, 1, 0}, {{"b", ""}, hash_of("k"), all, 1, 0}};
    assert_false(rpc_auth_replace(auth, twins, 2, &st));
    assert_non_null(check(auth, "Bearer shop-secret-key", "renga.v1.Planner/Plan"));
    assert_null(check(auth, "Bearer k", "a.B/C"));
    rpc_auth_destroy(&auth);
}

static void a_call_keeps_the_rights_of_the_key_that_it_began_with(void **state)
{
    static const char scope[] = "renga.v1.Orchestrator/agent.", one[] = "renga.v1.Orchestrator/agent.one";
    struct rpc_auth *auth = rpc_auth_create(NULL, 0, &st);
    replace(auth, "shop", "k", one);
    struct rpc_principal limited = *rpc_auth_find(auth, "acme", "shop");
    replace(auth, "shop", "k", "*");
    struct rpc_principal free_one = *rpc_auth_find(auth, "acme", "shop");
    replace(auth, "keeper", "k", "renga.v1.LlmGateway/GetUsage.all");
    struct rpc_principal keeper = *rpc_auth_find(auth, "acme", "keeper");
    for (int generation = 0; generation < 3; generation++) {
        assert_true(rpc_auth_is_limited(auth, &limited, scope));
        assert_true(rpc_auth_reaches(auth, &limited, scope, "one"));
        assert_false(rpc_auth_reaches(auth, &limited, scope, "two"));
        assert_false(rpc_auth_grants(auth, &limited, "renga.v1.LlmGateway/GetUsage.all"));
        assert_true(rpc_auth_reaches(auth, &free_one, scope, "two"));
        assert_false(rpc_auth_grants(auth, &free_one, "renga.v1.LlmGateway/GetUsage.all"));
        assert_true(rpc_auth_grants(auth, &keeper, "renga.v1.LlmGateway/GetUsage.all"));
        replace(auth, generation ? "shop" : "other", "k", "renga.v1.Planner/*");
    }
    rpc_auth_destroy(&auth);
}

static void an_expired_key_is_refused_with_its_name_and_the_time(void **state)
{
    static const char *const all[] = {"*"};
    int64_t now_s = clock_wall_ns() / NS_PER_SEC;
    struct rpc_auth_key keys[] = {
        {{"guest", "acme"}, hash_of("guest-key"), all, 1, now_s + 3600},
        {{"past", "acme"}, hash_of("past-key"), all, 1, 946684800},
        {{"far", "acme"}, hash_of("far-key"), all, 1, 253402300799},
    };
    struct rpc_auth *auth = rpc_auth_create(keys, 3, &st);
    assert_non_null(check(auth, "Bearer guest-key", "a.B/C"));
    assert_null(check(auth, "Bearer past-key", "a.B/C"));
    assert_int_equal(st.code, UNAUTHENTICATED);
    assert_non_null(strstr(st.text, "key 'past' expired at 2000-01-01T00:00:00Z"));
    clock_wall_step(3600 * NS_PER_SEC);
    assert_null(check(auth, "Bearer guest-key", "a.B/C"));
    assert_non_null(strstr(st.text, "key 'guest' expired at"));
    assert_non_null(check(auth, "Bearer far-key", "a.B/C"));
    rpc_auth_destroy(&auth);
}

struct swap {
    struct rpc_auth *auth;
    _Atomic bool ended;
};

static void *swap_check(void *data)
{
    struct swap *swap = data;
    struct status mine = {0};
    uintptr_t wrong = 0;
    while (!atomic_load(&swap->ended)) {
        const char header[] = "Bearer k";
        const struct rpc_principal *principal = rpc_auth_check(swap->auth, header, sizeof header - 1, "a.B/C", &mine);
        wrong |= !principal || strcmp(principal->tenant, "acme") != 0;
        wrong |= principal && !rpc_auth_grants(swap->auth, principal, principal->name);
    }
    return (void *)wrong;
}

/* The key's name is its one right beside calling a.B/C, so a mixture of two tables would be seen. */
static void calls_see_whole_tables_while_keys_are_replaced(void **state)
{
    struct swap swap = {.auth = two_keys()};
    const char *methods[] = {"a.B/*", "a.R/one"};
    struct rpc_auth_key key = {{"a.R/one", "acme"}, hash_of("k"), methods, 2, 0};
    assert_true(rpc_auth_replace(swap.auth, &key, 1, &st));
    pthread_t thread;
    void *wrong;
    assert_int_equal(pthread_create(&thread, NULL, swap_check, &swap), 0);
    for (int i = 0; i < 500; i++) {
        key.principal.name = methods[1] = i % 2 ? "a.R/one" : "a.R/other";
        assert_true(rpc_auth_replace(swap.auth, &key, 1, &st));
    }
    atomic_store(&swap.ended, true);
    pthread_join(thread, &wrong);
    assert_null(wrong);
    rpc_auth_destroy(&swap.auth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_key_is_its_owner),
        cmocka_unit_test(a_missing_or_unknown_key_is_unauthenticated),
        cmocka_unit_test(a_method_outside_the_patterns_is_denied),
        cmocka_unit_test(a_right_must_be_named_or_everything_allowed),
        cmocka_unit_test(a_key_of_a_tenant_has_a_right_over_others_only_if_its_methods_name_it),
        cmocka_unit_test(health_is_open_to_all),
        cmocka_unit_test(a_header_may_hold_any_bytes),
        cmocka_unit_test(a_thousand_keys_are_told_apart),
        cmocka_unit_test(a_configuration_that_cannot_be_meant_is_refused),
        cmocka_unit_test(without_keys_nobody_comes_in),
        cmocka_unit_test(replaced_keys_hold_from_the_next_call_on),
        cmocka_unit_test(wrong_keys_replace_nothing),
        cmocka_unit_test(a_call_keeps_the_rights_of_the_key_that_it_began_with),
        cmocka_unit_test(an_expired_key_is_refused_with_its_name_and_the_time),
        cmocka_unit_test(calls_see_whole_tables_while_keys_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
