/* Where models are asked, and with which key. */
#include "gateway_shared.h"
#include "http/client.h"
#include "provider/capability.h"
#include "provider/provider.h"
#include "routing/deployment.h"
#include "routing/route.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct setting {
    struct config *config;
    struct routes *routes;
    struct deployment *deployment;
    struct status st;
};

/* With these flags, NULL-terminated, and without the environment's variables but the two given. */
static void set_up(struct setting *setting, const char *base_url, const char *api_key, const char *const *flags)
{
    const struct option *tables[] = {llm_gateway_options};
    char *arguments[8] = {(char *)(uintptr_t) "test"};
    int count = 1;
    memset(setting, 0, sizeof *setting);
    unsetenv("OPENAI_BASE_URL");
    unsetenv("OPENAI_API_KEY");
    if (base_url)
        setenv("OPENAI_BASE_URL", base_url, 1);
    if (api_key)
        setenv("OPENAI_API_KEY", api_key, 1);
    while (flags && *flags)
        arguments[count++] = (char *)(uintptr_t)*flags++;
    setting->config = config_create(tables, 1, &setting->st);
    assert_non_null(setting->config);
    assert_true(config_read(setting->config, count, arguments, &setting->st));
    setting->routes = routes_create(setting->config, NULL, &setting->st);
    setting->deployment = setting->routes ? routes_deployment(setting->routes, 0) : NULL;
}

static void tear_down(struct setting *setting)
{
    routes_destroy(&setting->routes);
    config_destroy(setting->config);
}

static void without_a_key_nothing_leaves_this_machine(void **state)
{
    static const char *const wanted[] = {"--llm_gateway.models=gpt-4.1-mini", NULL};
    struct setting setting;
    set_up(&setting, NULL, NULL, wanted);
    assert_true(setting.deployment->unset);
    tear_down(&setting);
    set_up(&setting, NULL, "sk-env", NULL);
    assert_false(setting.deployment->unset);
    tear_down(&setting);
    set_up(&setting, "http://127.0.0.1:8080/v1", NULL, NULL);
    assert_false(setting.deployment->unset);
    tear_down(&setting);
}

static void nothing_set_at_all_is_answered_in_this_process(void **state)
{
    static const char *const said[] = {"--llm_gateway.provider=extractive", "--llm_gateway.models=a,b", NULL};
    struct setting setting;
    struct status st = {0};
    set_up(&setting, NULL, NULL, NULL);
    assert_ptr_equal(setting.deployment->provider, &extractive_provider);
    assert_null(setting.deployment->chat_url);
    assert_false(setting.deployment->unset);
    const struct route *route = routes_find(setting.routes, "default", &st);
    assert_string_equal(route->name, "extractive");
    assert_true(route->chat && route->tools && !route->embeddings);
    tear_down(&setting);
    set_up(&setting, NULL, "sk-env", said);
    assert_ptr_equal(setting.deployment->provider, &extractive_provider);
    assert_int_equal(routes_listed(setting.routes), 2);
    tear_down(&setting);
}

static void who_answers_in_this_process_takes_neither_url_nor_key(void **state)
{
    static const char *const url[] = {"--llm_gateway.provider=extractive", "--llm_gateway.upstream=http://x/v1", NULL};
    static const char *const key[] = {"--llm_gateway.provider=extractive", "--llm_gateway.key=sk-flag", NULL};
    struct setting setting;
    set_up(&setting, NULL, NULL, url);
    assert_null(setting.routes);
    assert_contains(setting.st.text,
                    "llm_gateway.upstream: is set, but the provider extractive answers in this process");
    tear_down(&setting);
    set_up(&setting, NULL, NULL, key);
    assert_null(setting.routes);
    assert_contains(setting.st.text, "llm_gateway.key: is set");
    assert_lacks(setting.st.text, "sk-flag");
    tear_down(&setting);
}

static void the_variables_of_openai_are_read_where_nothing_else_is_set(void **state)
{
    static const char *const flags[] = {"--llm_gateway.upstream=http://127.0.0.1:8080/v1/", "--llm_gateway.key=sk-flag",
                                        NULL};
    struct setting setting;
    set_up(&setting, "http://127.0.0.1:9090/v1", "sk-env", NULL);
    assert_string_equal(setting.deployment->key, "sk-env");
    assert_string_equal(http_url_origin(setting.deployment->chat_url), "http://127.0.0.1:9090");
    tear_down(&setting);
    set_up(&setting, "http://127.0.0.1:9090/v1", "sk-env", flags);
    assert_string_equal(setting.deployment->key, "sk-flag");
    assert_string_equal(http_url_origin(setting.deployment->chat_url), "http://127.0.0.1:8080");
    tear_down(&setting);
}

