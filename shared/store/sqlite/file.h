/* A store's SQLite file: its owner, its form, and the connections to it. */
#ifndef RENGA_STORE_SQLITE_FILE_H
#define RENGA_STORE_SQLITE_FILE_H

#include "base/status.h"

#include <stdint.h>

/* A commit writes whole pages: 1, 4 and 8 KiB were slower (tests/bench/README.md). */
#define SQLITE_PAGE_BYTES 2048

#define SQLITE_BUSY_MS 1000 /* longest wait for a person's own connection that writes */

struct sqlite3;

struct sqlite_file {
    char *path;        /* without symbolic links */
    int lock_fd;       /* FILE.lock; -1: not locked */
    bool log_was_left; /* by a process that did not close the file */
};

/* Creates the file if it does not exist, and locks it for this process. */
bool sqlite_file_open(struct sqlite_file *file, const char *path, struct status *st);
void sqlite_file_close(struct sqlite_file *file);

/* A connection, used by one thread at a time. Its own checkpoints are off. */
bool sqlite_file_connect(const struct sqlite_file *file, struct sqlite3 **connection, int cache_kib, struct status *st);
/* Creates the tables in a new file; fails if the file is not ours, or newer than this release. */
bool sqlite_file_prepare(const struct sqlite_file *file, struct sqlite3 *connection, struct status *st);
/* Whether it is a store of a form that this release knows; false for a new, empty file. */
bool sqlite_file_is_ours(const struct sqlite_file *file, struct sqlite3 *connection, struct status *st);

bool sqlite_run(struct sqlite3 *connection, const char *sql, struct status *st);
/* The first column of the first row. */
bool sqlite_read_number(struct sqlite3 *connection, const char *sql, int64_t *number, struct status *st);
/* For a failure that the connection has just had; returns false. */
bool sqlite_failed(struct sqlite3 *connection, struct status *st);

#endif
