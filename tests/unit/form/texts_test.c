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

static const struct answers sets[] = {
    {"{\"type\":\"string\",\"title\":\"お名前\"}", "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
    {"{\"type\":\"string\",\"title\":\"What happened?\"}", "ja", "JP", "Asia/Tokyo", rows_1, COUNT(rows_1)},
    {"{\"type\":\"string\",\"title\":\"社員番号\",\"pattern\":\"[A-Z]{2}[0-9]{4}\"}", "ja", "JP", "Asia/Tokyo", rows_2,
     COUNT(rows_2)},
    {"{\"type\":\"string\",\"title\":\"コメント\",\"minLength\":3,\"maxLength\":10}", "ja", "JP", "Asia/Tokyo", rows_3,
     COUNT(rows_3)},
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
