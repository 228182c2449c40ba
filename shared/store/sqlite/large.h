/* Values that would not fit beside their keys. SQLite compares with a row by reading it to its end, and a long row
 * continues in overflow pages. So a search among keys would copy the state of every large thread that it meets. Long
 * values therefore stand in tables of their own by number, and the key's row has the number: an INTEGER instead of the
 * BLOB of other rows. There are two tables, since a new value goes behind the last one of its table, into the same
 * page if it fits. A value that needs most of a page would leave the short value before it alone in a page of 2 KiB.
 *
 *      number > 0      `large`, row `number`: values that leave no room for another in their page
 *      number < 0      `shared`, row -number: values of which several fit into a page (form 3)
 *
 * A file of form 1 has long values beside their keys, and one of form 2 has all of them in `large`. They are read there
 * and stay until they are overwritten or deleted.
 *
 * Belongs to a single connection, and is used in its thread. */
#ifndef RENGA_STORE_SQLITE_LARGE_H
#define RENGA_STORE_SQLITE_LARGE_H

#include "base/status.h"
#include "store/store.h"

#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

enum large_table { LARGE_ALONE, LARGE_SHARED, LARGE_TABLES };
enum large_statement { LARGE_READ, LARGE_ADD, LARGE_DROP, LARGE_STATEMENTS };

struct sqlite_large {
    struct sqlite3 *connection;
    struct sqlite3_stmt *statements[LARGE_TABLES][LARGE_STATEMENTS];
    bool any; /* of the writer's: there may be some */
};

/* The connection knows `let_go(value)` from then on: it drops the long value that the value refers to, and is always
 * true. */
bool sqlite_large_open(struct sqlite_large *large, struct sqlite3 *connection, struct status *st);
void sqlite_large_close(struct sqlite_large *large);

/* True if a value is to be separate from this key. */
bool sqlite_is_large(struct store_bytes key, struct store_bytes value);

/* In the writer's transaction. */
bool sqlite_large_add(struct sqlite_large *large, struct store_bytes value, int64_t *number, struct status *st);

/* The value in a column of the statement's present row, from either table; valid until sqlite_large_rest, which comes
 * before the statement's end. A lost value has `bytes` NULL; false if SQLite cannot read it. */
bool sqlite_large_value(struct sqlite_large *large, struct sqlite3_stmt *row, int column, struct store_bytes *value,
                        struct status *st);
void sqlite_large_rest(struct sqlite_large *large);

#endif
