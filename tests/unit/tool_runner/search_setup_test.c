/* The document of search sources. */
#include "search/setup.h"

#include <stdio.h>

#include "unit.h"

static char path[] = "/tmp/renga-search-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static int setup_remove_file(void **state)
{
    return unlink(path);
}

static bool setup_read_text(const char *text, struct search_setups *setups, struct status *st)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return search_setups_read(path, setups, st);
}

static void without_a_document_there_are_no_sources(void **state)
{
    struct search_setups setups;
    struct status st = {0};
    assert_true(search_setups_read(NULL, &setups, &st));
    assert_int_equal(setups.count, 0);
    search_setups_fini(&setups);
}

static void an_entry_has_the_defaults_of_its_kind(void **state)
{
    struct search_setups setups;
    struct status st = {0};
    unsetenv("TAVILY_API_KEY");
    if (!setup_read_text("{\"sources\": {\"one\": {\"kind\": \"tavily\"}, /* off */ \"two\": {\"kind\": \"tavily\", "
                         "\"disabled\": true},}}",
                         &setups, &st))
        fail_msg("%s", st.text);
    assert_int_equal(setups.count, 1);
    const struct search_setup *setup = setups.list[0];
    assert_string_equal(setup->source.name, "one");
    assert_string_equal(setup->group, "web");
    assert_string_equal(setup->url, "https://api.tavily.com");
    assert_string_equal(setup->key, "");
    assert_true(setup->is_paid);
    assert_false(setup->is_stand_in);
    assert_int_equal(setup->attempts, 3);
    assert_int_equal(setup->timeout_ms, 10000);
    assert_contains(setup->place, ":1:14");
    search_setups_fini(&setups);
}

static void keys_of_the_provider_stand_beside_those_of_all(void **state)
{
    struct search_setups setups;
    struct status st = {0};
    setenv("SEARCH_TEST_KEY", "tvly-secret", 1);
    if (!setup_read_text(
            "{\"sources\": {\"one\": {\"kind\": \"tavily\", \"key\": \"env:SEARCH_TEST_KEY\", \"timeout\": \"2s\","
            "\"url\": \"http://127.0.0.1:9\", \"group\": \"internal\", \"stand_in\": true, \"paid\": false,"
            "\"search_depth\": \"fast\", \"include_domains\": [\"a.example\", \"b.example\"]}}}",
            &setups, &st))
        fail_msg("%s", st.text);
    const struct search_setup *setup = setups.list[0];
    assert_string_equal(setup->key, "tvly-secret");
    assert_string_equal(setup->group, "internal");
    assert_int_equal(setup->timeout_ms, 2000);
    assert_true(setup->is_stand_in);
    assert_false(setup->is_paid);
    assert_string_equal(*(const char *const *)setup->source.settings, "fast");
    search_setups_fini(&setups);
}

static void a_key_of_the_environment_goes_to_the_providers_own_address_alone(void **state)
{
    struct search_setups setups;
    struct status st = {0};
    setenv("TAVILY_API_KEY", "tvly-mine", 1);
    assert_true(setup_read_text("{\"sources\": {\"a\": {\"kind\": \"tavily\"}, \"b\": {\"kind\": \"tavily\", \"url\": "
                                "\"http://127.0.0.1:9\"}}}",
                                &setups, &st));
    assert_string_equal(setups.list[0]->key, "tvly-mine");
    assert_string_equal(setups.list[1]->key, "");
    search_setups_fini(&setups);
    unsetenv("TAVILY_API_KEY");
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "1:1: must be {\"sources\""},
        {"{\"source\": {}}", "1:2: unknown key 'source'; did you mean 'sources'?"},
        {"{\"sources\": {\"web\": {\"kind\": \"tavily\"}}}", "'web' has a meaning of its own"},
        {"{\"sources\": {\"a b\": {\"kind\": \"tavily\"}}}", "'a b' is no name for a source"},
        {"{\"sources\": {\"a\": {}}}", "1:14: 'kind' is missing; there are "},
        {"{\"sources\": {\"a\": {\"kind\": \"tavilly\"}}}", "unknown kind 'tavilly'; did you mean 'tavily'?"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"dept\": 1}}}", "unknown key 'dept'"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"search_depth\": \"deep\"}}}", "search_depth"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"url\": \"ftp://a\"}}}", "'url': "},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"url\": \"http://a/?b\"}}}", "'url' has a query"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"attempts\": 0}}}", "attempts"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"key\": \"env:SEARCH_TEST_NO_KEY\"}}}", "SEARCH_TEST_NO_KEY"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"key\": \"a\", \"token_file\": \"b\"}}}", "exclude each other"},
        {"{\"sources\": {\"a\": {\"kind\": \"tavily\", \"record\": \"a\", \"replay\": \"b\"}}}", "exclude each other"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct search_setups setups;
        struct status st = {0};
        if (setup_read_text(cases[i].text, &setups, &st))
            fail_msg("%s is read", cases[i].text);
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_contains(st.text, "tool_runner.search: ");
        assert_contains(st.text, cases[i].message);
        search_setups_fini(&setups);
    }
}

/* Its entries that are off are read too. */
static void the_sample_is_read(void **state)
{
    struct search_setups setups;
    struct status st = {0};
    if (!search_setups_read(SAMPLES "/search.json", &setups, &st))
        fail_msg("%s", st.text);
    assert_int_equal(setups.count, 3);
    assert_int_equal(setups.list[0]->price, 8000);
    assert_true(setups.list[1]->is_stand_in);
    search_setups_fini(&setups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_document_there_are_no_sources),
        cmocka_unit_test(an_entry_has_the_defaults_of_its_kind),
        cmocka_unit_test(keys_of_the_provider_stand_beside_those_of_all),
        cmocka_unit_test(a_key_of_the_environment_goes_to_the_providers_own_address_alone),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(the_sample_is_read),
    };
    return cmocka_run_group_tests(tests, make_file, setup_remove_file);
}
