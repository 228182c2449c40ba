/* One bit of one value of the knowledge file is flipped, in each column of each row in turn: a search answers as
 * before, or says that something is damaged. Rows and files of releases without checksums are read. */
#include "knowledge_fixture.h"

#include "knowledge/tables.h"
#include "store/sqlite/checksum.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAIL(...)                                                                                                      \
    do {                                                                                                               \
        print_error(__VA_ARGS__);                                                                                      \
        _fail(__FILE__, __LINE__);                                                                                     \
    } while (0)

static sqlite3 *beside;

static void flipped_run_sql(const char *text)
{
    char *error = NULL;
    if (sqlite3_exec(beside, text, NULL, NULL, &error) != SQLITE_OK)
        FAIL("%s: %s", text, error);
}

static void flipped_open_beside(const struct fixture *fixture)
{
    char path[128];
    snprintf(path, sizeof path, "%s/../knowledge.db", fixture->root);
    assert_int_equal(sqlite3_open_v2(path, &beside, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(beside, 20000);
    assert_true(sqlite_checksum_register(beside));
}

/* Readers keep lengths of paragraphs for as long as their collection says that it has not changed. */
static void renew_generations(void)
{
    flipped_run_sql("UPDATE collections SET generation = generation + 1, seal = CASE WHEN " WHOLE(
        COLLECTION_PARTS) " THEN seal_of(id, tenant, name, next, documents, paragraphs, words, dead, bytes, "
                          "updated_ms, "
                          "generation + 1, vectors, model) ELSE seal END");
}

/* ---- searches ---------------------------------------------------------------------------------------------------- */

static const char *const queries[] = {"basic plan dollars", "東", "the a of", "what is error XYZ-5008"};
#define QUERIES (sizeof queries / sizeof *queries)

struct result {
    uint8_t *bytes; /* of the hits alone; NULL: DATA_LOSS */
    size_t size;
    bool told;
};

static struct result flipped_ask_tool(struct fixture *fixture, const char *query, const char *change)
{
    struct result result = {.told = true};
    struct answer *answer = search(fixture, NULL, "manual", query);
    if (answer->status.code == OK) {
        Renga__V1__SearchResponse hits = RENGA__V1__SEARCH_RESPONSE__INIT;
        const Renga__V1__SearchResponse *response = found(answer);
        result.told = response->n_degradations > 0;
        hits.hits = response->hits;
        hits.n_hits = response->n_hits;
        result.size = renga__v1__search_response__get_packed_size(&hits);
        result.bytes = malloc(result.size + 1);
        renga__v1__search_response__pack(&hits, result.bytes);
    } else if (answer->status.code != DATA_LOSS || !strstr(answer->status.text, "'manual'")) {
        FAIL("%s: %s: %s", change, status_code_name((int)answer->status.code), answer->status.text);
    }
    answer_free(answer);
    return result;
}

static struct result before[QUERIES];

static void flipped_learn_keys(struct fixture *fixture)
{
    for (size_t i = 0; i < QUERIES; i++) {
        before[i] = flipped_ask_tool(fixture, queries[i], "before any change");
        assert_false(before[i].told);
    }
}

/* Whether a search told of it. */
static bool searches_are_right(struct fixture *fixture, const char *change)
{
    bool told = false;
    renew_generations();
    for (size_t i = 0; i < QUERIES; i++) {
        struct result result = flipped_ask_tool(fixture, queries[i], change);
        bool same =
            result.bytes && result.size == before[i].size && memcmp(result.bytes, before[i].bytes, result.size) == 0;
        if (!same && !result.told)
            FAIL("%s: '%s' is answered as if all were right", change, queries[i]);
        told |= result.told;
        free(result.bytes);
    }
    return told;
}

/* ---- flips ------------------------------------------------------------------------------------------------------- */

#define ROWS_MAX 200 /* of a table */

static const struct {
    const char *table, *key, *columns[16];
} parts[] = {
    {"collections",
     "id",
     {"next", "documents", "paragraphs", "words", "dead", "bytes", "updated_ms", "vectors", "seal"}},
    {"documents", "id", {"path", "hash", "title", "first", "lengths", "bytes", "seal"}},
    {"paragraphs", "id", {"document", "headings", "line_from", "line_to", "text", "seal"}},
    {"postings", "term || char(10) || first", {"last", "count", "data", "seal"}},
};

/* The value of a row's column with one bit flipped, bound as the second parameter; false if it has no bit. */
static bool bind_flipped(sqlite3_stmt *put, sqlite3_value *value, size_t turn)
{
    static uint8_t bytes[1 << 20];
    size_t size = (size_t)sqlite3_value_bytes(value);
    int kind = sqlite3_value_type(value);
    if (kind == SQLITE_INTEGER)
        return sqlite3_bind_int64(put, 2, sqlite3_value_int64(value) ^ (INT64_C(1) << turn % 20)) == SQLITE_OK;
    assert_true(size <= sizeof bytes);
    if (!size)
        return false;
    memcpy(bytes, sqlite3_value_blob(value), size);
    bytes[turn * 7 % size] ^= (uint8_t)(1 << turn % 7);
    if (kind == SQLITE_TEXT)
        sqlite3_bind_text(put, 2, (const char *)bytes, (int)size, SQLITE_TRANSIENT);
    else
        sqlite3_bind_blob(put, 2, bytes, (int)size, SQLITE_TRANSIENT);
    return true;
}

static sqlite3_stmt *flipped_prepare_store(const char *format, const char *first, const char *second, const char *third)
{
    char text[512];
    sqlite3_stmt *statement = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, first, second, third);
#pragma GCC diagnostic pop
    if (sqlite3_prepare_v2(beside, text, -1, &statement, NULL) != SQLITE_OK)
        FAIL("%s: %s", text, sqlite3_errmsg(beside));
    return statement;
}

static void flipped_put_document(sqlite3_stmt *put, sqlite3_value *key)
{
    sqlite3_bind_value(put, 1, key);
    assert_int_equal(sqlite3_step(put), SQLITE_DONE);
    assert_int_equal(sqlite3_changes(beside), 1);
    sqlite3_reset(put);
}

static size_t flip_column(struct fixture *fixture, const char *table, const char *key, const char *column, size_t every)
{
    sqlite3_stmt *rows = flipped_prepare_store("SELECT %2$s, %3$s FROM %1$s ORDER BY 1", table, key, column);
    sqlite3_stmt *update = flipped_prepare_store("UPDATE %1$s SET %3$s = ?2 WHERE %2$s = ?1", table, key, column);
    sqlite3_value *keys[ROWS_MAX], *values[ROWS_MAX];
    size_t count = 0, told = 0;
    for (size_t i = 0; sqlite3_step(rows) == SQLITE_ROW && count < ROWS_MAX; i++) {
        if (i % every)
            continue;
        keys[count] = sqlite3_value_dup(sqlite3_column_value(rows, 0));
        values[count++] = sqlite3_value_dup(sqlite3_column_value(rows, 1));
    }
    sqlite3_finalize(rows);
    for (size_t i = 0; i < count; i++) {
        char change[128];
        snprintf(change, sizeof change, "%s.%s of row %s", table, column, (const char *)sqlite3_value_text(keys[i]));
        if (bind_flipped(update, values[i], i)) {
            flipped_put_document(update, keys[i]);
            told += searches_are_right(fixture, change);
            sqlite3_bind_value(update, 2, values[i]);
            flipped_put_document(update, keys[i]);
        }
        sqlite3_value_free(keys[i]);
        sqlite3_value_free(values[i]);
    }
    sqlite3_finalize(update);
    return told;
}

static void a_flipped_bit_is_told_or_changes_no_answer(void **state)
{
    struct fixture *fixture = *state;
    write_manual(fixture);
    answer_free(index_folder(fixture, "manual"));
    flipped_open_beside(fixture);
    flipped_learn_keys(fixture);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t told = 0, every = strcmp(parts[i].table, "postings") == 0 ? 7 : 1;
        for (const char *const *column = parts[i].columns; *column; column++)
            told += flip_column(fixture, parts[i].table, parts[i].key, *column, every);
        if (told < 5)
            FAIL("damage in %s was told only %zu times", parts[i].table, told);
    }
    searches_are_right(fixture, "as it was");
}

