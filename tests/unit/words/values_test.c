/* Numbers, years and English spellings that have the same terms. */
#include "words/words.h"

#include <stdio.h>

#include "unit.h"

#define TERMS_BYTES 4096

static void terms_read(const char *text, char terms[TERMS_BYTES])
{
    struct term_reader reader;
    struct term term;
    size_t used = 0;
    terms[0] = '\0';
    terms_begin_in(&reader, text, strlen(text), LATIN_ENGLISH);
    while (terms_next(&reader, &term) && used + 600 < TERMS_BYTES) {
        assert_true(term.begin < term.end && term.end <= strlen(text));
        used += (size_t)snprintf(terms + used, TERMS_BYTES - used, "%s%s", used ? " " : "", term.text);
    }
}

static size_t count_different(const char *const pairs[][2], size_t count)
{
    char one[TERMS_BYTES], other[TERMS_BYTES];
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        terms_read(pairs[i][0], one);
        terms_read(pairs[i][1], other);
        if (strcmp(one, other) != 0) {
            different++;
            print_error("%s: %s; %s: %s\n", pairs[i][0], one, pairs[i][1], other);
        }
    }
    return different;
}

/* Its end is no numeral of its own, but the next numeral is one. */
static void a_numeral_of_too_many_characters_stays_as_it_is(void **state)
{
    char terms[TERMS_BYTES];
    terms_read("一二三四五六七八九〇一二三四五六七八九〇一二三四五六七八九〇一二三四五六七八九〇年、三百万円", terms);
    assert_null(strstr(terms, "34567890"));
    assert_non_null(strstr(terms, "3000000"));
    terms_read("00000000000000000000000000000000000000001万円と三百万円", terms);
    assert_null(strstr(terms, "10000"));
    assert_non_null(strstr(terms, "3000000"));
}

static void japanese_numerals_are_the_same_as_digits(void **state)
{
    static const char *const pairs[][2] = {
        {"二十三", "23"},
        {"三百万", "3,000,000"},
        {"300万", "3,000,000"},
        {"３００万", "三百万"},
        {"3千万円", "30,000,000円"},
        {"三千万円", "3千万円"},
        {"1.5万", "15000"},
        {"3億2000万", "320,000,000"},
        {"三億二千万", "3億2000万"},
        {"1,234万", "12340000"},
        {"二兆", "2000000000000"},
        {"一九九八年", "1998年"},
        {"二〇二四年", "2024年"},
        {"平成十年", "平成10年"},
        {"昭和五十二年", "昭和52年"},
        {"明治元年", "明治1年"},
        {"令和元年五月一日", "令和1年5月1日"},
        {"十二月二十五日", "12月25日"},
        {"三人", "3人"},
        {"百人", "100人"},
        {"千円", "1000円"},
        {"二回", "2回"},
        {"第三章", "第3章"},
        {"五つ", "5つ"},
        {"十か月", "10か月"},
        {"九割", "9割"},
        {"二十四時間", "24時間"},
        {"千三百五十", "1350"},
        {"三万五千人", "35,000人"},
        {"3万5000人", "三万五千人"},
        {"二十世紀", "20世紀"},
        {"八十歳", "80歳"},
        {"六十五歳以上", "65歳以上"},
        {"百二十", "120"},
    };
    assert_int_equal(count_different(pairs, sizeof pairs / sizeof *pairs), 0);
}

static bool has_term(const char *text, const char *wanted)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text, strlen(text));
    while (terms_next(&reader, &term))
        if (strcmp(term.text, wanted) == 0)
            return true;
    return false;
}

