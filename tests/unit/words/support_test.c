#include "words/support.h"

#include "unit.h"

#define MEMORY_MAX ((size_t)64 << 20)

static const struct passage passages[] = {
    {.text = "再試行の回数は3回です。設定ファイルはconfig.yamlです。\nログは/var/log/xyzに保存されます。",
     .heading = "XYZシステムの設定"},
    {.text = "The server listens on port 8080. TLS certificates are renewed every night. Restart it\nafter a change.",
     .heading = "Operating the server"},
    {.text = "パスワードを忘れた場合はどうしますか？管理者に再発行を依頼してください。", .heading = "よくある質問"},
};

struct fixture {
    struct arena arena;
    struct passage passages[COUNT(passages)];
    struct evidence *evidence;
};

static int make(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    arena_init(&fixture->arena, NULL, 0, MEMORY_MAX);
    for (size_t i = 0; i < COUNT(passages); i++) {
        fixture->passages[i] = passages[i];
        fixture->passages[i].length = strlen(passages[i].text);
        fixture->passages[i].heading_length = strlen(passages[i].heading);
    }
    fixture->evidence = evidence_create(&fixture->arena, fixture->passages, COUNT(passages));
    assert_non_null(fixture->evidence);
    *state = fixture;
    return 0;
}

static int drop(void **state)
{
    struct fixture *fixture = *state;
    arena_fini(&fixture->arena);
    free(fixture);
    return 0;
}

/* "" where nothing supports it. */
static const char *quote_of(void **state, const char *sentence, struct support *support)
{
    static char quote[4096];
    struct fixture *fixture = *state;
    quote[0] = '\0';
    if (support_find(fixture->evidence, sentence, strlen(sentence), SUPPORT_ENOUGH, support)) {
        size_t length = support->quote.end - support->quote.begin;
        memcpy(quote, passages[support->passage].text + support->quote.begin, length);
        quote[length] = '\0';
    }
    return quote;
}

static void an_exact_quote_is_found_as_such(void **state)
{
    static const struct {
        const char *sentence, *quote;
    } cases[] = {
        {"再試行の回数は3回です。", "再試行の回数は3回です。"},
        {"再試行の回数は３回です", "再試行の回数は3回です。"},
        {"設定ファイルはCONFIG.YAMLです。", "設定ファイルはconfig.yamlです。"},
        {"restart it after a change", "Restart it\nafter a change."},
        {"listens on port 8080", "listens on port 8080."},
        {"* The server listens on port 8080.", "The server listens on port 8080."},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct support support;
        const char *quote = quote_of(state, cases[i].sentence, &support);
        assert_string_equal(quote, cases[i].quote);
        assert_true(support.exact);
    }
}

static void words_and_numbers_are_not_cut(void **state)
{
    struct support support;
    assert_string_equal(quote_of(state, "The server listens on port 80", &support), "");
    assert_string_equal(quote_of(state, "The server listens on port 808.", &support), "");
    assert_string_equal(quote_of(state, "再試行の回数は3", &support), "再試行の回数は3");
    quote_of(state, "server listens on port 8080 and erver", &support);
    assert_false(support.exact);
    quote_of(state, "he server listens on port 8080.", &support);
    assert_false(support.exact);
}

static void a_clause_that_denies_is_not_quoted_in_part(void **state)
{
    static const struct passage denials[] = {
        {.text = "返金は可能ではありません。It is not true that the server restarts by itself. The client waits, and "
                 "it does not retry.",
         .length = sizeof "返金は可能ではありません。It is not true that the server restarts by itself. The client "
                          "waits, and it does not retry." -
                   1}};
    struct arena arena;
    struct support support;
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    struct evidence *evidence = evidence_create(&arena, denials, 1);
    support_find(evidence, "返金は可能", strlen("返金は可能"), SUPPORT_ENOUGH, &support);
    assert_false(support.exact);
    support_find(evidence, "the server restarts by itself", 29, SUPPORT_ENOUGH, &support);
    assert_false(support.exact);
    assert_true(support_find(evidence, "The client waits", 16, SUPPORT_ENOUGH, &support));
    assert_true(support.exact);
    assert_true(support_find(evidence, "返金は可能ではありません", strlen("返金は可能ではありません"), SUPPORT_ENOUGH,
                             &support));
    assert_true(support.exact);
    arena_fini(&arena);
}

