/* The canonical form of addresses. */
#include "http/canonical.h"
#include "search/answer.h"

#include <stdio.h>

#include "unit.h"

static void expect_form(const char *uri, enum canonical_kind kind, const char *form)
{
    struct buffer out;
    buffer_init(&out, CANONICAL_MAX);
    enum canonical_kind found = canonical_write(uri, &out);
    if (found != kind || (kind != CANONICAL_BROKEN && strcmp(buffer_text(&out), form) != 0))
        fail_msg("'%s': kind %d, '%s'; expected %d, '%s'", uri, found, buffer_text(&out), kind, form);
    buffer_fini(&out);
}

static void addresses_of_one_page_have_one_form(void **state)
{
    static const struct {
        const char *uri, *form;
    } cases[] = {
        {"HTTP://WWW.Example.COM:80/a/../b/?utm_source=x&B=2&a=1#top", "https://example.com/b?B=2&a=1"},
        {"https://例え.jp/%7euser//x?fbclid=1", "https://xn--r8jz45g.jp/~user/x"},
        {"https://example.com/?", "https://example.com/"},
        {"https://example.com", "https://example.com/"},
        {"https://example.com?a=1", "https://example.com/?a=1"},
        {"http://example.com:443/", "https://example.com/"},
        {"https://example.com:8443/a/", "https://example.com:8443/a"},
        {"https://example.com./a", "https://example.com/a"},
        {"https://user:pass@example.com/a", "https://example.com/a"},
        {"http://0x7f.1/", "https://127.0.0.1/"},
        {"http://[2001:DB8::1]:80/a", "https://[2001:db8::1]/a"},
        {"  https://exa\nmple.com/a\t ", "https://example.com/a"},
        {"https:\\\\example.com\\a\\b", "https://example.com/a/b"},
        {"https://example.com/a/./b/%2e%2e/c", "https://example.com/a/c"},
        {"https://example.com/../../a", "https://example.com/a"},
        {"https://example.com/a//b///c//", "https://example.com/a/b/c"},
        {"https://example.com/%e3%81%82", "https://example.com/%E3%81%82"},
        {"https://example.com/あ", "https://example.com/%E3%81%82"},
        {"https://example.com/a%2fb", "https://example.com/a%2Fb"},
        {"https://example.com/100%", "https://example.com/100%25"},
        {"https://example.com/a?b=2&b=1&a=3", "https://example.com/a?a=3&b=2&b=1"},
        {"https://example.com/a?ab=1&a=2", "https://example.com/a?a=2&ab=1"},
        {"https://example.com/a?b=1&%e3%81%82=2", "https://example.com/a?%E3%81%82=2&b=1"},
        {"https://example.com/a?b=1&あ=2&utm%5fsource=x", "https://example.com/a?%E3%81%82=2&b=1"},
        {"https://example.com/a?&&a=1&", "https://example.com/a?a=1"},
        {"https://example.com/a?UTM_Medium=x&gclid=y&_GL=z&id=7&utmost=1", "https://example.com/a?id=7&utmost=1"},
        {"https://example.com/a#section", "https://example.com/a"},
        {"https://example.com/#!/route?x=1", "https://example.com/#!/route?x=1"},
        {"https://www.com/", "https://www.com/"},
        {"https://www.www.example.com/", "https://www.www.example.com/"},
        {"https://example.com/www.x", "https://example.com/www.x"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_form(cases[i].uri, CANONICAL_WEB, cases[i].form);
}

static void a_form_is_its_own_form(void **state)
{
    static const char *const uris[] = {"HTTP://WWW.Example.COM:80/a/../b/?utm_source=x&B=2&a=1#top",
                                       "https://例え.jp/%7euser//x?c=%e3&fbclid=1#!a%zz", "http://0x7f.1/%25%41"};
    for (size_t i = 0; i < COUNT(uris); i++) {
        struct buffer out;
        buffer_init(&out, CANONICAL_MAX);
        canonical_write(uris[i], &out);
        char *form = strdup(buffer_text(&out));
        expect_form(form, CANONICAL_WEB, form);
        free(form);
        buffer_fini(&out);
    }
}

static void names_of_documents_stay_as_they_are(void **state)
{
    expect_form("manual/Setup.md", CANONICAL_NAME, "manual/Setup.md");
    expect_form("d-17#2", CANONICAL_NAME, "d-17#2");
    expect_form("smb://share/A/b.docx", CANONICAL_NAME, "smb://share/A/b.docx");
}

static void addresses_that_lead_nowhere_are_told(void **state)
{
    static const char *const uris[] = {"",
                                       "   ",
                                       "javascript:alert(1)",
                                       "DATA:text/html,x",
                                       "mailto:a@b.example",
                                       "http://",
                                       "https:///",
                                       "https://a b/",
                                       "https://exa%23mple.com/",
                                       "https://example.com:99999/",
                                       "https://example.com:8x/",
                                       "http://1.2.3.4.5/",
                                       "https://./",
                                       "https://../a",
                                       "https://a..example/",
                                       "https://a../"};
    for (size_t i = 0; i < COUNT(uris); i++)
        expect_form(uris[i], CANONICAL_BROKEN, "");
}

static void long_addresses_are_read_whole(void **state)
{
    static const char *const pieces[] = {"/", "/a", "/..", "&", "&a", "%", "あ", "?", "\\", "@", "."};
    for (size_t i = 0; i < COUNT(pieces); i++) {
        char uri[SEARCH_URI_MAX + 1] = "https://example.com/x?y";
        struct buffer out;
        while (strlen(uri) + strlen(pieces[i]) <= SEARCH_URI_MAX)
            strcat(uri, pieces[i]);
        buffer_init(&out, CANONICAL_MAX);
        assert_int_equal(canonical_write(uri, &out), CANONICAL_WEB);
        assert_false(out.failed);
        buffer_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_one_page_have_one_form), cmocka_unit_test(a_form_is_its_own_form),
        cmocka_unit_test(names_of_documents_stay_as_they_are), cmocka_unit_test(addresses_that_lead_nowhere_are_told),
        cmocka_unit_test(long_addresses_are_read_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
