/* The knowledge base through the functions of the contract. */
#include "knowledge_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(text) ((char *)(uintptr_t)(text))

static void assert_first(const struct answer *answer, const char *uri, int line_from, int line_to)
{
    const Renga__V1__SearchResponse *response = found(answer);
    assert_true(response->n_hits > 0);
    assert_string_equal(response->hits[0]->uri, uri);
    assert_int_equal(response->hits[0]->line_from, line_from);
    assert_int_equal(response->hits[0]->line_to, line_to);
}

static void write_manual(struct fixture *fixture)
{
    put_file(fixture, "guide/start.md",
             "# はじめに\n\nこの手引きは導入を説明します。\n\n## 設定\n\n設定ファイルは config.yaml です。\nポートは "
             "8080 を使います。\n");
    put_file(
        fixture, "guide/errors.md",
        "# Errors\n\n## E-1024\n\nThe connection timed out. Check the cable and restart the router.\n\n## E-2048\n\n"
        "The disk is full.\n");
    put_file(fixture, "faq.csv",
             "質問,回答\nパスワードを忘れました,再設定画面から変更してください。\n"
             "How do I log out?,Use the menu at the top right.\n");
    put_file(fixture, "page.html",
             "<title>Pricing</title>\n<h1>Plans</h1>\n<p>The basic plan costs ten dollars.</p>\n");
    put_file(fixture, "notes.txt", "月は東に\n\n日は西に\n");
}

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
    struct answer *answer = search(*state, NULL, "manual", "xylophone quartz");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
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
        struct answer *answer = make_call(*state, NULL, "Search", &request.base);
        assert_status(answer, cases[i].code, cases[i].part);
        answer_free(answer);
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

/* ---- indexing ---------------------------------------------------------------------------------------------------- */

static void assert_counts(const struct answer *answer, int64_t done, int64_t unchanged, int64_t removed)
{
    const Renga__V1__IndexDocumentsProgress *last = progress(answer);
    assert_true(last->done);
    assert_int_equal(last->files_total, done);
    assert_int_equal(last->files_done, done);
    assert_int_equal(last->files_unchanged, unchanged);
    assert_int_equal(last->files_removed, removed);
}

static void only_what_has_changed_is_read_again(void **state)
{
    write_manual(*state);
    struct answer *answer = index_folder(*state, "manual");
    assert_counts(answer, 5, 0, 0);
    assert_int_equal(progress(answer)->paragraphs, 9);
    answer_free(answer);
    answer = index_folder(*state, "manual");
    assert_counts(answer, 5, 5, 0);
    assert_int_equal(progress(answer)->paragraphs, 0);
    answer_free(answer);

    put_file(*state, "notes.txt", "山は北に\n");
    put_file(*state, "page.html", NULL);
    put_file(*state, "new.md", "brand new");
    answer = index_folder(*state, "manual");
    assert_counts(answer, 5, 3, 1);
    answer_free(answer);
    answer = search(*state, NULL, "manual", "basic plan dollars");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
    answer = search(*state, NULL, "manual", "東");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
    answer = search(*state, NULL, "manual", "北の山");
    assert_first(answer, "notes.txt", 1, 1);
    answer_free(answer);
}