static void rows_of_releases_without_checksums_are_read(void **state)
{
    struct fixture *fixture = *state;
    flipped_run_sql(
        "UPDATE collections SET seal = NULL; UPDATE documents SET seal = NULL; UPDATE paragraphs SET seal = NULL; "
        "UPDATE postings SET seal = NULL; UPDATE vectors SET seal = NULL");
    assert_false(searches_are_right(fixture, "without checksums"));
    answer_free(index_text(fixture, NULL, "manual", "later.txt", "a later document tells of otters\n"));
    assert_hits(fixture, NULL, "manual", "otters", 1);
    for (size_t i = 0; i < QUERIES; i++)
        free(before[i].bytes);
    sqlite3_close(beside);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void a_file_of_the_first_version_is_upgraded(void **state)
{
    static const char version_1[] =
        "CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, name TEXT NOT NULL, "
        "next INTEGER NOT NULL DEFAULT 0, documents INTEGER NOT NULL DEFAULT 0, paragraphs INTEGER NOT NULL DEFAULT 0, "
        "words INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, "
        "updated_ms INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL DEFAULT 0, "
        "vectors INTEGER NOT NULL DEFAULT 0, model TEXT NOT NULL DEFAULT '', UNIQUE (tenant, name));"
        "CREATE TABLE documents (id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, path TEXT NOT NULL, "
        "hash BLOB NOT NULL, title TEXT NOT NULL, first INTEGER NOT NULL, lengths BLOB NOT NULL, "
        "bytes INTEGER NOT NULL, vectors INTEGER NOT NULL DEFAULT 0, UNIQUE (collection, path));"
        "CREATE TABLE paragraphs (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, headings TEXT NOT NULL, "
        "line_from INTEGER NOT NULL, line_to INTEGER NOT NULL, text TEXT NOT NULL);"
        "CREATE TABLE postings (collection INTEGER NOT NULL, term TEXT NOT NULL, first INTEGER NOT NULL, "
        "last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (collection, term, first)) "
        "WITHOUT ROWID; CREATE TABLE vectors (document INTEGER PRIMARY KEY, collection INTEGER NOT NULL, "
        "first INTEGER NOT NULL, data BLOB NOT NULL); CREATE INDEX vectors_collection ON vectors (collection);"
        "INSERT INTO collections (tenant, name, next, paragraphs) VALUES ('', 'old', 7, 5);"
        "INSERT INTO documents VALUES (3, 1, 'a.txt', zeroblob(32), 'A', 0, x'0100', 9, 0); PRAGMA user_version = 1";
    char folder[] = "/tmp/renga-knowledge-XXXXXX", path[64];
    struct status st = {0};
    struct tables tables;
    struct collection collection;
    struct kept kept;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/knowledge.db", folder);
    assert_int_equal(sqlite3_open(path, &beside), SQLITE_OK);
    flipped_run_sql(version_1);
    sqlite3_close(beside);
    for (int i = 0; i < 2; i++) { /* the second time it is of today's version */
        assert_true(tables_open(&tables, path, &st));
        assert_true(collection_find(&tables, "", "old", &collection, &st));
        assert_int_equal(collection.next, 7);
        assert_true(kept_find(&tables, collection.id, "a.txt", &kept, &st));
        assert_int_equal(kept.first, 0);
        assert_true(collection_save(&tables, &collection, &st));
        tables_close(&tables);
    }
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        snprintf(path, sizeof path, "%s/knowledge.db%s", folder, *end);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flipped_bit_is_told_or_changes_no_answer),
        cmocka_unit_test(rows_of_releases_without_checksums_are_read),
        cmocka_unit_test(a_file_of_the_first_version_is_upgraded),
    };
    return run_both_ways("Flipped bits in the knowledge base", tests, sizeof tests / sizeof tests[0]);
}
