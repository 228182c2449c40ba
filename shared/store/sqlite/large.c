#include "store/sqlite/large.h"

#include "store/sqlite/file.h"

#include <sqlite3.h>

/* The part of a row that SQLite keeps in its page among the keys; a few bytes of it hold the sizes of key and value. */
#define ROW_MAX  ((SQLITE_PAGE_BYTES - 12) * 64 / 255 - 23)
#define ROW_HEAD 5

/* A table's leaf holds up to LEAF_MAX bytes of a row. Of a longer row it holds LEAF_LEAST and the bytes that fill no
 * overflow page. */
#define LEAF_MAX    (SQLITE_PAGE_BYTES - 35)
#define LEAF_LEAST  ((SQLITE_PAGE_BYTES - 12) * 32 / 255 - 23)
#define LEAF_SHARED 1000 /* bytes; two such rows with their sizes and numbers fit into a leaf */
#define OVERFLOW    (SQLITE_PAGE_BYTES - 4)

static const char *const sql[LARGE_TABLES][LARGE_STATEMENTS] = {
    [LARGE_ALONE] = {[LARGE_READ] = "SELECT value FROM large WHERE number = ?1",
                     [LARGE_ADD] = "INSERT INTO large (value) VALUES (?1)",
                     [LARGE_DROP] = "DELETE FROM large WHERE number = ?1"},
    [LARGE_SHARED] = {[LARGE_READ] = "SELECT value FROM shared WHERE number = ?1",
                      [LARGE_ADD] = "INSERT INTO shared (value) VALUES (?1)",
                      [LARGE_DROP] = "DELETE FROM shared WHERE number = ?1"},
};

/* Binds the row that the number in a key's row refers to. */
static sqlite3_stmt *large_bind_number(struct sqlite_large *large, enum large_statement which, int64_t number)
{
    sqlite3_stmt *statement = large->statements[number < 0 ? LARGE_SHARED : LARGE_ALONE][which];
    sqlite3_bind_int64(statement, 1, number == INT64_MIN ? 0 : number < 0 ? -number : number); /* no row has 0 */
    return statement;
}

/* In the middle of a statement that takes rows away, in each row. */
static void large_let_go(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct sqlite_large *large = sqlite3_user_data(context);
    sqlite3_result_int(context, 1);
    if (sqlite3_value_type(values[0]) != SQLITE_INTEGER)
        return;
    sqlite3_stmt *drop = large_bind_number(large, LARGE_DROP, sqlite3_value_int64(values[0]));
    if (sqlite3_step(drop) != SQLITE_DONE)
        sqlite3_result_error_code(context, sqlite3_extended_errcode(large->connection));
    sqlite3_reset(drop);
}

bool sqlite_large_open(struct sqlite_large *large, struct sqlite3 *connection, struct status *st)
{
    *large = (struct sqlite_large){.connection = connection};
    if (sqlite3_create_function_v2(connection, "let_go", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, large, large_let_go, NULL,
                                   NULL, NULL) != SQLITE_OK)
        return sqlite_failed(connection, st);
    for (int i = 0; i < LARGE_TABLES * LARGE_STATEMENTS; i++) {
        int table = i / LARGE_STATEMENTS, which = i % LARGE_STATEMENTS;
        if (sqlite3_prepare_v3(connection, sql[table][which], -1, SQLITE_PREPARE_PERSISTENT,
                               &large->statements[table][which], NULL) != SQLITE_OK)
            return sqlite_failed(connection, st);
    }
    int64_t any = 0;
    bool known = sqlite_read_number(connection, "SELECT EXISTS (SELECT 1 FROM large) OR EXISTS (SELECT 1 FROM shared)",
                                    &any, st);
    large->any = any != 0;
    return known;
}

void sqlite_large_close(struct sqlite_large *large)
{
    for (int i = 0; i < LARGE_TABLES * LARGE_STATEMENTS; i++)
        sqlite3_finalize(large->statements[i / LARGE_STATEMENTS][i % LARGE_STATEMENTS]);
    *large = (struct sqlite_large){0};
}

bool sqlite_is_large(struct store_bytes key, struct store_bytes value)
{
    return key.size + value.size > ROW_MAX - ROW_HEAD;
}

bool sqlite_large_add(struct sqlite_large *large, struct store_bytes value, int64_t *number, struct status *st)
{
    /* Whether the part of a value in its leaf leaves room for another of this size. */
    size_t row = value.size + ROW_HEAD;
    if (row > LEAF_MAX) {
        size_t part = LEAF_LEAST + (row - LEAF_LEAST) % OVERFLOW;
        row = part > LEAF_MAX ? LEAF_LEAST : part;
    }
    bool shared = row <= LEAF_SHARED;
    sqlite3_stmt *add = large->statements[shared ? LARGE_SHARED : LARGE_ALONE][LARGE_ADD];
    large->any = true;
    sqlite3_bind_blob(add, 1, value.size > 0 ? value.bytes : "", (int)value.size, SQLITE_STATIC);
    bool added = sqlite3_step(add) == SQLITE_DONE || sqlite_failed(large->connection, st);
    *number = sqlite3_last_insert_rowid(large->connection) * (shared ? -1 : 1);
    sqlite3_reset(add);
    return added;
}

bool sqlite_large_value(struct sqlite_large *large, sqlite3_stmt *row, int column, struct store_bytes *value,
                        struct status *st)
{
    if (sqlite3_column_type(row, column) == SQLITE_INTEGER) {
        row = large_bind_number(large, LARGE_READ, sqlite3_column_int64(row, column));
        column = 0;
        int result = sqlite3_step(row);
        if (result == SQLITE_DONE)
            return *value = (struct store_bytes){NULL, 0}, true;
        if (result != SQLITE_ROW)
            return sqlite_failed(large->connection, st);
    }
    const void *bytes = sqlite3_column_blob(row, column);
    *value = (struct store_bytes){bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, column)};
    return true;
}

void sqlite_large_rest(struct sqlite_large *large)
{
    for (int i = 0; i < LARGE_TABLES; i++)
        sqlite3_reset(large->statements[i][LARGE_READ]);
}
