#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"田中です", "田中", "田中"},
    {"田中太郎と申します。", "田中太郎", "田中太郎"},
    {"私の名前は田中花子です", "田中花子", "田中花子"},
    {"名前は田中です。よろしくお願いします", "田中", "田中"},
    {"たなか はなこです", "たなか はなこ", "たなか はなこ"},
    {"My name is Ada Lovelace.", "Ada Lovelace", "Ada Lovelace"},
    {"I'm Ada", "Ada", "Ada"},
    {"Ada Lovelace, thanks", "Ada Lovelace", "Ada Lovelace"},
    {"It's Ada", "Ada", "Ada"},
    {"Hi, I'm Ada!", "Ada", "Ada"},
    {"Martin Luther King Jr.", "Martin Luther King Jr", "Martin Luther King Jr"},
    {"お名前は田中です", "田中", "田中"},
    {"田中", "田中", "田中"},
    {"Ada said thanks", "Ada said thanks", "Ada said thanks"},
    {"名前：田中太郎", "田中太郎", "田中太郎"},
    {"   ", "!NO_VALUE", NULL},
};
static const struct answer_row rows_1[] = {
    {"I fell from the ladder. It hurt.", "I fell from the ladder. It hurt.", "I fell from the ladder. It hurt."},
    {"I'm sure that the ladder was broken because nobody had looked at it for years, and I said so twice.",
     "I'm sure that the ladder was broken because nobody had looked at it for years, and I said so twice",
     "I'm sure that the ladder was broken because nobody had looked at it for years, and I said so twice"},
    {"階段で転びました。", "階段で転びました", "階段で転びました"},
    {"転んで怪我をしたためです", "転んで怪我をしたためです", "転んで怪我をしたためです"},
    {"It was raining", "It was raining", "It was raining"},
};
static const struct answer_row rows_2[] = {
    {"AB1234", "AB1234", "AB1234"},
    {"ＡＢ１２３４", "AB1234", "ＡＢ１２３４"},
    {"社員番号はAB1234です", "AB1234", "AB1234"},
    {"it's AB1234, I think", "AB1234", "AB1234"},
    {"ab1234", "!BAD_PATTERN", NULL},
    {"AB12345", "!BAD_PATTERN", NULL},
    {"AB1234 or CD5678", "!BAD_PATTERN", NULL},
};
static const struct answer_row rows_3[] = {
    {"はい", "!TOO_SHORT", NULL},
    {"ちょうどいいです", "ちょうどいいです", "ちょうどいいです"},
    {"これはとてもとても長い文章です", "!TOO_LONG", NULL},
};

static const struct answer_row rows_4[] = {
    {"English, Japan", "!NO_VALUE", NULL},
    {"English and Japanese", "!NO_VALUE", NULL},
    {"Japan", "!NO_VALUE", NULL},
    {"I'm Japanese", "!NO_VALUE", NULL},
    {"English Japan", "!NO_VALUE", NULL},
    {"English, Jordan", "!NO_VALUE", NULL},
    {"New Zealand", "!NO_VALUE", NULL},
    {"Jordan", "Jordan", "Jordan"},
    {"Chad", "Chad", "Chad"},
    {"My name is Georgia.", "Georgia", "Georgia"},
    {"Jordan Chad", "Jordan Chad", "Jordan Chad"},
    {"Chad, Jordan", "Chad, Jordan", "Chad, Jordan"},
    {"Paris Hilton", "Paris Hilton", "Paris Hilton"},
    {"Israel Tanaka", "Israel Tanaka", "Israel Tanaka"},
    {"Jordan English", "Jordan English", "Jordan English"},
    {"Mari Fang", "Mari Fang", "Mari Fang"},
    {"Dawn French", "Dawn French", "Dawn French"},
    {"Al", "Al", "Al"},
    {"Ty", "Ty", "Ty"},
};
static const struct answer_row rows_5[] = {
    {"日本語", "!NO_VALUE", NULL},
    {"日本語、日本", "!NO_VALUE", NULL},
    {"日本語と英語です", "!NO_VALUE", NULL},
    {"英語・アメリカ", "!NO_VALUE", NULL},
    {"日本です", "!NO_VALUE", NULL},
    {"English, Japan", "!NO_VALUE", NULL},
    {"マリ", "マリ", "マリ"},
    {"西", "西", "西"},
    {"西 蘭", "西 蘭", "西 蘭"},
    {"カナダ マリ", "カナダ マリ", "カナダ マリ"},
    {"日本太郎", "日本太郎", "日本太郎"},
    {"中国花子です", "中国花子", "中国花子"},
};
static const struct answer_row rows_6[] = {
    {"English", "English", "English"},
    {"It's Ireland", "Ireland", "Ireland"},
    {"English, Japan", "!NO_VALUE", NULL},
};
static const struct answer_row rows_7[] = {
    {"Japan", "Japan", "Japan"},
    {"English, Japan", "English, Japan", "English, Japan"},
};

static const struct answers sets[] = {
    {"{\"type\":\"string\",\"title\":\"お名前\"}", "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
    {"{\"type\":\"string\",\"title\":\"What happened?\"}", "ja", "JP", "Asia/Tokyo", rows_1, COUNT(rows_1)},
    {"{\"type\":\"string\",\"title\":\"社員番号\",\"pattern\":\"[A-Z]{2}[0-9]{4}\"}", "ja", "JP", "Asia/Tokyo", rows_2,
     COUNT(rows_2)},
    {"{\"type\":\"string\",\"title\":\"コメント\",\"minLength\":3,\"maxLength\":10}", "ja", "JP", "Asia/Tokyo", rows_3,
     COUNT(rows_3)},
    {"{\"type\":\"string\",\"title\":\"Your full name\"}", "en", "US", "America/New_York", rows_4, COUNT(rows_4)},
    {"{\"type\":\"string\",\"title\":\"氏名\"}", "ja", "JP", "Asia/Tokyo", rows_5, COUNT(rows_5)},
    {"{\"type\":\"string\",\"title\":\"Last name\"}", "en", "US", "America/New_York", rows_6, COUNT(rows_6)},
    {"{\"type\":\"string\",\"title\":\"Country name\"}", "en", "US", "America/New_York", rows_7, COUNT(rows_7)},
    {"{\"type\":\"string\",\"title\":\"Why?\"}", "en", "US", "America/New_York", rows_7, COUNT(rows_7)},
};

static void texts_are_read_without_the_frame_of_a_short_answer(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_read_without_the_frame_of_a_short_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
