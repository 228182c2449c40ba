#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"5", "5", "5"},
    {"５人です", "5", "５人"},
    {"三万円", "30000", "三万円"},
    {"3万5千円です", "35000", "3万5千円"},
    {"1,234.5", "1234.5", "1,234.5"},
    {"12,5", "!NOT_A_NUMBER", NULL},
    {"five hundred", "500", "five hundred"},
    {"twenty-five people", "25", "twenty-five people"},
    {"a hundred and five", "105", "a hundred and five"},
    {"1.5k", "1500", "1.5k"},
    {"1.5 million", "1500000", "1.5 million"},
    {"-5", "!TOO_SMALL", NULL},
    {"マイナス5", "!TOO_SMALL", NULL},
    {"30代です", "!NOT_A_NUMBER", NULL},
    {"30以上", "!NOT_A_NUMBER", NULL},
    {"十分です", "!NOT_A_NUMBER", NULL},
    {"一番です", "!NOT_A_NUMBER", NULL},
    {"5か6", "!NOT_A_NUMBER", NULL},
    {"5 or 6", "!NOT_A_NUMBER", NULL},
    {"5 to 10", "!NOT_A_NUMBER", NULL},
    {"5, no wait, 6", "6", "6"},
    {"5じゃなくて6です", "6", "6"},
    {"not 5", "!NOT_A_NUMBER", NULL},
    {"二十三", "23", "二十三"},
    {"１，２３４人", "1234", "１，２３４人"},
    {"1.2.3", "!NOT_A_NUMBER", NULL},
    {"2026/4/1", "!NOT_A_NUMBER", NULL},
    {"090-1234-5678", "!NOT_A_NUMBER", NULL},
    {"千葉です", "!NOT_A_NUMBER", NULL},
    {"三田です", "!NOT_A_NUMBER", NULL},
    {"約30", "30", "30"},
    {"30くらいです", "30", "30"},
    {"3 kids", "!NOT_A_NUMBER", NULL},
    {"30ですか？", "!NOT_A_NUMBER", NULL},
    {"3つ", "3", "3つ"},
    {"ひとつ", "1", "ひとつ"},
    {"two and a half", "2.5", "two and a half"},
    {"nineteen eighty five", "!NOT_A_NUMBER", NULL},
    {"zero", "0", "zero"},
    {"1万2千3百", "12300", "1万2千3百"},
    {"12345678901234567890", "!NOT_A_NUMBER", NULL},
    {"E1024", "!NOT_A_NUMBER", NULL},
    {"half", "!NOT_A_NUMBER", NULL},
    {"3kg", "3", "3kg"},
    {"いくつですか", "!NOT_A_NUMBER", NULL},
    {"change it to 7", "7", "7"},
    {"10人じゃないです、12人です", "12", "12人"},
    {"一億二千万", "120000000", "一億二千万"},
    {"0.50", "0.5", "0.50"},
    {"007", "7", "007"},
    {".5", "!NOT_A_NUMBER", NULL},
    {"5 laptops", "!NOT_A_NUMBER", NULL},
};
static const struct answer_row rows_1[] = {
    {"1.234,5", "1234.5", "1.234,5"},
    {"1.234", "!NOT_A_NUMBER", NULL},
    {"12,5", "12.5", "12,5"},
};

static const struct answers sets[] = {
    {"{\"type\":\"number\",\"title\":\"人数\",\"minimum\":0}", "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
    {"{\"type\":\"number\",\"title\":\"人数\",\"minimum\":0}", "de", "DE", "Europe/Berlin", rows_1, COUNT(rows_1)},
};

static void numbers_are_read_from_the_words_of_a_person(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_read_from_the_words_of_a_person)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
