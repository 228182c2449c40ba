#include "words/no_results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_search_that_found_nothing_is_known(void **state)
{
    static const char *const texts[] = {
        "No document mentions Mona Lisa.",
        "Nothing was found for \"how to fly\" in the documents.",
        "「空の飛び方」を文書から探しましたが、何も見つかりませんでした。",
        "No results for \"x\".\n",
        "no matches",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(words_say_no_results(texts[i], strlen(texts[i])));
}

static void anything_else_is_a_text(void **state)
{
    static const char *const texts[] = {
        "",
        "The sum is 42.",
        "[1] a.md:1-1 | A\nNothing was found under the pond.",
        "バックアップは午前2時に始まります。",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(words_say_no_results(texts[i], strlen(texts[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_that_found_nothing_is_known),
        cmocka_unit_test(anything_else_is_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
