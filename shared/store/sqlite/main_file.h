/* The database's own file, between SQLite and the system. Two faults of SQLite 3.40 end here:
 *
 *   - Pages that go into the file lose the bytes that they do not use (`page_gap.h`).
 *   - The log never begins anew while another connection copies it. Else a checkpoint that has read the header of the
 *     log counts frames of the new log as copied, and a later one skips them: commits are lost. It is the WAL-reset bug
 *     of SQLite 3.7.0 to 3.51.2 (sqlite.org/wal.html, "The WAL-Reset Bug").
 *
 * Threads: as the connection to which the file belongs. Processes may share the file. */
#ifndef RENGA_STORE_SQLITE_MAIN_FILE_H
#define RENGA_STORE_SQLITE_MAIN_FILE_H

#include <stddef.h>

struct sqlite3_file;
struct sqlite3_vfs;

/* Bytes of a file's memory (`szOsFile`): those of `system`, and ours behind them. */
size_t main_file_bytes(const struct sqlite3_vfs *system);
/* xOpen of `system`, for a file of so many bytes. */
int main_file_open(struct sqlite3_vfs *system, const char *name, struct sqlite3_file *file, int flags, int *flags_out);

#endif