static void the_heading_of_a_passage_may_stand_before_its_sentence(void **state)
{
    struct support support;
    assert_string_equal(quote_of(state, "Operating the server: Restart it after a change.", &support),
                        "Restart it\nafter a change.");
    assert_true(support.exact);
    assert_string_equal(quote_of(state, "XYZシステムの設定: 再試行の回数は3回です。", &support),
                        "再試行の回数は3回です。");
    assert_true(support.exact);
    quote_of(state, "Backups: Restart it after a change.", &support);
    assert_false(support.exact);
    quote_of(state, ": Restart it after a change.", &support);
    assert_false(support.exact);
}

static void a_paraphrase_is_found_by_coverage(void **state)
{
    struct support support;
    assert_string_equal(quote_of(state, "The certificates of TLS get renewed every night.", &support),
                        "TLS certificates are renewed every night.");
    assert_false(support.exact);
    assert_int_equal(support.passage, 1);
    assert_string_equal(quote_of(state, "XYZシステムのログは/var/log/xyzに保存します。", &support),
                        "ログは/var/log/xyzに保存されます。");
    assert_string_equal(quote_of(state, "設定ファイルはconfig.yamlです。[1]", &support),
                        "設定ファイルはconfig.yamlです。");
}

static void what_is_not_there_is_not_supported(void **state)
{
    struct support support;
    assert_string_equal(quote_of(state, "The moon is made of cheese.", &support), "");
    assert_string_equal(quote_of(state, "バックアップは毎週日曜日に取得されます。", &support), "");
    assert_string_equal(quote_of(state, "", &support), "");
    assert_string_equal(quote_of(state, "the of and", &support), "");
}

static void another_number_is_another_fact(void **state)
{
    struct support support;
    assert_string_equal(quote_of(state, "再試行の回数は5回です。", &support), "");
    assert_string_equal(quote_of(state, "The server listens on port 8081.", &support), "");
}

static void the_sentence_that_answers_comes_first(void **state)
{
    static const struct {
        const char *question, *begins;
    } cases[] = {
        {"再試行は何回ですか？", "再試行の回数は3回です。"},
        {"Which port does the server listen on?", "The server listens"},
        {"パスワードを忘れたらどうすればよいですか？", "管理者に再発行"},
        {"ログはどこに保存されますか", "ログは/var/log"},
    };
    struct fixture *fixture = *state;
    const struct choice_terms terms = {.sentences_max = 3, .bytes_max = 1000, .least = 0.2, .novelty = 0.5};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct chosen chosen[CHOSEN_MAX];
        size_t count = evidence_choose(fixture->evidence, cases[i].question, strlen(cases[i].question), &terms, chosen);
        assert_true(count >= 1 && count <= 3);
        const char *first = passages[chosen[0].passage].text + chosen[0].span.begin;
        if (strncmp(first, cases[i].begins, strlen(cases[i].begins)) != 0)
            fail_msg("'%s' is answered by '%s'", cases[i].question, first);
    }
}

static void of_sentences_alike_the_one_in_the_passage_that_fits_comes_first(void **state)
{
    static const char *const texts[] = {"The pump runs. It is green.",
                                        "Some pump runs. It is old. The valve is open.",
                                        "The valve turns slowly. Turn it by hand.",
                                        "The valve turns slowly, 7 times.",
                                        "A crank squeaks. Oil helps.",
                                        "The crank squeaks. Rust helps. A fan is near it.",
                                        "A fan blows.",
                                        "The fan stops.",
                                        "One fan is left."};
    static const struct {
        const char *question;
        size_t passage;
    } cases[] = {{"old pump with a valve", 1},
                 {"how often does the valve turn", 3},
                 {"does the valve turn", 2},
                 {"crank and fan", 5}};
    struct fixture *fixture = *state;
    struct passage given[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++)
        given[i] = (struct passage){.text = texts[i], .length = strlen(texts[i])};
    struct evidence *evidence = evidence_create(&fixture->arena, given, COUNT(texts));
    const struct choice_terms terms = {.sentences_max = 5, .bytes_max = 1000, .least = 0.2, .novelty = 0.4};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct chosen chosen[CHOSEN_MAX];
        const char *question = cases[i].question;
        assert_true(evidence_choose(evidence, question, strlen(question), &terms, chosen) > 0);
        assert_int_equal(chosen[0].passage, cases[i].passage);
    }
}

