/* Which hosts pages may be read of. */
#include "tools/page_hosts.h"

#include "http/client.h"

#include <stdio.h>

#include "unit.h"

static const struct option options[] = {
    {.name = "tool_runner.pages", .type = OPTION_LIST},
    {.name = "tool_runner.private_pages", .type = OPTION_LIST},
    {.name = NULL},
};

static struct config *configure(const char *pages, const char *private_pages)
{
    static const struct option *const tables[] = {options};
    static char program[] = "test", flags[2][200];
    struct status st = {0};
    struct config *config = config_create(tables, 1, &st);
    snprintf(flags[0], sizeof flags[0], "--tool_runner.pages=%s", pages);
    snprintf(flags[1], sizeof flags[1], "--tool_runner.private_pages=%s", private_pages);
    char *arguments[] = {program, flags[0], flags[1], NULL};
    if (!config_read(config, 3, arguments, &st))
        fail_msg("%s", st.text);
    return config;
}

static enum page_reach reach_of(const char *pages, const char *private_pages, const char *text)
{
    struct status st = {0};
    struct config *config = configure(pages, private_pages);
    struct page_hosts *hosts = page_hosts_create(config, &st);
    struct http_url *url = http_url_parse(text, &st);
    if (!hosts || !url)
        fail_msg("%s", st.text);
    enum page_reach reach = page_hosts_reach(hosts, url);
    http_url_destroy(&url);
    page_hosts_destroy(&hosts);
    config_destroy(config);
    return reach;
}

static void a_host_is_found_by_name_and_port(void **state)
{
    static const struct {
        const char *pages, *private_pages, *url;
        enum page_reach reach;
    } cases[] = {
        {"example.com", "", "https://example.com/x", PAGE_PUBLIC},
        {"example.com", "", "http://EXAMPLE.com/", PAGE_PUBLIC},
        {"example.com", "", "https://www.example.com/", PAGE_REFUSED},
        {"example.com", "", "https://badexample.com/", PAGE_REFUSED},
        {"example.com", "", "https://example.com.evil.org/", PAGE_REFUSED},
        {"example.com", "", "https://example.com@evil.org/", PAGE_REFUSED},
        {"example.com", "", "https://example.com:8443/", PAGE_REFUSED},
        {"example.com:8443", "", "https://example.com:8443/", PAGE_PUBLIC},
        {"example.com:8443", "", "https://example.com/", PAGE_REFUSED},
        {"*.example.com", "", "https://www.example.com/", PAGE_PUBLIC},
        {"*.example.com", "", "https://a.b.example.com/", PAGE_PUBLIC},
        {"*.example.com", "", "https://example.com/", PAGE_REFUSED},
        {"*.example.com", "", "https://badexample.com/", PAGE_REFUSED},
        {"*", "", "https://anything.org/", PAGE_PUBLIC},
        {"*", "", "http://[2606:4700::1111]/", PAGE_PUBLIC},
        {"*", "", "https://anything.org:22/", PAGE_REFUSED},
        {"*", "wiki.intern", "http://wiki.intern/", PAGE_ANYWHERE},
        {"*", "*.intern", "http://wiki.intern/", PAGE_ANYWHERE},
        {"*", "wiki.intern", "http://other.intern/", PAGE_PUBLIC},
        {"", "10.0.0.7:8080", "http://10.0.0.7:8080/", PAGE_ANYWHERE},
        {"", "10.0.0.7:8080", "http://10.0.0.8:8080/", PAGE_REFUSED},
        {"", "a.intern,[::1]:8000", "http://[::1]:8000/", PAGE_ANYWHERE},
        {"", "::1", "http://[::1]/", PAGE_ANYWHERE},
        {"", "", "https://example.com/", PAGE_REFUSED},
        {"例え.テスト", "", "https://例え.テスト/", PAGE_PUBLIC},
        {"例え.テスト:8080", "", "https://xn--r8jz45g.xn--zckzah:8080/", PAGE_PUBLIC},
        {"*.例え.jp", "", "https://www.例え.jp/", PAGE_PUBLIC},
        {"*.例え.jp", "", "https://例え.jp/", PAGE_REFUSED},
        {"xn--r8jz45g.jp", "", "https://例え.jp/", PAGE_PUBLIC},
        {"example.com", "", "https://exаmple.com/", PAGE_REFUSED}, /* with a Cyrillic letter */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (reach_of(cases[i].pages, cases[i].private_pages, cases[i].url) != cases[i].reach)
            fail_msg("pages=%s private_pages=%s %s", cases[i].pages, cases[i].private_pages, cases[i].url);
}

static void an_entry_that_is_no_host_is_refused(void **state)
{
    static const char *const entries[] = {"https://example.com", "example.com:0", "example.com:99999", "example.com:",
                                          "ex*mple.com",         "a@b",           "*example.com",      ":80"};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct status st = {0};
        struct config *config = configure(entries[i], "");
        if (page_hosts_create(config, &st) || st.code != INVALID_ARGUMENT || !strstr(st.text, entries[i]))
            fail_msg("'%s' was taken: %s", entries[i], st.text);
        config_destroy(config);
    }
}

static void any_host_may_not_be_private(void **state)
{
    struct status st = {0};
    struct config *config = configure("", "*");
    assert_null(page_hosts_create(config, &st));
    assert_non_null(strstr(st.text, "tool_runner.private_pages"));
    config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_found_by_name_and_port),
        cmocka_unit_test(an_entry_that_is_no_host_is_refused),
        cmocka_unit_test(any_host_may_not_be_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
