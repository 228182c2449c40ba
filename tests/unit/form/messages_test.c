/* Sentences for the person, in Japanese and English. */
#include "unit.h"

#include "value_fixture.h"

static const struct {
    const char *property, *words, *ja, *en;
} problems[] = {
    {"{\"format\":\"date\"}", "2月30日", "2月30日という日はありません。", "There is no such date as \"2月30日\"."},
    {"{\"format\":\"date\"}", "そのうち", "日付を教えてください（例：4月1日、来週の金曜日）。",
     "Please tell me the day, for example April 1 or next Friday."},
    {"{\"format\":\"date\"}", "03/04/05", "年月日がはっきりするように教えてください（例：2026年11月23日）。",
     "Please tell me the day with its month and year, for example November 23, 2026."},
    {"{\"format\":\"time\"}", "25時", "25時という時刻はありません。", "There is no such time of day as \"25時\"."},
    {"{\"type\":\"number\",\"minimum\":0}", "-5", "0以上の数字で教えてください。",
     "Please give me a number of at least 0."},
    {"{\"type\":\"number\",\"maximum\":12000}", "5万", "12,000以下の数字で教えてください。",
     "Please give me a number of at most 12,000."},
    {"{\"type\":\"integer\"}", "1.5", "小数のない数字（整数）で教えてください。", "Please give me a whole number."},
    {"{\"type\":\"number\"}", "たくさん", "数字をひとつ教えてください。", "Please give me one number."},
    {"{\"enum\":[\"red\",\"blue\"]}", "green", "次の中から選んでください：red、blue。",
     "Please choose one of these: red, blue."},
    {"{\"enum\":[\"red\",\"blue\"]}", "red and blue", "どれかひとつに決めてください：red、blue。",
     "Which one do you mean? Please choose one: red, blue."},
    {"{\"type\":\"boolean\"}", "大丈夫です", "「はい」か「いいえ」で教えてください。", "Is that a yes or a no?"},
    {"{\"type\":\"string\",\"minLength\":5}", "abc", "5文字以上でお願いします。",
     "Could you write at least 5 characters, please?"},
    {"{\"type\":\"string\",\"maxLength\":2}", "abc", "2文字以内でお願いします。",
     "Could you keep it to 2 characters, please?"},
    {"{\"type\":\"array\",\"minItems\":2,\"items\":{\"enum\":[\"red\",\"blue\"]}}", "red", "2個以上選んでください。",
     "Please choose at least 2."},
    {"{\"format\":\"email\"}", "ada.example.com",
     "メールアドレスの形になっていないようです。もう一度教えてください（例：name@example.com）。",
     "That does not look like an e-mail address. Could you give it again, like name@example.com?"},
    {"{\"type\":\"string\",\"pattern\":\"[0-9]+\"}", "abc",
     "決まった形に合わないようです。もう一度確かめて教えてください。",
     "That does not have the form that is needed. Could you check it, please?"},
};

static void each_problem_has_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};
        struct arena arena;
        struct form_value value;
        arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
        const struct form *form = value_fixture_form(&arena, arena_printf(&arena, "\"x\":%s", problems[i].property));
        assert_true(form_read_value(form, 0, problems[i].words, &context, &arena, &value));
        assert_string_equal(form_problem_message(form, 0, &value, &context, &arena), problems[i].ja);
        context.language = "en";
        assert_string_equal(form_problem_message(form, 0, &value, &context, &arena), problems[i].en);
        arena_fini(&arena);
    }
}

static void no_problem_is_left_without_words(void **state)
{
    (void)state;
    struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};
    struct arena arena;
    arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
    const struct form *form = value_fixture_form(&arena, "\"x\":{\"type\":\"number\",\"minimum\":1,\"maximum\":2}");
    for (int problem = FORM_NO_VALUE; problem <= FORM_BAD_PATTERN; problem++) {
        const struct form_value value = {.problem = (enum form_problem)problem, .text = ""};
        for (int english = 0; english < 2; english++) {
            context.language = english ? "en" : "ja";
            const char *said = form_problem_message(form, 0, &value, &context, &arena);
            assert_true(said != NULL && strlen(said) > 10);
            assert_null(strstr(said, "%s"));
        }
    }
    arena_fini(&arena);
}

