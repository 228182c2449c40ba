#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"2026-04-01", "2026-04-01", "2026-04-01"},
    {"2026/4/1", "2026-04-01", "2026/4/1"},
    {"2026年4月1日", "2026-04-01", "2026年4月1日"},
    {"令和8年4月1日", "2026-04-01", "令和8年4月1日"},
    {"平成31年4月30日です", "2019-04-30", "平成31年4月30日"},
    {"令和元年5月1日", "2019-05-01", "令和元年5月1日"},
    {"昭和60年1月2日", "1985-01-02", "昭和60年1月2日"},
    {"R8.4.1", "2026-04-01", "R8.4.1"},
    {"西暦2026年4月1日", "2026-04-01", "西暦2026年4月1日"},
    {"二〇二六年四月一日", "2026-04-01", "二〇二六年四月一日"},
    {"４月１日", "2027-04-01", "４月１日"},
    {"4/1", "2027-04-01", "4/1"},
    {"4月1日(水)", "2026-04-01", "4月1日(水)"},
    {"4月1日（金）", "!UNCLEAR_DATE", NULL},
    {"April 1st", "2027-04-01", "April 1st"},
    {"April 1, 2027", "2027-04-01", "April 1, 2027"},
    {"1 April 2027", "2027-04-01", "1 April 2027"},
    {"the 1st of April", "2027-04-01", "1st of April"},
    {"next Friday", "2026-12-04", "next Friday"},
    {"来週の金曜", "2026-12-04", "来週の金曜"},
    {"来週の金曜日です", "2026-12-04", "来週の金曜日"},
    {"明日", "2026-11-24", "明日"},
    {"明後日", "2026-11-25", "明後日"},
    {"3日前", "2026-11-20", "3日前"},
    {"in two weeks", "2026-12-07", "in two weeks"},
    {"two weeks ago", "2026-11-09", "two weeks ago"},
    {"昨日", "2026-11-22", "昨日"},
    {"今週の水曜", "2026-11-25", "今週の水曜"},
    {"金曜日", "!UNCLEAR_DATE", NULL},
    {"2月30日", "!NO_SUCH_DATE", NULL},
    {"2026/2/30", "!NO_SUCH_DATE", NULL},
    {"2026年13月1日", "!NO_SUCH_DATE", NULL},
    {"03/04/05", "!UNCLEAR_DATE", NULL},
    {"4/1/2027", "!UNCLEAR_DATE", NULL},
    {"13/1/2027", "2027-01-13", "13/1/2027"},
    {"20260401", "2026-04-01", "20260401"},
    {"来月3日", "2026-12-03", "来月3日"},
    {"今月末", "2026-11-30", "今月末"},
    {"来年の4月1日", "2027-04-01", "来年の4月1日"},
    {"来年4月1日", "2027-04-01", "来年4月1日"},
    {"4月1日から", "2027-04-01", "4月1日"},
    {"4月1日以降", "!UNCLEAR_DATE", NULL},
    {"4月1日か4月2日", "!UNCLEAR_DATE", NULL},
    {"4月1日じゃなくて4月2日です", "2027-04-02", "4月2日"},
    {"4月1日、いや4月2日です", "2027-04-02", "4月2日"},
    {"明日香です", "!NO_VALUE", NULL},
    {"2026.4.1", "2026-04-01", "2026.4.1"},
    {"3.5", "!NO_VALUE", NULL},
    {"10年前", "!UNCLEAR_DATE", NULL},
    {"April", "!UNCLEAR_DATE", NULL},
    {"5月", "!NO_VALUE", NULL},
    {"the 15th", "!NO_VALUE", NULL},
    {"Wed, April 1", "2026-04-01", "Wed, April 1"},
    {"Friday, April 3rd", "2026-04-03", "Friday, April 3rd"},
    {"1 week ago", "2026-11-16", "1 week ago"},
    {"a week from today", "2026-11-30", "a week from today"},
    {"tomorrow", "2026-11-24", "tomorrow"},
    {"day after tomorrow", "2026-11-25", "day after tomorrow"},
    {"5月3日ごろ", "!UNCLEAR_DATE", NULL},
    {"元日", "!NO_VALUE", NULL},
    {"2/29", "2028-02-29", "2/29"},
    {"今日からです", "2026-11-23", "今日"},
    {"3日間", "!NO_VALUE", NULL},
    {"1990年5月5日生まれです", "1990-05-05", "1990年5月5日"},
    {"Fri", "!NO_VALUE", NULL},
    {"this Friday", "2026-11-27", "this Friday"},
    {"last friday", "2026-11-20", "last friday"},
    {"Monday next week", "2026-11-30", "Monday next week"},
    {"11月1日", "2026-11-01", "11月1日"},
    {"今日じゃなくて明日です", "2026-11-24", "明日"},
    {"明日にはならないと思います", "!NO_VALUE", NULL},
    {"11/22(日)", "2026-11-22", "11/22(日)"},
    {"R8年4月1日", "2026-04-01", "R8年4月1日"},
    {"on 4/1 I think", "2027-04-01", "4/1"},
    {"令和8年2月30日", "!NO_SUCH_DATE", NULL},
};
static const struct answer_row rows_1[] = {
    {"4/1", "2027-04-01", "4/1"},
    {"12/25/2026", "2026-12-25", "12/25/2026"},
    {"25/12/2026", "!NO_SUCH_DATE", NULL},
    {"4/1/26", "!UNCLEAR_DATE", NULL},
    {"April 1st, 2026", "2026-04-01", "April 1st, 2026"},
    {"Apr. 5", "2027-04-05", "Apr. 5"},
};
static const struct answer_row rows_2[] = {
    {"4/1", "2027-01-04", "4/1"},
    {"1/4/2027", "2027-04-01", "1/4/2027"},
    {"01.04.2027", "2027-04-01", "01.04.2027"},
};
static const struct answer_row rows_3[] = {
    {"4/1", "!UNCLEAR_DATE", NULL},
    {"13/1", "2027-01-13", "13/1"},
    {"5/5", "!UNCLEAR_DATE", NULL},
    {"2026-04-01", "2026-04-01", "2026-04-01"},
};

static const struct answers sets[] = {
    {"{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"}", "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
    {"{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"}", "en", "US", "America/New_York", rows_1,
     COUNT(rows_1)},
    {"{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"}", "en", "GB", "Europe/London", rows_2,
     COUNT(rows_2)},
    {"{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"}", "en", "", "", rows_3, COUNT(rows_3)},
};

static void dates_are_read_from_the_words_of_a_person(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dates_are_read_from_the_words_of_a_person)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
