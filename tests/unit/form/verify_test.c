/* A model's value counts only where the person has said it. */
#include "unit.h"

#include "value_fixture.h"

#include <stdio.h>

static const struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};

static const struct {
    const char *property, *text, *proposed, *value; /* "": not proved */
} rows[] = {
    {"{\"type\":\"number\"}", "三万円くらいです", "30000", "30000"},
    {"{\"type\":\"number\"}", "三万円くらいです", "3万", "30000"},
    {"{\"type\":\"number\"}", "三万円くらいです", "3000", ""},
    {"{\"type\":\"number\"}", "five hundred dollars", "500", "500"},
    {"{\"type\":\"number\"}", "about five people, maybe 6", "6", "6"},
    {"{\"type\":\"number\"}", "not 5", "5", ""},
    {"{\"type\":\"number\"}", "I have 3 kids", "3", ""},
    {"{\"type\":\"number\",\"minimum\":10}", "5人です", "5", "!TOO_SMALL"},
    {"{\"format\":\"date\"}", "来週の金曜に入社します", "2026-12-04", "2026-12-04"},
    {"{\"format\":\"date\"}", "来週の金曜に入社します", "2026-11-27", ""},
    {"{\"format\":\"date\"}", "令和8年4月1日です", "2026-04-01", "2026-04-01"},
    {"{\"format\":\"date\"}", "令和8年4月1日です", "April 1, 2026", "2026-04-01"},
    {"{\"format\":\"date\"}", "4月1日じゃないです", "2027-04-01", ""},
    {"{\"format\":\"date\"}", "決まっていません", "2026-11-23", ""},
    {"{\"format\":\"date\"}", "2月30日です", "2027-02-28", ""},
    {"{\"format\":\"time\"}", "午後3時半", "15:30", "15:30"},
    {"{\"format\":\"time\"}", "午後3時半", "03:30", ""},
    {"{\"format\":\"email\"}", "Ada＠Example.com です", "Ada@example.com", "Ada@example.com"},
    {"{\"format\":\"email\"}", "Ada@example.com です", "bob@example.com", ""},
    {"{\"format\":\"email\"}", "my name is Ada", "ada@example.com", ""},
    {"{\"format\":\"phone\"}", "０９０−１２３４−５６７８", "+819012345678", "+819012345678"},
    {"{\"format\":\"phone\"}", "０９０−１２３４−５６７８", "090-1234-5678", "+819012345678"},
    {"{\"format\":\"phone\"}", "０９０−１２３４−５６７８", "090-1234-5679", ""},
    {"{\"format\":\"uri\"}", "see https://example.com/a.", "https://example.com/a", "https://example.com/a"},
    {"{\"format\":\"uri\"}", "see https://example.com/a.", "https://example.com", ""},
    {"{\"enum\":[\"red\",\"blue\"]}", "the red one or the blue one", "blue", "blue"},
    {"{\"enum\":[\"red\",\"blue\"]}", "not the red one", "red", ""},
    {"{\"enum\":[\"red\",\"blue\"]}", "the colour of blood", "red", ""},
    {"{\"enum\":[\"red\",\"blue\"]}", "the second one", "blue", "blue"},
    {"{\"enum\":[\"red\",\"blue\"]}", "red", "green", ""},
    {"{\"oneOf\":[{\"const\":\"r\",\"title\":\"赤\"},{\"const\":\"b\",\"title\":\"青\"}]}", "赤がいいです", "r", "r"},
    {"{\"oneOf\":[{\"const\":\"r\",\"title\":\"赤\"},{\"const\":\"b\",\"title\":\"青\"}]}", "赤がいいです", "赤", "r"},
    {"{\"oneOf\":[{\"const\":\"r\",\"title\":\"赤\"},{\"const\":\"b\",\"title\":\"青\"}]}", "赤がいいです", "b", ""},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a1\",\"b1\",\"c1\"]}}", "a1 and c1", "[\"c1\",\"a1\"]",
     "[\"a1\",\"c1\"]"},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a1\",\"b1\",\"c1\"]}}", "a1 and c1", "[\"a1\",\"b1\"]", ""},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a1\",\"b1\",\"c1\"]}}", "a1 and c1", "a1, c1", "[\"a1\",\"c1\"]"},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a1\",\"b1\"]}}", "both of them", "[\"a1\",\"b1\"]", "[\"a1\",\"b1\"]"},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a1\",\"b1\"]}}", "hello", "[\"a1\",\"b1\"]", ""},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a1\",\"b1\"]}}", "a1", "[]", ""},
    {"{\"type\":\"boolean\"}", "はい、同意します", "true", "true"},
    {"{\"type\":\"boolean\"}", "はい、同意します", "yes", "true"},
    {"{\"type\":\"boolean\"}", "はい、同意します", "false", ""},
    {"{\"type\":\"boolean\"}", "たぶん", "true", ""},
    {"{\"type\":\"string\"}", "私の名前は 田中 太郎 です", "田中太郎", "田中 太郎"},
    {"{\"type\":\"string\"}", "My name is Ada  Lovelace, thanks", "ada lovelace", "Ada  Lovelace"},
    {"{\"type\":\"string\"}", "My name is Adam", "Ada", ""},
    {"{\"type\":\"string\"}", "部屋は1024です", "24", ""},
    {"{\"type\":\"string\"}", "スカートです", "カート", ""},
    {"{\"type\":\"string\"}", "名前は田中じゃなくて佐藤です", "田中", ""},
    {"{\"type\":\"string\"}", "名前は田中じゃなくて佐藤です", "佐藤", "佐藤"},
    {"{\"type\":\"string\"}", "I am Ada!", "!", ""},
    {"{\"type\":\"string\"}", "I am Ada", "", ""},
    {"{\"type\":\"string\",\"title\":\"Your name\"}", "English, Japan", "English, Japan", ""},
    {"{\"type\":\"string\",\"title\":\"お名前\"}", "日本語、日本", "日本語", ""},
    {"{\"type\":\"string\",\"title\":\"Your name\"}", "I speak English, I'm Jordan", "Jordan", "Jordan"},
    {"{\"type\":\"string\",\"pattern\":\"[A-Z]+\"}", "I am ADA", "ADA", "ADA"},
    {"{\"type\":\"string\",\"pattern\":\"[A-Z]+\"}", "I am Ada", "Ada", "!BAD_PATTERN"},
};

