/* Rows of the knowledge file that are damaged: each in turn, and then all that reads it. The process goes on, an answer
 * is OK or DATA_LOSS, another collection keeps its content, and the damaged one can be deleted. */
#include "knowledge_fixture.h"

#include "base/text.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define FAIL(...)                                                                                                      \
    do {                                                                                                               \
        print_error(__VA_ARGS__);                                                                                      \
        _fail(__FILE__, __LINE__);                                                                                     \
    } while (0)

static void damaged_run_sql(const struct fixture *fixture, const char *text)
{
    char path[128], *error = NULL;
    sqlite3 *file = NULL;
    snprintf(path, sizeof path, "%s/../knowledge.db", fixture->root);
    assert_int_equal(sqlite3_open_v2(path, &file, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(file, 20000);
    if (sqlite3_exec(file, text, NULL, NULL, &error) != SQLITE_OK)
        FAIL("%s: %s", text, error);
    sqlite3_close(file);
}

static void assert_sane(const struct answer *answer, const char *change, const char *step)
{
    if (answer->status.code != OK && answer->status.code != DATA_LOSS)
        FAIL("%s: %s: %s: %s", change, step, status_code_name((int)answer->status.code), answer->status.text);
    if (answer->status.code == DATA_LOSS && !strchr(answer->status.text, '\''))
        FAIL("%s: %s: an error without a name: %s", change, step, answer->status.text);
}

static bool text_is_whole(const char *text)
{
    return text_is_clean(text, strlen(text));
}

static void search_damaged(struct fixture *fixture, const char *change)
{
    static const char *const queries[] = {"basic plan dollars", "東", "the a of"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct answer *answer = search(fixture, NULL, "manual", queries[i]);
        assert_sane(answer, change, "search");
        const Renga__V1__SearchResponse *response = answer->status.code == OK ? found(answer) : NULL;
        for (size_t j = 0; response && j < response->n_hits; j++) {
            const Renga__V1__SearchHit *hit = response->hits[j];
            if (!text_is_whole(hit->snippet) || !text_is_whole(hit->uri) || !text_is_whole(hit->title) ||
                !(hit->score >= 0 && hit->score <= 1) || hit->line_from < 0)
                FAIL("%s: a damaged hit is given", change);
        }
        answer_free(answer);
    }
}

static void index_damaged(struct fixture *fixture, const char *change)
{
    struct answer *answer = index_folder(fixture, "manual");
    assert_sane(answer, change, "index");
    answer_free(answer);
    answer = index_text(fixture, NULL, "manual", "notes.txt", "the basic plan has changed\n");
    assert_sane(answer, change, "index a text");
    answer_free(answer);
}

static void delete_collection(struct fixture *fixture, const char *change)
{
    Renga__V1__DeleteDocumentsRequest request = RENGA__V1__DELETE_DOCUMENTS_REQUEST__INIT;
    request.collection = TEXT("manual");
    struct answer *answer = make_call(fixture, NULL, "DeleteDocuments", &request.base);
    if (answer->status.code != OK)
        FAIL("%s: it cannot be deleted: %s", change, answer->status.text);
    answer_free(answer);
}

static void damaged_rows_of_the_knowledge_file_end_nothing(void **state)
{
    static const char *const changes[] = {
        "UPDATE collections SET next = 9223372036854775807",
        "UPDATE collections SET next = 9223372036854775806",
        "UPDATE collections SET next = 4611686018427387904",
        "UPDATE collections SET next = 4294967290",
        "UPDATE collections SET next = -1",
        "UPDATE collections SET next = 1",
        "UPDATE collections SET next = 'many'",
        "UPDATE collections SET paragraphs = -5",
        "UPDATE collections SET paragraphs = 9223372036854775807, words = -9223372036854775807",
        "UPDATE collections SET bytes = -9223372036854775807, dead = 9223372036854775807",
        "UPDATE collections SET model = CAST(x'fffe80' AS TEXT)",
        "UPDATE documents SET first = 9223372036854775807",
        "UPDATE documents SET first = 9223372036854775000",
        "UPDATE documents SET first = -1",
        "UPDATE documents SET first = 4294967295",
        "UPDATE documents SET first = 4294967296",
        "UPDATE documents SET lengths = x'01'",
        "UPDATE documents SET lengths = zeroblob(1000001)",
        "UPDATE documents SET lengths = 'text', hash = x''",
        "UPDATE documents SET bytes = 9223372036854775807",
        "UPDATE documents SET title = CAST(x'fffe80' AS TEXT)",
        "UPDATE postings SET data = x'ffffffffffffffffff'",
        "UPDATE postings SET data = x''",
        "UPDATE postings SET data = randomblob(1700)",
        "UPDATE postings SET data = substr(data, 1, length(data) - 1)",
        "UPDATE postings SET count = 9223372036854775807",
        "UPDATE postings SET count = -1, last = -1",
        "UPDATE postings SET count = 0, last = 9223372036854775807",
        "UPDATE paragraphs SET text = CAST(x'fffe80' AS TEXT), headings = CAST(x'ff' AS TEXT)",
        "UPDATE paragraphs SET line_from = -9223372036854775807, line_to = 9223372036854775807",
    };
    struct fixture *fixture = *state;
    write_manual(fixture);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[512];
        const char *table = strchr(changes[i], ' ') + 1;
        const char *column = strncmp(table, "paragraphs", 10) == 0    ? "id >> 32"
                             : strncmp(table, "collections", 11) == 0 ? "id"
                                                                      : "collection";
        answer_free(index_folder(fixture, "manual"));
        answer_free(index_folder(fixture, "other"));
        snprintf(sql, sizeof sql, "%s WHERE %s = (SELECT id FROM collections WHERE name = 'manual')", changes[i],
                 column);
        damaged_run_sql(fixture, sql);
        search_damaged(fixture, changes[i]);
        index_damaged(fixture, changes[i]);
        search_damaged(fixture, changes[i]);
        delete_collection(fixture, changes[i]);
        assert_hits(fixture, NULL, "other", "basic plan dollars", 1);
        damaged_run_sql(fixture, "DELETE FROM collections; DELETE FROM documents; DELETE FROM paragraphs; "
                                 "DELETE FROM postings; DELETE FROM vectors");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_rows_of_the_knowledge_file_end_nothing),
    };
    return run_both_ways("The damaged knowledge base", tests, sizeof tests / sizeof tests[0]);
}
