/* SQLite: opens a file with its pragmas and table version; statements; error texts. Independent of the data. A
 * connection belongs to one thread at a time. Errors contain no path: their texts reach clients. */
#ifndef RENGA_LLM_GATEWAY_LEDGER_SQLITE_H
#define RENGA_LLM_GATEWAY_LEDGER_SQLITE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct database;
struct statement;

struct database_plan {
    int version;        /* PRAGMA user_version of `tables`; a file of a higher one is refused, FAILED_PRECONDITION */
    const char *tables; /* SQL that makes them in a new file */
    const char *const *upgrades; /* SQL from version 1 to 2, from 2 to 3, …: `version` - 1 of them */
};

#define DATABASE_MEMORY     "memory:" /* a path that begins so is no file; the same name is the same database */
#define DATABASE_MEMORY_MAX (INT64_C(256) << 20) /* bytes of one */

/* Created if it is absent, readable for its owner alone. Committed is on disk (WAL, synchronous FULL). UNAVAILABLE
 * if the file cannot be opened or is no database. Statements have `seal_of` (store/sqlite/checksum.h). */
struct database *database_open(const char *path, const struct database_plan *plan, struct status *st);
void database_close(struct database **database);

/* The file that was opened is not the one at its path any more. */
bool database_moved(struct database *database);

bool database_run(struct database *database, const char *sql, struct status *st);
/* How many rows the last statement changed. */
int64_t database_changed(struct database *database);
/* Takes back a transaction, if one is open. */
void database_rollback(struct database *database);

/* `stop` is asked again and again while a statement runs, in its thread; true ends it with ABORTED. NULL: never. */
void database_limit(struct database *database, bool (*stop)(void *data), void *data);

struct statement *statement_prepare(struct database *database, const char *sql, struct status *st);
void statement_finalize(struct statement **statement);

/* Parameters are numbered from 1, columns from 0. Texts are borrowed until the statement is reset; a text is stored
 * up to its first byte that is not UTF-8. */
void statement_bind(struct statement *statement, int parameter, int64_t value);
void statement_bind_text(struct statement *statement, int parameter, const char *text);

enum statement_step { STATEMENT_ROW, STATEMENT_DONE, STATEMENT_FAILED };
enum statement_step statement_step(struct statement *statement, struct status *st);
int64_t statement_number(struct statement *statement, int column);
/* Until the next step. */
const char *statement_text(struct statement *statement, int column);
void statement_reset(struct statement *statement);

/* Steps to the end and resets. */
bool statement_run(struct statement *statement, struct status *st);

#endif
