#include "words/locale_codes.h"

#include "unit.h"

static void languages_are_tags_with_a_known_language(void **state)
{
    static const char *const good[] = {"ja", "en", "pt-BR", "zh-Hant-TW", "en-US-x-own", "haw"};
    static const char *const bad[] = {"", "j", "japanese", "xx", "ja_JP", "ja-", "日本語", "zz-JP", "en-US-1"};
    for (size_t i = 0; i < COUNT(good); i++)
        if (!words_is_language_tag(good[i]))
            fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (words_is_language_tag(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
}

static void countries_are_codes_of_two_capital_letters(void **state)
{
    static const char *const bad[] = {"", "jp", "JPN", "XX", "Japan", "J"};
    assert_true(words_is_country_code("JP") && words_is_country_code("US") && words_is_country_code("DE"));
    for (size_t i = 0; i < COUNT(bad); i++)
        if (words_is_country_code(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
}

static void time_zones_have_names_of_the_database(void **state)
{
    static const char *const good[] = {"Asia/Tokyo", "America/New_York", "America/Argentina/Buenos_Aires", "Etc/UTC",
                                       "UTC"};
    static const char *const bad[] = {"", "Tokyo", "Asia/tokyo", "GMT+9", "+09:00", "Asia/Tokyo ", "Mars/Base", "日本"};
    for (size_t i = 0; i < COUNT(good); i++)
        if (!words_is_time_zone(good[i]))
            fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (words_is_time_zone(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_are_tags_with_a_known_language),
        cmocka_unit_test(countries_are_codes_of_two_capital_letters),
        cmocka_unit_test(time_zones_have_names_of_the_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