static void what_says_the_same_is_not_chosen_twice(void **state)
{
    static const char text[] = "The port is 8080 on the server. On the server the port is 8080. A port of the server "
                               "is opened by root.";
    const struct passage passage = {.text = text, .length = sizeof(text) - 1};
    struct fixture *fixture = *state;
    struct evidence *evidence = evidence_create(&fixture->arena, &passage, 1);
    struct chosen chosen[CHOSEN_MAX];
    const struct choice_terms terms = {.sentences_max = 2, .bytes_max = 1000, .least = 0.2, .novelty = 0.6};
    assert_int_equal(evidence_choose(evidence, "server port 8080", 16, &terms, chosen), 2);
    assert_true(chosen[0].span.begin < 40);
    assert_true(strncmp(text + chosen[1].span.begin, "A port", 6) == 0);
}

static void what_is_missing_is_named(void **state)
{
    static const struct {
        const char *text, *missing;
        bool low;
    } cases[] = {
        {"再試行の回数", "", false},
        {"料金プランの回数", "料金プラン", true},
        {"server port for kubernetes", "kubernetes", true},
        {"", "", false},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct coverage coverage;
        const char *text = cases[i].text;
        evidence_cover(fixture->evidence, fixture->evidence, text, strlen(text), &coverage);
        assert_true(coverage.best <= coverage.share + 1e-9);
        assert_int_equal(coverage.share < 0.8, cases[i].low);
        assert_int_equal(coverage.missing_count, cases[i].missing[0] ? 1 : 0);
        if (coverage.missing_count == 1)
            assert_memory_equal(text + coverage.missing[0].begin, cases[i].missing, strlen(cases[i].missing));
    }
}

static void no_evidence_supports_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct evidence *evidence = evidence_create(&fixture->arena, NULL, 0);
    struct support support;
    struct chosen chosen[CHOSEN_MAX];
    struct coverage coverage;
    const struct choice_terms terms = {.sentences_max = 3, .bytes_max = 1000};
    assert_non_null(evidence);
    assert_false(support_find(evidence, "server", 6, SUPPORT_ENOUGH, &support));
    assert_int_equal(evidence_choose(evidence, "server", 6, &terms, chosen), 0);
    evidence_cover(evidence, evidence, "server", 6, &coverage);
    assert_true(coverage.share == 0);
}

static void an_arena_without_room_gives_no_evidence(void **state)
{
    struct arena small;
    struct fixture *fixture = *state;
    arena_init(&small, NULL, 0, 4096);
    assert_null(evidence_create(&small, fixture->passages, COUNT(passages)));
    arena_fini(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_exact_quote_is_found_as_such, make, drop),
        cmocka_unit_test_setup_teardown(words_and_numbers_are_not_cut, make, drop),
        cmocka_unit_test(a_clause_that_denies_is_not_quoted_in_part),
        cmocka_unit_test_setup_teardown(the_heading_of_a_passage_may_stand_before_its_sentence, make, drop),
        cmocka_unit_test_setup_teardown(a_paraphrase_is_found_by_coverage, make, drop),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_not_supported, make, drop),
        cmocka_unit_test_setup_teardown(another_number_is_another_fact, make, drop),
        cmocka_unit_test_setup_teardown(the_sentence_that_answers_comes_first, make, drop),
        cmocka_unit_test_setup_teardown(of_sentences_alike_the_one_in_the_passage_that_fits_comes_first, make, drop),
        cmocka_unit_test_setup_teardown(what_says_the_same_is_not_chosen_twice, make, drop),
        cmocka_unit_test_setup_teardown(what_is_missing_is_named, make, drop),
        cmocka_unit_test_setup_teardown(no_evidence_supports_nothing, make, drop),
        cmocka_unit_test_setup_teardown(an_arena_without_room_gives_no_evidence, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
