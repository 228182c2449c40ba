/* robots.txt, as RFC 9309 has it. */
#include "tools/robots.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static void expect_allowed(const char *file, const char *path, bool allowed)
{
    if (robots_allow(file, strlen(file), "renga", path) != allowed)
        fail_msg("'%s' %s %s", file, allowed ? "forbids" : "allows", path);
}

struct robots_case {
    const char *file, *path;
    bool allowed;
};

static void robots_check_all(const struct robots_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_allowed(cases[i].file, cases[i].path, cases[i].allowed);
}

static void groups_are_chosen_by_the_product_token(void **state)
{
    static const struct robots_case cases[] = {
        {"", "/", true},
        {"Disallow: /", "/a", true}, /* before any group */
        {"User-agent: *\nDisallow: /", "/a", false},
        {"user-AGENT : RENGA/2.1 (x)\ndisallow: /a", "/a", false},
        {"User-agent: *\nDisallow: /\n\nUser-agent: renga\nDisallow: /b", "/a", true},
        {"User-agent: rengabot\nDisallow: /", "/a", true},
        {"User-agent: ren\nDisallow: /", "/a", true},
        {"User-agent: other\nUser-agent: renga\nDisallow: /a", "/a", false},
        {"User-agent: renga\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: Renga\nDisallow: /c", "/c",
         false},
        {"User-agent: renga\nDisallow: /a\nUser-agent: other\nDisallow: /b", "/b", true},
        {"User-agent: renga\nSitemap: /x\nCrawl-delay: 9\nDisallow: /a", "/a", false}, /* other keys end no group */
        {"\xef\xbb\xbfUser-agent: *\rDisallow: /a # not this\r\nAllow: /", "/a", false},
        {"<html>User-agent: no</html>\n\0", "/a", true},
    };
    robots_check_all(cases, COUNT(cases));
}

static void the_longest_rule_decides_and_allow_at_a_tie(void **state)
{
    static const struct robots_case cases[] = {
        {"User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true},
        {"User-agent: *\nAllow: /a/b\nDisallow: /a/b/c", "/a/b/c", false},
        {"User-agent: *\nDisallow: /page\nAllow: /page", "/page", true},
        {"User-agent: *\nAllow: /page\nDisallow: /page", "/page", true},
        {"User-agent: *\nDisallow:", "/a", true},
        {"User-agent: *\nDisallow: /", "/robots.txt", true},
        {"User-agent: *\nDisallow: /A", "/a", true},
        {"User-agent: *\nDisallow: /a?b", "/a?b=1", false},
    };
    robots_check_all(cases, COUNT(cases));
}

static void stars_and_ends_match_as_they_should(void **state)
{
    static const struct robots_case cases[] = {
        {"User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", false},
        {"User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", true},
        {"User-agent: *\nDisallow: /a$", "/a", false},
        {"User-agent: *\nDisallow: /a$", "/ab", true},
        {"User-agent: *\nDisallow: *secret", "/x/secret/y", false},
        {"User-agent: *\nDisallow: /*/b/*c", "/a/b/xc", false},
        {"User-agent: *\nDisallow: /*/b/*c", "/b/xc", true},
        {"User-agent: *\nDisallow: /a*a$", "/a", true},
        {"User-agent: *\nDisallow: /a*a$", "/aa", false},
        {"User-agent: *\nDisallow: $", "/", true},
        {"User-agent: *\nDisallow: *", "/", false},
    };
    robots_check_all(cases, COUNT(cases));
}

static void escapes_are_compared_in_one_form(void **state)
{
    static const struct robots_case cases[] = {
        {"User-agent: *\nDisallow: /%7euser", "/~user/x", false},
        {"User-agent: *\nDisallow: /~user", "/%7Euser/x", false},
        {"User-agent: *\nDisallow: /日", "/%e6%97%a5", false},
        {"User-agent: *\nDisallow: /a%2fb", "/a/b", true},
        {"User-agent: *\nDisallow: /a%2fb", "/a%2Fb", false},
        {"User-agent: *\nDisallow: /a%2A", "/a*", false},
        {"User-agent: *\nDisallow: /a%", "/a%", false},
    };
    robots_check_all(cases, COUNT(cases));
}

static void rules_beyond_the_bounds_are_passed_over(void **state)
{
    size_t size = ROBOTS_TEXT_MAX + 100;
    char *file = malloc(size + 1);
    memset(file, '#', size);
    file[size] = '\0';
    memcpy(file, "User-agent: *\nDisallow: /a\n", 27);
    strcpy(file + size - 20, "\nDisallow: /b\n");
    expect_allowed(file, "/a", false);
    expect_allowed(file, "/b", true);
    memset(file, 'a', size);
    memcpy(file, "User-agent: *\nDisallow: /", 25);
    expect_allowed(file, "/aaaa", true);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_chosen_by_the_product_token),
        cmocka_unit_test(the_longest_rule_decides_and_allow_at_a_tie),
        cmocka_unit_test(stars_and_ends_match_as_they_should),
        cmocka_unit_test(escapes_are_compared_in_one_form),
        cmocka_unit_test(rules_beyond_the_bounds_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
