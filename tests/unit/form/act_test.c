/* Wishes that a person has besides answering. */
#include "unit.h"

#include "value_fixture.h"

static const char properties[] =
    "\"name\":{\"title\":\"お名前\"},"
    "\"email\":{\"type\":\"string\",\"format\":\"email\",\"title\":\"E-mail\"},"
    "\"tel\":{\"type\":\"string\",\"format\":\"phone\",\"title\":\"電話番号\"},"
    "\"start\":{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"},"
    "\"amount\":{\"type\":\"integer\",\"minimum\":0,\"title\":\"金額\"},"
    "\"pc\":{\"oneOf\":[{\"const\":\"laptop\",\"title\":\"ノートパソコン\"},{\"const\":\"desktop\",\"title\":"
    "\"デスクトップ\"}],\"title\":\"機器\"},"
    "\"colours\":{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\",\"blue\"]},\"title\":\"Colours\"},"
    "\"news\":{\"type\":\"boolean\",\"title\":\"ニュースレター\"},\"note\":{\"title\":\"Comment\"}";

static const struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};

static const char *const wish_names[] = {
    [FORM_ANSWERS] = "answers", [FORM_SKIPS] = "skips",    [FORM_DOES_NOT_KNOW] = "unknowing",
    [FORM_ASKS_WHY] = "why",    [FORM_GOES_BACK] = "back", [FORM_CHANGES] = "changes",
    [FORM_SPEAKS] = "speaks",   [FORM_ASKS_WHAT] = "what", [FORM_ASKS_STATE] = "state",
};

static void wishes_are_heard_where_the_whole_text_is_one(void **state)
{
    (void)state;
    static const struct {
        const char *words, *act;
    } rows[] = {
        {"skip", "skips"},
        {"skip this question please", "skips"},
        {"Skip it, because it's private", "skips: it's private"},
        {"飛ばしてください", "skips"},
        {"スキップ", "skips"},
        {"次へ", "skips"},
        {"next Friday", "answers"},
        {"まだ届いていないので、分かりません", "unknowing: まだ届いていないので"},
        {"分かりません", "unknowing"},
        {"I don't know", "unknowing"},
        {"I don't know yet", "unknowing"},
        {"I don't know what you mean", "what"},
        {"no idea, skip it", "skips: no idea"},
        {"why do you ask?", "why"},
        {"Why?", "why"},
        {"なぜ必要ですか", "why"},
        {"何のためですか？", "why"},
        {"go back", "back"},
        {"前の質問に戻って", "back"},
        {"戻ってください", "back"},
        {"change the e-mail", "changes email"},
        {"メールを変更したいです", "changes email"},
        {"change my e-mail please", "changes email"},
        {"日本語でお願いします", "speaks ja"},
        {"English please", "speaks en"},
        {"can we speak English?", "speaks en"},
        {"in Spanish", "speaks es"},
        {"English", "answers"},
        {"what does that mean?", "what"},
        {"例えば？", "what"},
        {"どういう意味ですか", "what"},
        {"what have I said so far?", "state"},
        {"あと何問ありますか？", "state"},
        {"how many questions are left?", "state"},
        {"I fell because I was tired", "answers"},
        {"田中です", "answers"},
        {"my back hurts", "answers"},
        {"I passed the test", "answers"},
        {"what happened was terrible", "answers"},
        {"次の日に行きました", "answers"},
        {"忘れました", "unknowing"},
        {"理由はありません", "answers"},
        {"答えたくないです", "skips"},
        {"it's personal so I'd rather not say", "skips: it's personal"},
        {"I'd rather not answer", "skips"},
        {"パスポート", "answers"},
        {"help", "what"},
        {"ノートパソコン", "answers"},
        {"後で答えます", "skips"},
        {"What is an example?", "what"},
        {"I'm not sure", "unknowing"},
        {"えっと、わかりません", "unknowing"},
        {"show me my answers", "state"},
        {"戻る", "back"},
        {"I want to change the name", "changes name"},
        {"Sorry, I don't understand the question", "what"},

    };
    struct arena arena;
    arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
    const struct form *form = value_fixture_form(&arena, properties);
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_utterance heard;
        assert_true(form_read_act(form, rows[i].words, &context, &arena, &heard));
        const char *act = arena_printf(&arena, "%s%s%s%s%s", wish_names[heard.act], heard.field >= 0 ? " " : "",
                                       heard.field >= 0 ? form_field(form, (size_t)heard.field)->field_id : "",
                                       heard.language ? " " : "", heard.language ? heard.language : "");
        act = heard.reason ? arena_printf(&arena, "%s: %s", act, heard.reason) : act;
        if (strcmp(act, rows[i].act) != 0) {
            print_error("'%s' is heard as '%s', not '%s'\n", rows[i].words, act, rows[i].act);
            wrong++;
        }
    }
    arena_fini(&arena);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishes_are_heard_where_the_whole_text_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