static void only_openai_itself_wants_the_new_token_limit(void **state)
{
    static const char *const flags[] = {"--llm_gateway.token_limit=max_completion_tokens", NULL};
    struct setting setting;
    set_up(&setting, NULL, "sk-env", NULL);
    assert_false(setting.deployment->old_token_limit);
    tear_down(&setting);
    set_up(&setting, "http://127.0.0.1:9090/v1", NULL, NULL);
    assert_true(setting.deployment->old_token_limit);
    tear_down(&setting);
    set_up(&setting, "http://127.0.0.1:9090/v1", NULL, flags);
    assert_false(setting.deployment->old_token_limit);
    tear_down(&setting);
}

static void what_cannot_be_used_is_named_by_its_option(void **state)
{
    struct setting setting;
    set_up(&setting, "ftp://127.0.0.1/v1", NULL, NULL);
    assert_null(setting.deployment);
    assert_contains(setting.st.text, "llm_gateway.upstream: ");
    tear_down(&setting);
    set_up(&setting, "http://127.0.0.1:9090/v1", "sk-two\nlines", NULL);
    assert_null(setting.deployment);
    assert_contains(setting.st.text, "llm_gateway.key: ");
    assert_lacks(setting.st.text, "sk-two");
    tear_down(&setting);
}

static void each_provider_has_its_own_place_and_variables(void **state)
{
    static const char *const anthropic[] = {"--llm_gateway.provider=anthropic", NULL};
    static const char *const ollama[] = {"--llm_gateway.provider=ollama", NULL};
    struct setting setting;
    set_up(&setting, "http://127.0.0.1:9090/v1", "sk-env", anthropic);
    assert_string_equal(http_url_origin(setting.deployment->chat_url), "https://api.anthropic.com:443");
    assert_true(setting.deployment->unset); /* the key of OpenAI is none of Anthropic's */
    tear_down(&setting);
    setenv("ANTHROPIC_API_KEY", "sk-ant", 1);
    set_up(&setting, NULL, NULL, anthropic);
    assert_string_equal(setting.deployment->key, "sk-ant");
    assert_false(setting.deployment->unset);
    tear_down(&setting);
    unsetenv("ANTHROPIC_API_KEY");
    set_up(&setting, NULL, "sk-env", ollama);
    assert_string_equal(http_url_origin(setting.deployment->chat_url), "http://127.0.0.1:11434");
    assert_null(setting.deployment->key);
    assert_false(setting.deployment->unset);
    tear_down(&setting);
}

static void azure_wants_an_endpoint_and_one_model_a_classic_deployment(void **state)
{
    static const char *const bare[] = {"--llm_gateway.provider=azure", NULL};
    static const char *const classic[] = {"--llm_gateway.provider=azure", "--llm_gateway.api_version=2024-10-21",
                                          "--llm_gateway.upstream=https://x.openai.azure.com",
                                          "--llm_gateway.models=one,two", NULL};
    struct setting setting;
    unsetenv("AZURE_OPENAI_ENDPOINT");
    set_up(&setting, "http://127.0.0.1:9090/v1", NULL, bare);
    assert_null(setting.deployment);
    assert_contains(setting.st.text, "llm_gateway.upstream: is not set");
    tear_down(&setting);
    set_up(&setting, NULL, NULL, classic);
    assert_null(setting.deployment);
    assert_contains(setting.st.text, "llm_gateway.models: has 2 names");
    tear_down(&setting);
}

static void what_azure_cannot_take_is_named_by_its_option_too(void **state)
{
    static const char *const model[] = {"--llm_gateway.provider=azure", "--llm_gateway.api_version=2024-10-21",
                                        "--llm_gateway.upstream=https://x.openai.azure.com",
                                        "--llm_gateway.models=../one", NULL};
    static const char *const version[] = {"--llm_gateway.provider=azure", "--llm_gateway.api_version=1&x=",
                                          "--llm_gateway.upstream=https://x.openai.azure.com", NULL};
    struct setting setting;
    set_up(&setting, NULL, NULL, model);
    assert_null(setting.deployment);
    assert_contains(setting.st.text, "llm_gateway.models: '../one' must be the name of an Azure deployment");
    tear_down(&setting);
    set_up(&setting, NULL, NULL, version);
    assert_null(setting.deployment);
    assert_contains(setting.st.text, "llm_gateway.api_version: '1&x='");
    tear_down(&setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_key_nothing_leaves_this_machine),
        cmocka_unit_test(nothing_set_at_all_is_answered_in_this_process),
        cmocka_unit_test(who_answers_in_this_process_takes_neither_url_nor_key),
        cmocka_unit_test(the_variables_of_openai_are_read_where_nothing_else_is_set),
        cmocka_unit_test(only_openai_itself_wants_the_new_token_limit),
        cmocka_unit_test(what_cannot_be_used_is_named_by_its_option),
        cmocka_unit_test(each_provider_has_its_own_place_and_variables),
        cmocka_unit_test(azure_wants_an_endpoint_and_one_model_a_classic_deployment),
        cmocka_unit_test(what_azure_cannot_take_is_named_by_its_option_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