static void a_proposal_is_proved_by_the_words_alone(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena;
        struct form_value value;
        arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
        const struct form *form = value_fixture_form(&arena, arena_printf(&arena, "\"x\":%s", rows[i].property));
        assert_true(form_verify_value(form, 0, rows[i].proposed, rows[i].text, &context, &arena, &value));
        const char *proved = value.problem == FORM_FINE ? value.text
                             : value.problem == FORM_NO_VALUE
                                 ? ""
                                 : arena_printf(&arena, "!%s", problem_names[value.problem]);
        if (strcmp(proved, rows[i].value) != 0) {
            print_error("%s: '%s' of '%s' is '%s', not '%s'\n", rows[i].property, rows[i].proposed, rows[i].text,
                        proved, rows[i].value);
            wrong++;
        }
        assert_true(value.begin <= value.end && value.end <= strlen(rows[i].text));
        arena_fini(&arena);
    }
    assert_int_equal(wrong, 0);
}

/* ---- whatever is proposed -----------------------------------------------------------------------------------------
 */

static uint64_t random_state = 20261123;

static unsigned prove_draw_number(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((random_state >> 33) % below);
}

/* A random value of a type as a model might invent it. */
static void prove_invent_text(char type, char *text, size_t size)
{
    static const char *const words[] = {"Ada",    "Bob",    "田中",   "佐藤", "東京",
                                        "Berlin", "laptop", "broken", "階段", "hello"};
    static const char *const eras[] = {"令和", "平成", "昭和"};
    switch (type) {
    case 'n':
        snprintf(text, size, prove_draw_number(3) ? "%u" : "%u円",
                 prove_draw_number(3) ? prove_draw_number(100) : prove_draw_number(1000000));
        break;
    case 'd':
        if (prove_draw_number(4) == 0)
            snprintf(text, size, "%s%u年%u月%u日", eras[prove_draw_number(3)], 1 + prove_draw_number(30),
                     1 + prove_draw_number(12), 1 + prove_draw_number(28));
        else
            snprintf(text, size, "20%02u-%02u-%02u", 20 + prove_draw_number(10), 1 + prove_draw_number(12),
                     1 + prove_draw_number(28));
        break;
    case 't':
        snprintf(text, size, "%02u:%02u", prove_draw_number(24), 5 * prove_draw_number(12));
        break;
    case 'e':
        snprintf(text, size, "%c%c%u@example.com", 'a' + prove_draw_number(26), 'a' + prove_draw_number(26),
                 prove_draw_number(10));
        break;
    case 'p':
        snprintf(text, size, prove_draw_number(2) ? "+8190%08u" : "090%08u", prove_draw_number(100000000));
        break;
    default:
        snprintf(text, size, "%s%s%s", words[prove_draw_number(10)], prove_draw_number(2) ? " " : "",
                 words[prove_draw_number(10)]);
    }
}