static void a_year_of_an_era_has_the_term_of_its_calendar_year(void **state)
{
    static const char *const rows[][2] = {
        {"平成十年の予算", "1998"}, {"平成10年の予算", "1998"},    {"平成１０年度", "1998"}, {"令和元年", "2019"},
        {"昭和六十四年", "1989"},   {"文化8年（1811年）", "1811"}, {"明治42年", "1909"},     {"1998年の予算", "1998"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(has_term(rows[i][0], rows[i][1]));
    assert_false(has_term("平成10丁目", "1998"));
    assert_false(has_term("文化10周年", "1813"));
    assert_false(has_term("平成99年", "2087"));
}

static void words_with_a_numeral_in_them_are_not_changed(void **state)
{
    static const char *const rows[][2] = {
        {"一方", "一方"},     {"三角形", "三角"}, {"十分な", "十分"}, {"一番", "一番"},     {"千葉県", "千葉"},
        {"数十人", "数十"},   {"何百", "何百"},   {"万年筆", "万年"}, {"億万長者", "億万"}, {"三重県", "三重"},
        {"一般的", "一般"},   {"統一", "統一"},   {"二三", "二三"},   {"元年", "元年"},     {"唯一", "唯一"},
        {"E-1024", "e-1024"}, {"12,34", "12,34"}, {"2.1", "2.1"},     {"10年", "10"},       {"1,000", "1000"},
        {"版4.5万", "45000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!has_term(rows[i][0], rows[i][1]))
            fail_msg("%s has not %s", rows[i][0], rows[i][1]);
}

static void long_and_broken_numerals_are_given_unchanged(void **state)
{
    char text[4000] = "", terms[TERMS_BYTES];
    for (size_t i = 0; i < 300; i++)
        memcpy(text + 3 * i, "九", 4);
    terms_read(text, terms);
    terms_read("一,,二..三万万億\xff千", terms);
    terms_read("9999999999999999999999999999999万", terms);
    terms_read("百百百 万万 十百千 千百十", terms);
    assert_true(has_term("平成\xff"
                         "10年",
                         "10"));
}

/* Each row of up to six of these characters comes to an end, as "2024,1" once did not. */
static void each_row_of_digits_commas_and_numerals_is_read_to_its_end(void **state)
{
    static const char *const letters[] = {"1", "0", ",", ".", "一", "十", "万", " "};
    (void)state;
    for (unsigned row = 0; row < 1U << 18; row++) {
        char text[32] = "", terms[TERMS_BYTES];
        for (unsigned shift = 0; shift < 18; shift += 3)
            strcat(text, letters[row >> shift & 7]);
        terms_read(text, terms);
    }
}

static void irregular_english_forms_are_the_same_as_their_word(void **state)
{
    static const char *const pairs[][2] = {
        {"went", "go"},
        {"gone", "going"},
        {"kept", "keeping"},
        {"children", "child"},
        {"mice", "mouse"},
        {"better", "good"},
        {"best", "good"},
        {"worse", "bad"},
        {"men", "man"},
        {"women", "woman"},
        {"feet", "foot"},
        {"teeth", "tooth"},
        {"took", "takes"},
        {"taken", "taking"},
        {"wrote", "writing"},
        {"written", "writes"},
        {"sold", "selling"},
        {"bought", "buys"},
        {"built", "building"},
        {"paid", "payed"},
        {"made", "making"},
        {"found", "finding"},
        {"lost", "loses"},
        {"held", "holds"},
        {"began", "beginning"},
        {"chosen", "choosing"},
        {"knew", "known"},
        {"grew", "growing"},
        {"met", "meeting"},
        {"fed", "feeds"},
        {"thought", "think"},
        {"taught", "teaches"},
        {"spoke", "speaking"},
        {"sent", "sending"},
        {"spent", "spends"},
        {"understood", "understanding"},
        {"criteria", "criterion"},
        {"indices", "index"},
        {"analyses", "analysis"},
        {"wolves", "wolf"},
    };
    assert_int_equal(count_different(pairs, sizeof pairs / sizeof *pairs), 0);
}

static void british_and_american_spellings_are_the_same(void **state)
{
    static const char *const pairs[][2] = {
        {"colour", "color"},
        {"colourful", "colorful"},
        {"behaviour", "behavior"},
        {"favourite", "favorite"},
        {"neighbourhood", "neighborhood"},
        {"labourers", "laborers"},
        {"organise", "organize"},
        {"organisation", "organization"},
        {"realised", "realized"},
        {"recognising", "recognizing"},
        {"centre", "center"},
        {"centres", "centers"},
        {"theatre", "theater"},
        {"metres", "meters"},
        {"kilometre", "kilometer"},
        {"litres", "liter"},
        {"fibre", "fiber"},
        {"defence", "defense"},
        {"offence", "offense"},
        {"licence", "license"},
        {"practise", "practice"},
        {"catalogue", "catalog"},
        {"dialogues", "dialogs"},
        {"programme", "program"},
        {"grey", "gray"},
        {"analyse", "analyze"},
        {"cancelled", "canceled"},
        {"travelling", "traveling"},
        {"jewellery", "jewelry"},
        {"aluminium", "aluminum"},
        {"encyclopaedia", "encyclopedia"},
        {"archaeology", "archeology"},
        {"skilful", "skillful"},
        {"judgement", "judgment"},
        {"mould", "mold"},
        {"plough", "plow"},
    };
    assert_int_equal(count_different(pairs, sizeof pairs / sizeof *pairs), 0);
}

static void words_in_ise_keep_their_relatives(void **state)
{
    static const char *const pairs[][2] = {
        {"advertise", "advertisement"},
        {"promise", "promised"},
        {"exercise", "exercises"},
        {"raise", "raising"},
    };
    assert_int_equal(count_different(pairs, sizeof pairs / sizeof *pairs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(japanese_numerals_are_the_same_as_digits),
        cmocka_unit_test(a_numeral_of_too_many_characters_stays_as_it_is),
        cmocka_unit_test(a_year_of_an_era_has_the_term_of_its_calendar_year),
        cmocka_unit_test(words_with_a_numeral_in_them_are_not_changed),
        cmocka_unit_test(long_and_broken_numerals_are_given_unchanged),
        cmocka_unit_test(each_row_of_digits_commas_and_numerals_is_read_to_its_end),
        cmocka_unit_test(irregular_english_forms_are_the_same_as_their_word),
        cmocka_unit_test(british_and_american_spellings_are_the_same),
        cmocka_unit_test(words_in_ise_keep_their_relatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
