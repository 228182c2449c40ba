#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"", "!NO_SUCH_CHOICE", NULL},
    {" - ", "!NO_SUCH_CHOICE", NULL},
    {"ノートパソコンです", "laptop", "ノートパソコン"},
    {"ノートパソコン", "laptop", "ノートパソコン"},
    {"ﾉｰﾄﾊﾟｿｺﾝ", "laptop", "ﾉｰﾄﾊﾟｿｺﾝ"},
    {"のーとぱそこんでお願いします", "laptop", "のーとぱそこん"},
    {"laptop", "laptop", "laptop"},
    {"LAPTOP please", "laptop", "LAPTOP"},
    {"タブレット", "tablet", "タブレット"},
    {"iPadがいいです", "tablet", "iPad"},
    {"2番", "desktop", "2番"},
    {"２番目", "desktop", "２番目"},
    {"2", "desktop", "2"},
    {"二番目のでお願いします", "desktop", "二番目"},
    {"最後の", "tablet", "最後の"},
    {"4番", "!NO_SUCH_CHOICE", NULL},
    {"パソコン", "laptop", "パソコン"},
    {"ノートとタブレット", "!SEVERAL_CHOICES", NULL},
    {"ノートパソコンではなくタブレットで", "tablet", "タブレット"},
    {"タブレットは嫌です", "!NO_SUCH_CHOICE", NULL},
    {"ノートパソコンをなくしました", "!NO_SUCH_CHOICE", NULL},
    {"デスクトップ以外", "!NO_SUCH_CHOICE", NULL},
    {"the second one", "desktop", "the second one"},
    {"どれでもいいです", "!NO_SUCH_CHOICE", NULL},
    {"ノートパソコンですか？", "!NO_SUCH_CHOICE", NULL},
    {"ノート", "laptop", "ノート"},
    {"cat", "!NO_SUCH_CHOICE", NULL},
    {"ノートパソコン、いやデスクトップ", "desktop", "デスクトップ"},
};
static const struct answer_row rows_1[] = {
    {"", "!NO_SUCH_CHOICE", NULL},
    {" - ", "!NO_SUCH_CHOICE", NULL},
    {"full time", "Full-time employee", "full time"},
    {"Full-time employee", "Full-time employee", "Full-time employee"},
    {"employee", "!SEVERAL_CHOICES", NULL},
    {"part-time", "Part-time employee", "part-time"},
    {"I'm a contractor", "Contractor", "contractor"},
    {"student", "Student", "student"},
    {"I'm not a student", "!NO_SUCH_CHOICE", NULL},
    {"contractor, I think", "Contractor", "contractor"},
    {"the first one", "Full-time employee", "the first one"},
    {"not full-time but part-time", "!NO_SUCH_CHOICE", NULL},
    {"I was a student but now a contractor", "!SEVERAL_CHOICES", NULL},
    {"number 3", "Contractor", "number 3"},
    {"3", "Contractor", "3"},
    {"either", "!NO_SUCH_CHOICE", NULL},
    {"the last one", "Student", "the last one"},
    {"students", "Student", "students"},
};
static const struct answer_row rows_2[] = {
    {"東京都です", "東京", "東京"},           {"京都です", "京都", "京都"},        {"大阪府", "大阪", "大阪"},
    {"東京と大阪", "!SEVERAL_CHOICES", NULL}, {"西東京", "!NO_SUCH_CHOICE", NULL},
};
static const struct answer_row rows_3[] = {
    {"A", "A", "A"}, {"b", "B", "b"},         {"Plan B", "B", "B"}, {"I'd like a B please", "B", "B"},
    {"a", "A", "a"}, {"Bプランで", "B", "B"},
};
static const struct answer_row rows_4[] = {
    {"red and blue", "[\"red\",\"blue\"]", "red and blue"},
    {"red, green", "[\"red\",\"green\"]", "red, green"},
    {"all of them", "[\"red\",\"green\",\"blue\"]", "all of them"},
    {"all", "[\"red\",\"green\",\"blue\"]", "all"},
    {"none", "[]", "none"},
    {"none of them", "[]", "none of them"},
    {"all except red", "[\"green\",\"blue\"]", "all except red"},
    {"red but not green", "[\"red\"]", "red but not green"},
    {"both", "!NO_SUCH_CHOICE", NULL},
    {"red and yellow", "!NO_SUCH_CHOICE", NULL},
    {"red and blue because they look good", "[\"red\",\"blue\"]", "red and blue"},
    {"blue", "[\"blue\"]", "blue"},
    {"everything but blue", "[\"red\",\"green\"]", "everything but blue"},
    {"I don't want red", "!NO_SUCH_CHOICE", NULL},
    {"the first and the third", "[\"red\",\"blue\"]", "the first and the third"},
    {"not blue", "!NO_SUCH_CHOICE", NULL},
    {"1 and 3", "!NO_SUCH_CHOICE", NULL},
};
static const struct answer_row rows_5[] = {
    {"ケーキとお茶", "[\"cake\",\"tea\"]", "ケーキとお茶"},
    {"両方", "[\"cake\",\"tea\"]", "両方"},
    {"どちらも", "[\"cake\",\"tea\"]", "どちらも"},
    {"全部お願いします", "[\"cake\",\"tea\"]", "全部"},
    {"お茶だけ", "[\"tea\"]", "お茶"},
    {"なし", "!FEW_CHOICES", NULL},
    {"ケーキとコーヒー", "!NO_SUCH_CHOICE", NULL},
    {"お茶以外", "!NO_SUCH_CHOICE", NULL},
    {"特になし", "!FEW_CHOICES", NULL},
    {"ケーキはいりません", "!NO_SUCH_CHOICE", NULL},
};

static const struct answers sets[] = {
    {"{\"oneOf\":[{\"const\":\"laptop\",\"title\":\"ノートパソコン\"},{\"const\":\"desktop\",\"title\":"
     "\"デスクトップ\"},{\"const\":\"tablet\",\"title\":\"タブレット（iPad）\"}],\"title\":\"機器\"}",
     "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
    {"{\"enum\":[\"Full-time employee\",\"Part-time employee\",\"Contractor\",\"Student\"],\"title\":\"Employment\"}",
     "ja", "JP", "Asia/Tokyo", rows_1, COUNT(rows_1)},
    {"{\"enum\":[\"東京\",\"京都\",\"大阪\"],\"title\":\"勤務地\"}", "ja", "JP", "Asia/Tokyo", rows_2, COUNT(rows_2)},
    {"{\"enum\":[\"A\",\"B\",\"C\"],\"title\":\"Plan\"}", "ja", "JP", "Asia/Tokyo", rows_3, COUNT(rows_3)},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\",\"blue\"]},\"title\":\"Colours\"}", "ja", "JP",
     "Asia/Tokyo", rows_4, COUNT(rows_4)},
    {"{\"type\":\"array\",\"items\":{\"oneOf\":[{\"const\":\"cake\",\"title\":\"ケーキ\"},{\"const\":\"tea\",\"title\":"
     "\"お茶\"}]},\"minItems\":1,\"title\":\"注文\"}",
     "ja", "JP", "Asia/Tokyo", rows_5, COUNT(rows_5)},
};

static void choices_are_read_from_the_words_of_a_person(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices_are_read_from_the_words_of_a_person)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
