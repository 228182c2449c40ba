/* The knowledge base through the functions of the contract: what is read, left out, swept and kept apart. */
#include "knowledge_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    assert_hits(*state, NULL, "manual", "basic plan dollars", 0);
    assert_hits(*state, NULL, "manual", "東", 0);
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
    assert_hits(fixture, NULL, "mixed", "root nobody bash fine before", 0);
    assert_hits(fixture, NULL, "mixed", "good", 2);
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
        assert_ends(index_folder(fixture, "x"), cases[i].code, cases[i].part);
    }
    strcpy(fixture->folder, keep);
    assert_ends(search(fixture, NULL, "x", "a"), NOT_FOUND, "no collection 'x'");
}

static void documents_can_be_sent_along(void **state)
{
    answer_free(index_text(*state, NULL, "sent", "a/b.md", "# One\n\nfirst words"));
    answer_free(index_text(*state, NULL, "sent", "c.txt", "second words"));
    struct answer *answer = index_text(*state, NULL, "sent", "a/b.md", "# One\n\nother text");
    assert_counts(answer, 1, 0, 0);
    answer_free(answer);
    assert_hits(*state, NULL, "sent", "first", 0);
    assert_hits(*state, NULL, "sent", "second text words", 2);
    assert_ends(index_text(*state, NULL, "Sent Here", "a.md", "x"), INVALID_ARGUMENT, "collection: is 'Sent Here'");
    assert_ends(index_text(*state, NULL, "sent", "a.md", ""), INVALID_ARGUMENT,
                "documents.documents[0].content: is empty");
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
    assert_true(base->n_formats >= 9);
    assert_int_equal(base->collections[0]->documents, 2);
    assert_int_equal(base->collections[0]->paragraphs, 2);
    assert_in_range(base->collections[0]->bytes, 100, 1500); /* postings of the old text are gone */
    answer_free(answer);
    answer = search(*state, NULL, "big", "paragraph");
    assert_int_equal(found(answer)->n_hits, 1);
    assert_first(answer, "b.txt", 1, 1);
    answer_free(answer);
}

static double first_score(struct fixture *fixture, const char *collection, const char *query)
{
    struct answer *answer = search(fixture, NULL, collection, query);
    assert_true(found(answer)->n_hits > 0);
    double score = found(answer)->hits[0]->score;
    answer_free(answer);
    return score;
}

static void a_collection_whose_files_were_all_replaced_answers_like_a_new_one(void **state)
{
    static const char *const texts[] = {"Backups are kept for 35 days.", "The office opens at nine.",
                                        "A restore takes ten minutes.", "Invoices are sent by e-mail."};
    for (size_t i = 0; i < 4; i++) {
        char path[8], old[128];
        snprintf(path, sizeof path, "%zu.md", i);
        snprintf(old, sizeof old, "%s This is the text of last year.", texts[i]);
        answer_free(index_text(*state, NULL, "new", path, texts[i]));
        answer_free(index_text(*state, NULL, "replaced", path, old));
    }
    for (size_t i = 0; i < 4; i++) {
        char path[8];
        snprintf(path, sizeof path, "%zu.md", i);
        answer_free(index_text(*state, NULL, "replaced", path, texts[i]));
    }
    for (size_t i = 0; i < 4; i++)
        assert_true(first_score(*state, "replaced", texts[i]) == first_score(*state, "new", texts[i]));
}

/* Of the store with its log. */
static int64_t file_bytes(const struct fixture *fixture)
{
    struct stat stat_file, stat_log;
    char path[160];
    snprintf(path, sizeof path, "%s/../knowledge.db", fixture->root);
    assert_int_equal(stat(path, &stat_file), 0);
    strcat(path, "-wal");
    return stat_file.st_size + (stat(path, &stat_log) == 0 ? stat_log.st_size : 0);
}