static void each_type_but_text_tells_the_form_that_its_values_have(void **state)
{
    (void)state;
    static const struct {
        const char *property, *ja, *en;
    } rows[] = {
        {"{\"type\":\"string\"}", "", ""},
        {"{\"type\":\"number\"}", "数字をひとつ教えてください。", "Please give me one number."},
        {"{\"format\":\"date\"}", "日付を教えてください（例：4月1日、来週の金曜日）。",
         "Please tell me the day, for example April 1 or next Friday."},
        {"{\"format\":\"time\"}", "時刻を教えてください（例：午前9時30分、15:00）。",
         "Please tell me the time of day, for example 9:30 am or 15:00."},
        {"{\"format\":\"email\"}", "メールアドレスを教えてください（例：name@example.com）。",
         "Please give me an e-mail address, like name@example.com."},
        {"{\"format\":\"uri\"}", "ウェブのアドレスを教えてください（例：https://example.com）。",
         "Please give me the address of a web page, like https://example.com."},
        {"{\"enum\":[\"red\",\"blue\"]}", "次の中から選んでください。", "Please choose one of these."},
        {"{\"type\":\"array\",\"items\":{\"enum\":[\"red\"]}}", "次の中から選んでください（複数可）。",
         "Please choose from these; there may be several."},
        {"{\"type\":\"boolean\"}", "「はい」か「いいえ」で教えてください。", "Is that a yes or a no?"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};
        struct arena arena;
        arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
        const struct form *form = value_fixture_form(&arena, arena_printf(&arena, "\"x\":%s", rows[i].property));
        assert_string_equal(form_wanted_message(form, 0, &context), rows[i].ja);
        context.language = "en";
        assert_string_equal(form_wanted_message(form, 0, &context), rows[i].en);
        arena_fini(&arena);
    }
}

static void values_are_said_as_a_person_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *property, *text, *ja, *en;
    } rows[] = {
        {"{\"format\":\"date\"}", "2026-04-01", "2026年4月1日", "April 1, 2026"},
        {"{\"type\":\"number\"}", "1234567.5", "1,234,567.5", "1,234,567.5"},
        {"{\"type\":\"number\"}", "-999", "-999", "-999"},
        {"{\"type\":\"number\"}", "-1000", "-1,000", "-1,000"},
        {"{\"type\":\"boolean\"}", "true", "はい", "yes"},
        {"{\"type\":\"boolean\"}", "false", "いいえ", "no"},
        {"{\"oneOf\":[{\"const\":\"l\",\"title\":\"Loan\"}]}", "l", "Loan", "Loan"},
        {"{\"type\":\"array\",\"items\":{\"oneOf\":[{\"const\":\"l\",\"title\":\"Loan\"},{\"const\":\"g\"}]}}",
         "[\"l\",\"g\"]", "Loan、g", "Loan, g"},
        {"{\"type\":\"array\",\"items\":{\"enum\":[\"l\"]}}", "[]", "なし", "none"},
        {"{\"type\":\"string\"}", "as it is", "as it is", "as it is"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};
        struct arena arena;
        arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
        const struct form *form = value_fixture_form(&arena, arena_printf(&arena, "\"x\":%s", rows[i].property));
        assert_string_equal(form_value_text(form, 0, rows[i].text, &context, &arena), rows[i].ja);
        context.language = "en";
        assert_string_equal(form_value_text(form, 0, rows[i].text, &context, &arena), rows[i].en);
        arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_problem_has_a_sentence),
        cmocka_unit_test(no_problem_is_left_without_words),
        cmocka_unit_test(each_type_but_text_tells_the_form_that_its_values_have),
        cmocka_unit_test(values_are_said_as_a_person_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
