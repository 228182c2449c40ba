/* Files of a service that keeps its data in tables: connections, versions of the tables, statements, error texts.
 * Independent of the data, and of the stores beside it. A connection belongs to one thread at a time. Errors contain no
 * path: their texts reach clients. */
#ifndef RENGA_STORE_SQLITE_SQL_H
#define RENGA_STORE_SQLITE_SQL_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_file;
struct sql; /* a statement */

struct sql_plan {
    int version;        /* PRAGMA user_version of `tables`; a file of a higher one is refused, FAILED_PRECONDITION */
    const char *tables; /* SQL that makes them in a new file */
    const char *const *upgrades; /* SQL from version 1 to 2, from 2 to 3, …: `version` - 1 of them */
    const char *subject;         /* of error texts: "the knowledge base" */
    const char *pragmas;         /* of each connection to a file */
    const char *first_pragmas;   /* before the first table; they include auto_vacuum = INCREMENTAL; or NULL */
    int busy_ms;                 /* longest wait for another connection that writes */
    int64_t memory_max;          /* bytes of a database that is no file */
};

#define SQL_MEMORY "memory:" /* a path that begins so is no file; the same name is the same database */

/* Created if it is absent, readable for its owner alone. Committed is on disk (WAL, synchronous FULL). UNAVAILABLE
 * if the file cannot be opened or is no database. Statements have `seal_of` (store/sqlite/checksum.h). */
struct sql_file *sql_open(const char *path, const struct sql_plan *plan, struct status *st);
void sql_close(struct sql_file **file);

/* The file that was opened is not the one at its path any more. */
bool sql_moved(struct sql_file *file);

bool sql_run(struct sql_file *file, const char *text, struct status *st);
/* BEGIN IMMEDIATE: waits for other writers. */
bool sql_begin(struct sql_file *file, struct status *st);
/* As sql_begin, for a transaction that adds. RESOURCE_EXHAUSTED where its volume has less than 4 MiB left: other files
 * may share it, and what they delete goes through their logs. */
bool sql_begin_adding(struct sql_file *file, struct status *st);
bool sql_commit(struct sql_file *file, struct status *st);
/* Takes back a transaction, if one is open. One that has filled the disk gives the room of the log back. */
void sql_rollback(struct sql_file *file);

/* Gives free pages back to the file system, some at a time; `stop` is asked between. Without effect while few are
 * free. */
bool sql_shrink(struct sql_file *file, bool (*stop)(void *data), void *data, struct status *st);

/* `stop` is asked again and again while a statement runs, in its thread; true ends it with ABORTED. NULL: never. */
void sql_limit(struct sql_file *file, bool (*stop)(void *data), void *data);

/* NULL with the reason in `st`. */
struct sql *sql_prepare(struct sql_file *file, const char *text, struct status *st);
void sql_finalize(struct sql **sql);

/* Parameters are numbered from 1, columns from 0. Texts and bytes are borrowed until the statement is reset. */
void sql_bind(struct sql *sql, int parameter, int64_t value);
void sql_bind_text(struct sql *sql, int parameter, const char *text, size_t length);
void sql_bind_string(struct sql *sql, int parameter, const char *text);
/* Up to the first byte that is not UTF-8. */
void sql_bind_clean(struct sql *sql, int parameter, const char *text);
void sql_bind_bytes(struct sql *sql, int parameter, const void *bytes, size_t size);

enum sql_step { SQL_ROW, SQL_DONE, SQL_FAILED };
enum sql_step sql_step(struct sql *sql, struct status *st);
void sql_reset(struct sql *sql);
/* Steps to the end and resets. */
bool sql_finish(struct sql *sql, struct status *st);

/* Valid until the next step. Text is "" for NULL. */
int64_t sql_number(struct sql *sql, int column);
const char *sql_text(struct sql *sql, int column);
const void *sql_bytes(struct sql *sql, int column, size_t *size);

/* Of the row that was inserted last. */
int64_t sql_inserted(struct sql_file *file);
/* How many rows the last statement changed. */
int64_t sql_changed(struct sql_file *file);

#endif
