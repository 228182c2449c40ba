/* SQLite writes its log (WAL) in two small pieces a page. This VFS between SQLite and the system gathers them: a
 * transaction goes into the log with one write before its one fsync. Pages that go into the database's own file lose
 * the bytes that they do not use (`page_gap.h`). */
#ifndef RENGA_STORE_SQLITE_WAL_VFS_H
#define RENGA_STORE_SQLITE_WAL_VFS_H

#include "base/status.h"

/* The VFS's name for connections; NULL if it could not be made. Once for the process, from any thread. */
const char *sqlite_log_vfs(struct status *st);

#endif
