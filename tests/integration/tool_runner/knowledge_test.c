/* The knowledge base through the functions of the contract: what is found, and what its tools say of it. */
#include "knowledge_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static void paragraphs_are_found_in_both_languages(void **state)
{
    static const struct {
        const char *query, *uri;
        int from, to;
    } cases[] = {
        {"ポートの設定は?", "guide/start.md", 7, 8},
        {"設定", "guide/start.md", 7, 8},
        {"config.yaml", "guide/start.md", 7, 8},
        {"what does E-1024 mean", "guide/errors.md", 5, 5},
        {"restarting routers", "guide/errors.md", 5, 5},
        {"disk full", "guide/errors.md", 9, 9},
        {"パスワード", "faq.csv", 2, 2},
        {"how much is the basic plan?", "page.html", 3, 3},
        {"東", "notes.txt", 1, 1},
        {"ＰＡＳＳＷＯＲＤ ﾊﾟｽﾜｰﾄﾞ", "faq.csv", 2, 2},
    };
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer *answer = search(*state, NULL, "manual", cases[i].query);
        assert_first(answer, cases[i].uri, cases[i].from, cases[i].to);
        answer_free(answer);
    }
}

static void the_language_of_the_query_and_a_number_come_first(void **state)
{
    static const struct {
        const char *query, *uri;
    } cases[] = {
        {"E-7001 とは", "box/ja.md"},
        {"what is E-7001", "box/en.md"},
        {"再起動の待ち時間は何分ですか", "box/time.md"},
    };
    put_file(*state, "box/en.md", "E-7001: the fan has stopped.\n");
    put_file(*state, "box/ja.md", "E-7001 はファンが動かないときに表示されるエラーの番号で、電源を切ると消えます。\n");
    put_file(*state, "box/name.md", "再起動の待ち時間です。\n");
    put_file(*state, "box/time.md", "再起動の待ち時間は10分です。\n");
    answer_free(index_folder(*state, "box"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer *answer = search(*state, NULL, "box", cases[i].query);
        assert_first(answer, cases[i].uri, 1, 1);
        answer_free(answer);
    }
}

static void steps_and_the_heading_that_names_the_action_come_first(void **state)
{
    static const struct {
        const char *query;
        int line;
    } cases[] = {
        {"How do I restore a backup?", 11},
        {"Which copy of a backup can be restored?", 5},
        {"How long does restoring a backup take?", 5},
    };
    put_file(*state, "steps/a.md",
             "# Backup and restore\n\n## Verification\n\nA copy of a backup can be restored and looked at; it takes 4 "
             "minutes.\n\n## Encryption\n\nThe key of a backup is needed.\n\n"
             "1. Enter maintenance mode, which nobody likes.\n2. Choose a backup.\n3. Restore it.\n");
    answer_free(index_folder(*state, "steps"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer *answer = search(*state, NULL, "steps", cases[i].query);
        assert_int_equal(found(answer)->hits[0]->line_from, cases[i].line);
        assert_true(found(answer)->hits[0]->score <= 1);
        answer_free(answer);
    }
    put_file(*state, "named/a.md",
             "# Requests\n\n## Printing\n\nA request is printed in colour.\n\n## Submitting\n\nA request is sent.\n\n"
             "## Approving\n\nA request of a person is read.\n\n"
             "## Folding\n\nPaper of any size is laid on the desk, its long side in front.\n\n"
             "## Cutting\n\nFolding takes time.\n");
    answer_free(index_folder(*state, "named"));
    struct answer *answer = search(*state, NULL, "named", "submitting requests");
    assert_first(answer, "named/a.md", 9, 9);
    answer_free(answer);
    answer = search(*state, NULL, "named", "folding");
    assert_first(answer, "named/a.md", 17, 17); /* its heading has the word, which counts twice */
    answer_free(answer);
}

static void a_hit_has_headings_text_and_quote(void **state)
{
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    struct answer *answer = search(*state, NULL, "", "which port? ポート");
    const Renga__V1__SearchHit *hit = found(answer)->hits[0];
    assert_string_equal(hit->source, "documents");
    assert_string_equal(hit->collection, "manual");
    assert_string_equal(hit->title, "はじめに");
    assert_int_equal(hit->n_heading_path, 2);
    assert_string_equal(hit->heading_path[0], "はじめに");
    assert_string_equal(hit->heading_path[1], "設定");
    assert_string_equal(hit->snippet, "設定ファイルは config.yaml です。\nポートは 8080 を使います。");
    assert_string_equal(hit->quote, "ポートは 8080 を使います。");
    assert_true(hit->score > 0 && hit->score <= 1);
    answer_free(answer);
    answer = search(*state, NULL, "manual", "log out");
    assert_string_equal(found(answer)->hits[0]->source, "qa");
    assert_string_equal(found(answer)->hits[0]->heading_path[0], "How do I log out?");
    assert_string_equal(found(answer)->hits[0]->snippet, "Use the menu at the top right.");
    answer_free(answer);
}

static void a_quote_has_the_sentence_that_fits_and_the_answer_beside_it(void **state)
{
    static const struct {
        const char *query, *quote;
    } cases[] = {
        {"restart the pump", "Restart the pump with the green button. It takes 40 seconds."},
        {"how long does the pump stay warm", "The pump stays warm. Cool it for 12 hours."},
        {"dust on a warm pump", "Dust does no harm. The pump stays warm."},
        {"valve colour", "The valve has a colour."},
        {"how many turns does the valve need", "It needs 7 turns. The valve has a colour."},
    };
    put_file(*state, "pump.md",
             "Restart the pump with the green button. It takes 40 seconds. Wait beside it.\n\n"
             "Dust does no harm. The pump stays warm. Cool it for 12 hours.\n\n"
             "It needs 7 turns. The valve has a colour.\n");
    answer_free(index_folder(*state, "pump"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer *answer = search(*state, NULL, "pump", cases[i].query);
        assert_string_equal(found(answer)->hits[0]->quote, cases[i].quote);
        answer_free(answer);
    }
}

static void a_query_of_any_shape_is_data(void **state)
{
    static const char *const queries[] = {"\"",     "' OR 1=1 --", "a AND (b", "NEAR(x y)", "text:foo*",
                                          "*",      "(((",         "😀",        "%_%",       "\\",
                                          "{}[]<>", "a\nb\tc",     "ーーー",   "。。。",    "the of and"};
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct answer *answer = search(*state, NULL, "manual", queries[i]);
        found(answer);
        answer_free(answer);
    }
    char *longest = malloc(8193);
    memset(longest, 0, 8193);
    for (int i = 0; i + 3 < 8193; i += 3)
        memcpy(longest + i, i % 2 ? "設" : "定", 3);
    struct answer *answer = search(*state, NULL, "manual", longest);
    assert_first(answer, "guide/start.md", 7, 8);
    answer_free(answer);
    free(longest);
}

static void what_is_nowhere_has_no_hits(void **state)
{
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    assert_hits(*state, NULL, "manual", "xylophone quartz", 0);
}

static void a_query_of_function_words_alone_finds_nothing(void **state)
{
    static const char *const nothing[] = {"the of and", "What is it?", "のはに",     "これはどこですか",
                                          "这是什么",   "무엇인가",    "und der die"};
    put_file(*state, "box/a.md",
             "The end of the war, and what it is.\n\nこれはどこのものですか。のはに。ありがとうという。\n");
    put_file(*state, "box/b.md", "什么是的，这是什么。\n\n무엇인가 있다.\n\nUnd der Hund und die Katze.\n");
    answer_free(index_folder(*state, "box"));
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        assert_hits(*state, NULL, "box", nothing[i], 0);
    assert_hits(*state, NULL, "box", "ありがとう", 1);
}

static void a_word_in_no_document_finds_one_that_differs_in_a_letter(void **state)
{
    static const struct {
        const char *query;
        size_t hits;
    } cases[] = {
        {"confguration", 1}, {"configuratoin", 1}, {"konfiguration", 0}, {"configurattion", 1},
        {"カタリグ", 1},     {"カタグロ", 1},      {"pmup", 0},          {"ABCDE-78", 0},
        {"50081", 0},        {"A-50081", 0},       {"ABCDF-77", 1},      {"Segovias", 1},
    };
    put_file(*state, "box/a.md",
             "Read the configuration of the pump.\n\nカタログを印刷する。\n\nPart ABCDF-77 is 50091.\n");
    put_file(*state, "box/b.md", "El acueducto de Segovia es una obra romana que llevaba el agua.\n");
    answer_free(index_folder(*state, "box"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_hits(*state, NULL, "box", cases[i].query, cases[i].hits);
}

static void limits_and_fields_are_checked(void **state)
{
    Renga__V1__SearchRequest request = RENGA__V1__SEARCH_REQUEST__INIT;
    static const struct {
        const char *query, *collection, *part;
        int limit, mode;
        double min_score;
        enum status_code code;
    } cases[] = {
        {" \n", "", "query: is empty", 0, 0, 0, INVALID_ARGUMENT},
        {"a", "", "limit: is 101", 101, 0, 0, INVALID_ARGUMENT},
        {"a", "", "limit: is -1", -1, 0, 0, INVALID_ARGUMENT},
        {"a", "", "min_score", 0, 0, 1.5, INVALID_ARGUMENT},
        {"a", "", "VECTOR needs an embedding model", 0, 2, 0, FAILED_PRECONDITION},
        {"a", "nowhere", "there is no collection 'nowhere'", 0, 0, 0, NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *collections[] = {TEXT(cases[i].collection)};
        request.query = TEXT(cases[i].query);
        request.collections = collections;
        request.n_collections = *cases[i].collection != '\0';
        request.limit = cases[i].limit;
        request.mode = (Renga__V1__SearchMode)cases[i].mode;
        request.min_score = cases[i].min_score;
        assert_ends(make_call(*state, NULL, "Search", &request.base), cases[i].code, cases[i].part);
    }
}

static void limit_and_min_score_cut_the_list(void **state)
{
    Renga__V1__SearchRequest request = RENGA__V1__SEARCH_REQUEST__INIT;
    for (int i = 0; i < 20; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d.md", i);
        put_file(*state, path, i % 2 ? "apple pie" : "apple cake with a great many other words beside it");
    }
    answer_free(index_folder(*state, "fruit"));
    request.query = TEXT("apple pie");
    request.limit = 3;
    struct answer *answer = make_call(*state, NULL, "Search", &request.base);
    assert_int_equal(found(answer)->n_hits, 3);
    double best = found(answer)->hits[0]->score;
    answer_free(answer);
    request.limit = 100;
    request.min_score = best * 0.99;
    answer = make_call(*state, NULL, "Search", &request.base);
    assert_int_equal(found(answer)->n_hits, 10);
    answer_free(answer);
}

/* ---- the tools --------------------------------------------------------------------------------------------------- */

static struct answer *run_tool(struct fixture *fixture, const char *name, const char *arguments)
{
    static int calls;
    Renga__V1__RunToolsRequest request = RENGA__V1__RUN_TOOLS_REQUEST__INIT;
    Renga__V1__ToolInvocation invocation = RENGA__V1__TOOL_INVOCATION__INIT, *list[] = {&invocation};
    Renga__V1__ToolCall call = RENGA__V1__TOOL_CALL__INIT;
    char key[32];
    snprintf(key, sizeof key, "key-%d", calls++);
    call.id = TEXT("call");
    call.name = TEXT(name);
    call.arguments_json = TEXT(arguments);
    invocation.call = &call;
    request.calls = list;
    request.n_calls = 1;
    request.idempotency_key = key;
    return make_call(fixture, NULL, "RunTools", &request.base);
}

static const Renga__V1__ToolResult *result_of(const struct answer *answer)
{
    if (answer->status.code != OK)
        assert_status(answer, OK, "");
    return ((const Renga__V1__RunToolsResponse *)answer->message)->results[0];
}

/* Of "[1] path:2-2 (0.62) | heading": between 0 and 1, in two places. */
static void takes_its_score_out(const char *text, char *rest, size_t room)
{
    const char *open = strstr(text, " (");
    assert_non_null(open);
    const char *close = strchr(open, ')');
    assert_non_null(close);
    assert_int_equal(close - open, 6);
    double score = atof(open + 2);
    assert_true(score > 0 && score <= 1);
    snprintf(rest, room, "%.*s%s", (int)(open - text), text, close + 1);
}

static void search_documents_writes_what_it_found_for_a_model(void **state)
{
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    struct answer *answer = run_tool(*state, "search_documents", "{\"query\": \"restart the router cable\"}");
    const Renga__V1__ToolResult *result = result_of(answer);
    assert_int_equal(result->status_code, OK);
    char text[256];
    takes_its_score_out(result->text, text, sizeof text);
    assert_string_equal(text, "[1] guide/errors.md:5-5 | Errors > E-1024\n"
                              "The connection timed out. Check the cable and restart the router.");
    assert_int_equal(result->n_hits, 1);
    assert_string_equal(result->hits[0]->uri, "guide/errors.md");
    assert_string_equal(result->hits[0]->quote, "Check the cable and restart the router.");
    answer_free(answer);
    answer = run_tool(*state, "search_documents", "{\"query\": \"disk cable\", \"limit\": 2}");
    assert_non_null(strstr(result_of(answer)->text, ".\n\n[2] guide/errors.md:"));
    answer_free(answer);
}

static void lookup_qa_finds_answers_alone(void **state)
{
    write_manual(*state);
    put_file(*state, "password.md", "パスワードを忘れました\n");
    answer_free(index_folder(*state, "manual"));
    struct answer *answer = run_tool(*state, "lookup_qa", "{\"query\": \"パスワードを忘れました\"}");
    const Renga__V1__ToolResult *result = result_of(answer);
    char text[256];
    takes_its_score_out(result->text, text, sizeof text);
    assert_string_equal(text, "[1] faq.csv:2-2 | パスワードを忘れました\n再設定画面から変更してください。");
    assert_int_equal(result->n_hits, 1);
    assert_string_equal(result->hits[0]->source, "qa");
    answer_free(answer);
}

static void a_tool_that_finds_nothing_says_what_it_looked_for(void **state)
{
    struct answer *answer = run_tool(*state, "search_documents", "{\"query\": \"zebra\"}");
    assert_string_equal(result_of(answer)->text, "Nothing was found for \"zebra\" in the documents.");
    assert_true(result_of(answer)->found_nothing);
    assert_int_equal(result_of(answer)->n_hits, 0);
    answer_free(answer);
    answer = run_tool(*state, "lookup_qa", "{\"query\": \"縞馬とは?\"}");
    assert_string_equal(result_of(answer)->text,
                        "「縞馬とは?」をよくある質問から探しましたが、何も見つかりませんでした。");
    answer_free(answer);
    answer = run_tool(*state, "search_documents", "{\"query\": \"a\", \"collections\": [\"none\"]}");
    assert_int_equal(result_of(answer)->status_code, NOT_FOUND);
    answer_free(answer);
    answer = run_tool(*state, "search_documents", "{\"query\": \"  \"}");
    assert_int_equal(result_of(answer)->status_code, INVALID_ARGUMENT);
    answer_free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_are_found_in_both_languages),
        cmocka_unit_test(the_language_of_the_query_and_a_number_come_first),
        cmocka_unit_test(steps_and_the_heading_that_names_the_action_come_first),
        cmocka_unit_test(a_hit_has_headings_text_and_quote),
        cmocka_unit_test(a_quote_has_the_sentence_that_fits_and_the_answer_beside_it),
        cmocka_unit_test(a_query_of_any_shape_is_data),
        cmocka_unit_test(what_is_nowhere_has_no_hits),
        cmocka_unit_test(a_query_of_function_words_alone_finds_nothing),
        cmocka_unit_test(a_word_in_no_document_finds_one_that_differs_in_a_letter),
        cmocka_unit_test(limits_and_fields_are_checked),
        cmocka_unit_test(limit_and_min_score_cut_the_list),
        cmocka_unit_test(search_documents_writes_what_it_found_for_a_model),
        cmocka_unit_test(lookup_qa_finds_answers_alone),
        cmocka_unit_test(a_tool_that_finds_nothing_says_what_it_looked_for),
    };
    return run_both_ways("The knowledge base", tests, sizeof tests / sizeof tests[0]);
}
