#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"はい", "true", "はい"},
    {"はい、同意します", "true", "はい、同意します"},
    {"ええ", "true", "ええ"},
    {"うん", "true", "うん"},
    {"いいえ", "false", "いいえ"},
    {"いいえ、違います", "false", "いいえ、違います"},
    {"違います", "false", "違います"},
    {"yep", "true", "yep"},
    {"nope", "false", "nope"},
    {"that's right", "true", "that's right"},
    {"Yes, I have a car.", "true", "Yes, I have"},
    {"No, I don't", "false", "No, I don't"},
    {"no problem", "!UNCLEAR_YES_NO", NULL},
    {"大丈夫です", "!UNCLEAR_YES_NO", NULL},
    {"結構です", "!UNCLEAR_YES_NO", NULL},
    {"yes and no", "!UNCLEAR_YES_NO", NULL},
    {"はい、持っていません", "!UNCLEAR_YES_NO", NULL},
    {"はい、でも", "!UNCLEAR_YES_NO", NULL},
    {"たぶん", "!UNCLEAR_YES_NO", NULL},
    {"I do", "true", "I do"},
    {"I don't", "false", "I don't"},
    {"I'm not sure", "!UNCLEAR_YES_NO", NULL},
    {"そうです", "true", "そうです"},
    {"そうじゃないです", "false", "そうじゃないです"},
    {"あります", "true", "あります"},
    {"ありません", "false", "ありません"},
    {"No, I take the train", "false", "No"},
    {"yes please", "true", "yes please"},
    {"no thanks", "false", "no thanks"},
    {"はいいいえ", "!UNCLEAR_YES_NO", NULL},
    {"わかりません", "!UNCLEAR_YES_NO", NULL},
    {"はい？", "!UNCLEAR_YES_NO", NULL},
    {"no", "false", "no"},
    {"NO!", "false", "NO"},
    {"ｙｅｓ", "true", "ｙｅｓ"},
    {"いいえ、ありません", "false", "いいえ、ありません"},
    {"はい、お願いします", "true", "はい"},
    {"Of course not", "false", "Of course not"},
    {"not yet", "false", "not yet"},
    {"sure", "true", "sure"},
    {"Right.", "true", "Right"},
    {"I am", "true", "I am"},
    {"yes I'm not allergic", "!UNCLEAR_YES_NO", NULL},
    {"はいろう", "!UNCLEAR_YES_NO", NULL},
    {"nothing", "!UNCLEAR_YES_NO", NULL},
    {"はい。あります。", "true", "はい。あります"},
    {"ない", "false", "ない"},
    {"もちろんです！", "true", "もちろんです"},
    {"いや、あります", "!UNCLEAR_YES_NO", NULL},
};

static const struct answers sets[] = {
    {"{\"type\":\"boolean\",\"title\":\"同意しますか\"}", "ja", "JP", "Asia/Tokyo", rows_0, COUNT(rows_0)},
};

static void yes_and_no_are_read_from_the_words_of_a_person(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(yes_and_no_are_read_from_the_words_of_a_person)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
