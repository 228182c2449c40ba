/* Languages, countries and time zones in the words of a person. */
#include "unit.h"

#include "form/form.h"

#include <stdio.h>

struct place_row {
    const char *words, *codes; /* with a blank between them */
};

static void assert_codes(const char *words, const struct form_place *places, size_t count, const char *codes)
{
    char found[FORM_PLACES_MAX * 65] = "";
    for (size_t i = 0; i < count; i++) {
        assert_true(places[i].begin < places[i].end && places[i].end <= strlen(words));
        snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "", places[i].code);
    }
    if (strcmp(found, codes) != 0)
        fail_msg("'%s' has '%s', not '%s'", words, found, codes);
}

static void languages_are_found_by_name_and_code(void **state)
{
    (void)state;
    static const struct place_row rows[] = {
        {"English", "en"},
        {"English, please", "en"},
        {"英語で", "en"},
        {"日本語でお願いします", "ja"},
        {"にほんご", "ja"},
        {"français", "fr"},
        {"Deutsch", "de"},
        {"한국어", "ko"},
        {"中文", "zh"},
        {"español por favor", "es"},
        {"スペイン語", "es"},
        {"en", "en"},
        {"EN-us", "en-US"},
        {"ja", "ja"},
        {"not English", ""},
        {"英語は苦手です", ""},
        {"no", ""},
        {"hello", ""},
        {"Polish the table", ""},
        {"русский", "ru"},
        {"I speak French and English", "fr en"},
        {"ポルトガル語", "pt"},
        {"tell it to us", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_place places[FORM_PLACES_MAX];
        assert_codes(rows[i].words, places, form_find_language(rows[i].words, places), rows[i].codes);
    }
}

static void countries_are_found_by_name_and_code(void **state)
{
    (void)state;
    static const struct place_row rows[] = {
        {"日本", "JP"},
        {"日本です", "JP"},
        {"Japan", "JP"},
        {"JP", "JP"},
        {"jp", "JP"},
        {"I live in Brazil", "BR"},
        {"アメリカに住んでいます", "US"},
        {"the US", "US"},
        {"U.S.A.", "US"},
        {"UK", "GB"},
        {"tell us more", ""},
        {"England", "GB"},
        {"New Mexico", "US"},
        {"Deutschland", "DE"},
        {"대한민국", "KR"},
        {"韓国", "KR"},
        {"I'm German", "DE"},
        {"I speak German", ""},
        {"日本語", ""},
        {"ドイツ人です", "DE"},
        {"I moved from France to Spain", "ES FR"},
        {"not Japan", ""},
        {"日本じゃなくて中国です", "CN"},
        {"フランス出身で、今はカナダに住んでいます", "CA FR"},
        {"no", ""},
        {"in", ""},
        {"South Korea", "KR"},
        {"Northern Ireland", "GB"},
        {"nowhere", ""},
        {"Österreich", "AT"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_place places[FORM_PLACES_MAX];
        assert_codes(rows[i].words, places, form_find_country(rows[i].words, places), rows[i].codes);
    }
}

static void time_zones_are_found_by_city_and_name(void **state)
{
    (void)state;
    static const struct {
        const char *words, *country, *codes;
    } rows[] = {
        {"東京", "", "Asia/Tokyo"},
        {"大阪です", "JP", "Asia/Tokyo"},
        {"京都に住んでいます", "", "Asia/Tokyo"},
        {"東京都です", "", "Asia/Tokyo"},
        {"New York", "US", "America/New_York"},
        {"ニューヨーク", "US", "America/New_York"},
        {"los angeles", "", "America/Los_Angeles"},
        {"San Francisco", "US", "America/Los_Angeles"},
        {"I'm in Mumbai", "", "Asia/Kolkata"},
        {"Asia/Calcutta", "", "Asia/Kolkata"},
        {"Asia/Kolkata", "", "Asia/Kolkata"},
        {"europe/berlin", "", "Europe/Berlin"},
        {"Eastern time", "US", "America/New_York"},
        {"東部時間", "US", "America/New_York"},
        {"London", "US", ""},
        {"UTC", "", "Etc/UTC"},
        {"nowhere", "", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_place places[FORM_PLACES_MAX];
        assert_codes(rows[i].words, places, form_find_timezone(rows[i].words, rows[i].country, places), rows[i].codes);
    }
}

static void the_zone_of_most_people_comes_first(void **state)
{
    (void)state;
    static const struct {
        const char *country, *first;
        size_t least, most;
    } rows[] = {
        {"JP", "Asia/Tokyo", 1, 1},        {"US", "America/New_York", 10, 16}, {"BR", "America/Sao_Paulo", 6, 16},
        {"IN", "Asia/Kolkata", 1, 1},      {"CN", "Asia/Shanghai", 2, 2},      {"DE", "Europe/Berlin", 1, 2},
        {"AU", "Australia/Sydney", 5, 16}, {"UA", "Europe/Kyiv", 1, 4},        {"FR", "Europe/Paris", 1, 1},
        {"RU", "Europe/Moscow", 8, 16},    {"VN", "Asia/Ho_Chi_Minh", 1, 1},   {"ZZ", "", 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_place places[FORM_PLACES_MAX];
        size_t count = form_timezones(rows[i].country, places);
        assert_in_range(count, rows[i].least, rows[i].most);
        if (count > 0)
            assert_string_equal(places[0].code, rows[i].first);
        for (size_t zone = 0; zone < count; zone++) {
            char canonical[64];
            assert_true(form_is_timezone(places[zone].code, canonical));
            assert_string_equal(places[zone].code, canonical);
        }
    }
}

static void codes_are_known_or_not(void **state)
{
    (void)state;
    char language[36], country[3], zone[64];
    assert_true(form_is_language("JA", language));
    assert_string_equal(language, "ja");
    assert_true(form_is_language("pt-br", language));
    assert_string_equal(language, "pt-BR");
    assert_false(form_is_language("xx", language));
    assert_false(form_is_language("", language));
    assert_false(form_is_language("english", language));
    assert_true(form_is_country("jp", country));
    assert_string_equal(country, "JP");
    assert_false(form_is_country("ZZ", country));
    assert_false(form_is_country("JPN", country));
    assert_true(form_is_timezone("Asia/Calcutta", zone));
    assert_string_equal(zone, "Asia/Kolkata");
    assert_false(form_is_timezone("Asia/Nowhere", zone));
    assert_false(form_is_timezone("", zone));
    assert_false(form_is_timezone("GMT+9", zone));
}

static void places_have_names_in_each_language(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL, 0, 1 << 16);
    assert_string_equal(form_place_name("Asia/Tokyo", "ja", &arena), "東京");
    assert_string_equal(form_place_name("Asia/Kolkata", "en", &arena), "Kolkata");
    assert_string_equal(form_place_name("JP", "ja", &arena), "日本");
    assert_string_equal(form_place_name("JP", "en", &arena), "Japan");
    assert_string_equal(form_place_name("ja", "en", &arena), "Japanese");
    assert_string_equal(form_place_name("ja", "ja", &arena), "日本語");
    assert_string_equal(form_place_name("zz/zz", "en", &arena), "zz/zz");
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_are_found_by_name_and_code),
        cmocka_unit_test(countries_are_found_by_name_and_code),
        cmocka_unit_test(time_zones_are_found_by_city_and_name),
        cmocka_unit_test(the_zone_of_most_people_comes_first),
        cmocka_unit_test(codes_are_known_or_not),
        cmocka_unit_test(places_have_names_in_each_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