static const struct {
    char type;
    const char *property;
    const char *texts[4];
    const char *said[4]; /* all values of the texts, each by its text */
} saids[] = {
    {'n',
     "{\"type\":\"number\"}",
     {"三万五千円です", "I need 42 of them", "まだ分かりません", "3つ、いや4つ"},
     {"35000", "42", "", "3 4"}},
    {'d',
     "{\"format\":\"date\"}",
     {"令和8年4月1日です", "next Friday or so", "来週の金曜です", "まだ決まっていません"},
     {"2026-04-01", "", "2026-12-04", ""}},
    {'t',
     "{\"format\":\"time\"}",
     {"午後3時半です", "9:30 か 10:00", "in the evening", "3時間"},
     {"15:30", "09:30 10:00", "", ""}},
    {'e',
     "{\"format\":\"email\"}",
     {"ab1@example.com です", "cd2 at example.com", "zz9@example.org", "メールはありません"},
     {"ab1@example.com", "", "zz9@example.org", ""}},
    {'p',
     "{\"format\":\"phone\"}",
     {"090-1234-5678", "携帯は持っていません", "+81 90 1111 2222", "番号は秘密です"},
     {"+819012345678", "", "+819011112222", ""}},
    {'w',
     "{\"type\":\"string\"}",
     {"I fell down", "何も言うことはありません", "Adam and Bobby", "破れました"},
     {"", "", "", ""}},
};

#define PROPOSALS 3000

static void an_invented_value_is_never_proved(void **state)
{
    (void)state;
    size_t proved = 0, tried = 0;
    for (size_t set = 0; set < COUNT(saids); set++) {
        struct arena arena;
        arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
        const struct form *form = value_fixture_form(&arena, arena_printf(&arena, "\"x\":%s", saids[set].property));
        for (size_t i = 0; i < PROPOSALS; i++) {
            struct arena own;
            struct form_value value;
            char proposed[128];
            size_t which = prove_draw_number(4);
            prove_invent_text(saids[set].type, proposed, sizeof(proposed));
            arena_init(&own, NULL, 0, FORM_TEST_MEMORY);
            assert_true(form_verify_value(form, 0, proposed, saids[set].texts[which], &context, &own, &value));
            tried++;
            if (value.problem == FORM_FINE) {
                proved++;
                if (!strstr(saids[set].said[which], value.text))
                    fail_msg("'%s' was taken as '%s' of '%s'", proposed, value.text, saids[set].texts[which]);
            }
            arena_fini(&own);
        }
        arena_fini(&arena);
    }
    print_message("%zu proposals, %zu that were said\n", tried, proved);
    assert_in_range(proved, 1, tried / 4); /* the test sees both kinds */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proposal_is_proved_by_the_words_alone),
        cmocka_unit_test(an_invented_value_is_never_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