static void what_cannot_be_read_is_skipped_and_said(void **state)
{
    struct fixture *fixture = *state;
    char path[128], target[128];
    put_file(fixture, "good.md", "a good one");
    put_file(fixture, "bad.md", "was fine before");
    answer_free(index_folder(fixture, "mixed"));
    put_file(fixture, "bad.md", "now \xff\xfe\xfd is not");
    put_file(fixture, "picture.png", "\x89PNG\r\n\x1a\n\x01\x02\xff");
    put_file(fixture, "table.csv", "a,b\n\"open");
    put_file(fixture, ".hidden/secret.md", "nobody sees this");
    snprintf(path, sizeof path, "%s/out.md", fixture->folder);
    snprintf(target, sizeof target, "%s/secret.md", fixture->outside);
    FILE *secret = fopen(target, "w");
    assert_non_null(secret);
    fputs("root nobody bash", secret);
    fclose(secret);
    assert_int_equal(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/in.md", fixture->folder);
    assert_int_equal(symlink("good.md", path), 0);
    snprintf(path, sizeof path, "%s/around", fixture->folder);
    assert_int_equal(symlink(".", path), 0);
    struct answer *answer = index_folder(fixture, "mixed");
    assert_int_equal(answer->skipped, 5); /* bad, picture, table, out, around */
    assert_counts(answer, 7, 1, 1);
    answer_free(answer);
    answer = search(fixture, NULL, "mixed", "root nobody bash fine before");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
    answer = search(fixture, NULL, "mixed", "good");
    assert_int_equal(found(answer)->n_hits, 2);
    answer_free(answer);
}

static void folders_outside_the_roots_are_refused(void **state)
{
    static const struct {
        const char *folder, *part;
        enum status_code code;
    } cases[] = {
        {"ROOT/../outside", "in none of the folders", PERMISSION_DENIED},
        {"ROOT/../docs/../outside", "in none of the folders", PERMISSION_DENIED},
        {"ROOT-other", "in none of the folders", PERMISSION_DENIED},
        {"ROOT/none", "is no folder", NOT_FOUND},
        {"relative", "a path begins with '/'", INVALID_ARGUMENT},
    };
    struct fixture *fixture = *state;
    char keep[sizeof fixture->folder];
    strcpy(keep, fixture->folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool below = strncmp(cases[i].folder, "ROOT", 4) == 0;
        snprintf(fixture->folder, sizeof fixture->folder, "%s%s", below ? fixture->root : "",
                 cases[i].folder + (below ? 4 : 0));
        struct answer *answer = index_folder(fixture, "x");
        assert_status(answer, cases[i].code, cases[i].part);
        answer_free(answer);
    }
    strcpy(fixture->folder, keep);
    struct answer *answer = search(fixture, NULL, "x", "a");
    assert_status(answer, NOT_FOUND, "no collection 'x'");
    answer_free(answer);
}

static void documents_can_be_sent_along(void **state)
{
    answer_free(index_text(*state, NULL, "sent", "a/b.md", "# One\n\nfirst words"));
    answer_free(index_text(*state, NULL, "sent", "c.txt", "second words"));
    struct answer *answer = index_text(*state, NULL, "sent", "a/b.md", "# One\n\nother text");
    assert_counts(answer, 1, 0, 0);
    answer_free(answer);
    answer = search(*state, NULL, "sent", "first");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
    answer = search(*state, NULL, "sent", "second text words");
    assert_int_equal(found(answer)->n_hits, 2);
    answer_free(answer);
    answer = index_text(*state, NULL, "Sent Here", "a.md", "x");
    assert_status(answer, INVALID_ARGUMENT, "collection: is 'Sent Here'");
    answer_free(answer);
    answer = index_text(*state, NULL, "sent", "a.md", "");
    assert_status(answer, INVALID_ARGUMENT, "documents.documents[0].content: is empty");
    answer_free(answer);
}

static void a_collection_grows_shrinks_and_is_swept(void **state)
{
    char text[60000];
    size_t length = 0;
    for (int i = 0; i < 1200; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "paragraph number %d of the old text\n\n", i);
    answer_free(index_text(*state, NULL, "big", "a.txt", text));
    answer_free(index_text(*state, NULL, "big", "b.txt", "one paragraph stays"));
    answer_free(index_text(*state, NULL, "big", "a.txt", "replaced by something new"));
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    struct answer *answer = make_call(*state, NULL, "GetKnowledgeBase", &request.base);
    const Renga__V1__GetKnowledgeBaseResponse *base = (const Renga__V1__GetKnowledgeBaseResponse *)answer->message;
    assert_int_equal(base->n_collections, 1);
    assert_int_equal(base->n_formats, 4);
    assert_int_equal(base->collections[0]->documents, 2);
    assert_int_equal(base->collections[0]->paragraphs, 2);
    assert_in_range(base->collections[0]->bytes, 100, 1500); /* postings of the old text are gone */
    answer_free(answer);
    answer = search(*state, NULL, "big", "paragraph");
    assert_int_equal(found(answer)->n_hits, 1);
    assert_first(answer, "b.txt", 1, 1);
    answer_free(answer);
}

static void deleted_documents_are_gone(void **state)
{
    Renga__V1__DeleteDocumentsRequest request = RENGA__V1__DELETE_DOCUMENTS_REQUEST__INIT;
    char *paths[] = {TEXT("page.html"), TEXT("never/was.md")};
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    request.collection = TEXT("manual");
    request.paths = paths;
    request.n_paths = 2;
    struct answer *answer = make_call(*state, NULL, "DeleteDocuments", &request.base);
    assert_int_equal(((const Renga__V1__DeleteDocumentsResponse *)answer->message)->documents, 1);
    answer_free(answer);
    answer = search(*state, NULL, "manual", "basic plan");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
    request.n_paths = 0;
    answer = make_call(*state, NULL, "DeleteDocuments", &request.base);
    assert_int_equal(((const Renga__V1__DeleteDocumentsResponse *)answer->message)->documents, 4);
    answer_free(answer);
    answer = search(*state, NULL, "manual", "basic plan");
    assert_status(answer, NOT_FOUND, "manual");
    answer_free(answer);
    answer = make_call(*state, NULL, "DeleteDocuments", &request.base);
    assert_int_equal(((const Renga__V1__DeleteDocumentsResponse *)answer->message)->documents, 0);
    answer_free(answer);
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

static void tenants_do_not_see_each_other(void **state)
{
    answer_free(index_text(*state, "kyoto", "shared", "a.md", "the kyoto secret"));
    answer_free(index_text(*state, "osaka", "shared", "a.md", "the osaka secret"));
    struct answer *answer = search(*state, "kyoto", "", "secret");
    assert_int_equal(found(answer)->n_hits, 1);
    assert_string_equal(found(answer)->hits[0]->snippet, "the kyoto secret");
    answer_free(answer);
    answer = search(*state, "nara", "", "secret");
    assert_int_equal(found(answer)->n_hits, 0);
    answer_free(answer);
    answer = search(*state, "nara", "shared", "secret");
    assert_status(answer, NOT_FOUND, "shared");
    answer_free(answer);
}

static void a_tenant_that_has_its_share_gets_no_more(void **state)
{
    char *text = malloc(1 << 20);
    for (int i = 0; i < 3; i++) {
        char path[16];
        size_t length = 0;
        for (int j = 0; length < (1 << 20) - 64; j++)
            length += (size_t)snprintf(text + length, 64, "word%d%c%d ", i * 100000 + j, j % 30 ? ' ' : '\n', j);
        snprintf(path, sizeof path, "%d.txt", i);
        struct answer *answer = index_text(*state, "full", "big", path, text);
        if (answer->status.code != OK) {
            assert_status(answer, RESOURCE_EXHAUSTED, "tenant_quota");
            answer_free(answer);
            break;
        }
        answer_free(answer);
        assert_true(i < 2);
    }
    free(text);
    Renga__V1__DeleteDocumentsRequest request = RENGA__V1__DELETE_DOCUMENTS_REQUEST__INIT;
    request.collection = TEXT("big");
    answer_free(make_call(*state, "full", "DeleteDocuments", &request.base));
    struct answer *answer = index_text(*state, "full", "big", "small.txt", "a small text");
    assert_status(answer, OK, "");
    answer_free(answer);
}

/* A pipe that nobody writes to would hold a reader; here the first call is simply long. */
static void a_collection_has_one_writer(void **state)
{
    struct fixture *fixture = *state;
    Renga__V1__IndexDocumentsRequest request = RENGA__V1__INDEX_DOCUMENTS_REQUEST__INIT;
    for (int i = 0; i < 1500; i++) {
        char path[32], text[64];
        snprintf(path, sizeof path, "d%d/%d.md", i % 10, i);
        snprintf(text, sizeof text, "# %d\n\ndocument %d\n", i, i);
        put_file(fixture, path, text);
    }
    request.collection = TEXT("many");
    request.source_case = RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER;
    request.folder = fixture->folder;
    struct answer *answers[6];
    int done = 0, refused = 0;
    for (size_t i = 0; i < 6; i++)
        answers[i] = begin_call(fixture, NULL, "IndexDocuments", &request.base);
    for (size_t i = 0; i < 6; i++) {
        await(answers[i]);
        done += answers[i]->status.code == OK;
        refused += answers[i]->status.code == ABORTED;
        if (answers[i]->status.code == ABORTED)
            assert_status(answers[i], ABORTED, "another call is writing the collection 'many'");
        answer_free(answers[i]);
    }
    assert_true(done >= 1 && refused >= 1 && done + refused == 6);
    struct answer *answer = search(fixture, NULL, "many", "document 1234");
    assert_first(answer, "d4/1234.md", 3, 3);
    answer_free(answer);
}

static void a_caller_that_leaves_stops_the_work(void **state)
{
    struct fixture *fixture = *state;
    Renga__V1__IndexDocumentsRequest request = RENGA__V1__INDEX_DOCUMENTS_REQUEST__INIT;
    for (int i = 0; i < 300; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d.md", i);
        put_file(fixture, path, "# some\n\ntext\n");
    }
    request.collection = TEXT("left");
    request.source_case = RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER;
    request.folder = fixture->folder;
    struct answer *answer = begin_call(fixture, NULL, "IndexDocuments", &request.base);
    loop_enter(fixture->loop);
    rpc_client_call_cancel(&answer->call);
    loop_leave(fixture->loop);
    await(answer);
    assert_true(answer->status.code == CANCELLED || answer->status.code == OK);
    answer_free(answer);
    for (int tries = 0; tries < 500; tries++) { /* the writer ends soon, and the same call does the rest */
        answer = index_folder(fixture, "left");
        bool busy = answer->status.code == ABORTED;
        if (!busy)
            assert_int_equal(progress(answer)->files_done, 300);
        answer_free(answer);
        if (!busy)
            return;
        usleep(10000);
    }
    assert_true(false);
}

static void searches_at_the_same_time_are_answered_while_a_collection_is_written(void **state)
{
    struct answer *answers[200];
    Renga__V1__SearchRequest request = RENGA__V1__SEARCH_REQUEST__INIT;
    write_manual(*state);
    answer_free(index_folder(*state, "manual"));
    request.query = TEXT("設定ファイルのポート");
    for (size_t i = 0; i < 200; i++) {
        answers[i] = begin_call(*state, NULL, "Search", &request.base);
        if (i % 20 == 0)
            answer_free(index_text(*state, NULL, "other", "a.md", i % 40 ? "some text" : "other text"));
        if (i % 7 == 0) {
            loop_enter(((struct fixture *)*state)->loop);
            rpc_client_call_cancel(&answers[i]->call);
            loop_leave(((struct fixture *)*state)->loop);
        }
    }
    for (size_t i = 0; i < 200; i++) {
        await(answers[i]);
        assert_true(answers[i]->status.code == OK || (i % 7 == 0 && answers[i]->status.code == CANCELLED));
        if (answers[i]->status.code == OK)
            assert_first(answers[i], "guide/start.md", 7, 8);
        answer_free(answers[i]);
    }
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
    const char *open = strstr(text, " ("), *close = open ? strchr(open, ')') : NULL;
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
        cmocka_unit_test(a_hit_has_headings_text_and_quote),
        cmocka_unit_test(a_quote_has_the_sentence_that_fits_and_the_answer_beside_it),
        cmocka_unit_test(a_query_of_any_shape_is_data),
        cmocka_unit_test(what_is_nowhere_has_no_hits),
        cmocka_unit_test(limits_and_fields_are_checked),
        cmocka_unit_test(limit_and_min_score_cut_the_list),
        cmocka_unit_test(only_what_has_changed_is_read_again),
        cmocka_unit_test(what_cannot_be_read_is_skipped_and_said),
        cmocka_unit_test(folders_outside_the_roots_are_refused),
        cmocka_unit_test(documents_can_be_sent_along),
        cmocka_unit_test(a_collection_grows_shrinks_and_is_swept),
        cmocka_unit_test(deleted_documents_are_gone),
        cmocka_unit_test(tenants_do_not_see_each_other),
        cmocka_unit_test(a_tenant_that_has_its_share_gets_no_more),
        cmocka_unit_test(a_collection_has_one_writer),
        cmocka_unit_test(a_caller_that_leaves_stops_the_work),
        cmocka_unit_test(searches_at_the_same_time_are_answered_while_a_collection_is_written),
        cmocka_unit_test(search_documents_writes_what_it_found_for_a_model),
        cmocka_unit_test(lookup_qa_finds_answers_alone),
        cmocka_unit_test(a_tool_that_finds_nothing_says_what_it_looked_for),
    };
    return run_both_ways("The knowledge base", tests, sizeof tests / sizeof tests[0]);
}