static void files_that_an_indexing_removes_give_their_room_back(void **state)
{
    enum { FILES = 2, WORDS = 5000, WORD_BYTES = 9 };
    struct fixture *fixture = *state;
    char name[16], *text = malloc(WORDS * WORD_BYTES + 1);
    assert_non_null(text);
    put_file(fixture, "stays.md", "one paragraph stays");
    for (int file = 0; file < FILES; file++) {
        for (int word = 0; word < WORDS; word++)
            snprintf(text + (ptrdiff_t)word * WORD_BYTES, WORD_BYTES + 1, "w%06d%s", file * WORDS + word,
                     word % 40 ? "  " : "\n\n");
        snprintf(name, sizeof name, "%d.txt", file);
        put_file(fixture, name, text);
    }
    free(text);
    assert_ends(index_folder(fixture, "room"), OK, "");
    int64_t full = file_bytes(fixture);
    for (int file = 0; file < FILES; file++) {
        snprintf(name, sizeof name, "%d.txt", file);
        put_file(fixture, name, NULL);
    }
    answer_free(index_folder(fixture, "room"));
    assert_in_range(full, 1000000, 16000000);
    assert_in_range(file_bytes(fixture), 1, full / 4);
    assert_hits(fixture, NULL, "room", "paragraph stays", 1);
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
    assert_hits(*state, NULL, "manual", "basic plan", 0);
    request.n_paths = 0;
    answer = make_call(*state, NULL, "DeleteDocuments", &request.base);
    assert_int_equal(((const Renga__V1__DeleteDocumentsResponse *)answer->message)->documents, 4);
    answer_free(answer);
    assert_ends(search(*state, NULL, "manual", "basic plan"), NOT_FOUND, "manual");
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
    assert_hits(*state, "nara", "", "secret", 0);
    assert_ends(search(*state, "nara", "shared", "secret"), NOT_FOUND, "shared");
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
    assert_ends(index_text(*state, "full", "big", "small.txt", "a small text"), OK, "");
}

/* Whoever writes waits for this one. */
static sqlite3 *hold_file(const struct fixture *fixture)
{
    char path[128];
    sqlite3 *file = NULL;
    snprintf(path, sizeof path, "%s/../knowledge.db", fixture->root);
    assert_int_equal(sqlite3_open_v2(path, &file, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return file;
}

/* How many have, once so many have or a minute is over. */
static size_t await_some(struct answer *const *answers, size_t count, size_t wanted)
{
    size_t ended = 0;
    for (int tries = 0; tries < 60000 && ended < wanted; tries++) {
        ended = 0;
        for (size_t i = 0; i < count; i++) {
            int value = 0;
            sem_getvalue(&answers[i]->done, &value);
            ended += value > 0;
        }
        usleep(1000);
    }
    return ended;
}

static void a_collection_has_one_writer(void **state)
{
    enum { CALLS = 6 };
    struct fixture *fixture = *state;
    Renga__V1__IndexDocumentsRequest request = RENGA__V1__INDEX_DOCUMENTS_REQUEST__INIT;
    for (int i = 0; i < 150; i++) {
        char path[32], text[64];
        snprintf(path, sizeof path, "d%d/%d.md", i % 10, i);
        snprintf(text, sizeof text, "# %d\n\ndocument %d\n", i, i);
        put_file(fixture, path, text);
    }
    request.collection = TEXT("many");
    request.source_case = RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER;
    request.folder = fixture->folder;
    struct answer *answers[CALLS];
    int done = 0;
    sqlite3 *file = hold_file(fixture);
    for (size_t i = 0; i < CALLS; i++)
        answers[i] = begin_call(fixture, NULL, "IndexDocuments", &request.base);
    size_t ended = await_some(answers, CALLS, CALLS - 1);
    sqlite3_close(file);
    assert_int_equal(ended, CALLS - 1);
    for (size_t i = 0; i < CALLS; i++) {
        await(answers[i]);
        bool wrote = answers[i]->status.code == OK;
        done += wrote;
        if (!wrote)
            assert_status(answers[i], ABORTED, "another call is writing the collection 'many'");
        answer_free(answers[i]);
    }
    assert_int_equal(done, 1);
    struct answer *answer = search(fixture, NULL, "many", "document 134");
    assert_first(answer, "d4/134.md", 3, 3);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_has_changed_is_read_again),
        cmocka_unit_test(what_cannot_be_read_is_skipped_and_said),
        cmocka_unit_test(folders_outside_the_roots_are_refused),
        cmocka_unit_test(documents_can_be_sent_along),
        cmocka_unit_test(a_collection_grows_shrinks_and_is_swept),
        cmocka_unit_test(a_collection_whose_files_were_all_replaced_answers_like_a_new_one),
        cmocka_unit_test(files_that_an_indexing_removes_give_their_room_back),
        cmocka_unit_test(deleted_documents_are_gone),
        cmocka_unit_test(tenants_do_not_see_each_other),
        cmocka_unit_test(a_tenant_that_has_its_share_gets_no_more),
        cmocka_unit_test(a_collection_has_one_writer),
        cmocka_unit_test(a_caller_that_leaves_stops_the_work),
        cmocka_unit_test(searches_at_the_same_time_are_answered_while_a_collection_is_written),
    };
    return run_both_ways("The knowledge base", tests, sizeof tests / sizeof tests[0]);
}
