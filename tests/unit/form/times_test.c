#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"15:30", "15:30", "15:30"},
    {"午後3時半", "15:30", "午後3時半"},
    {"3:30pm", "15:30", "3:30pm"},
    {"noon", "12:00", "noon"},
    {"15時", "15:00", "15時"},
    {"9時です", "09:00", "9時"},
    {"3時", "!NO_VALUE", NULL},
    {"朝9時", "09:00", "朝9時"},
    {"夜8時", "20:00", "夜8時"},
    {"夜の8時半", "20:30", "夜の8時半"},
    {"25時", "!NO_SUCH_TIME", NULL},
    {"15:75", "!NO_SUCH_TIME", NULL},
    {"3時間", "!NO_VALUE", NULL},
    {"正午です", "12:00", "正午"},
    {"午前10時15分", "10:15", "午前10時15分"},
    {"half past three", "!NO_VALUE", NULL},
    {"half past three pm", "15:30", "half past three pm"},
    {"3 o'clock in the afternoon", "15:00", "3 o'clock in the afternoon"},
    {"3 p.m.", "15:00", "3 p.m."},
    {"9:30", "09:30", "9:30"},
    {"09:30", "09:30", "09:30"},
    {"３：３０", "!NO_VALUE", NULL},
    {"12時", "12:00", "12時"},
    {"午後15時", "15:00", "午後15時"},
    {"深夜1時", "01:00", "深夜1時"},
    {"10時か11時", "!NO_VALUE", NULL},
    {"10時から11時", "!NO_VALUE", NULL},
    {"3時以降", "!NO_VALUE", NULL},
    {"midnight", "00:00", "midnight"},
    {"18:00です", "18:00", "18:00"},
    {"３時半", "!NO_VALUE", NULL},
    {"quarter to four pm", "15:45", "quarter to four pm"},
    {"at nine in the morning", "09:00", "nine in the morning"},
    {"9 am", "09:00", "9 am"},
    {"24:00", "!NO_SUCH_TIME", NULL},
    {"三時半", "!NO_VALUE", NULL},
    {"午後三時半", "15:30", "午後三時半"},
    {"10:30:20", "10:30:20", "10:30:20"},
};
static const struct answer_row rows_1[] = {
    {"9:30", "!NO_VALUE", NULL},         {"3:30", "!NO_VALUE", NULL}, {"15:30", "15:30", "15:30"},
    {"9:30 a.m.", "09:30", "9:30 a.m."}, {"5 pm", "17:00", "5 pm"},
};

static const struct answers sets[] = {
    {"{\"type\":\"string\",\"format\":\"time\",\"title\":\"時刻\"}", "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
    {"{\"type\":\"string\",\"format\":\"time\",\"title\":\"時刻\"}", "en", "US", "America/New_York", rows_1,
     COUNT(rows_1)},
};

static void times_are_read_from_the_words_of_a_person(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times_are_read_from_the_words_of_a_person)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
