/* SQLite writes its log (WAL) in two small pieces a page. This VFS between SQLite and the system gathers them: a
 * transaction goes into the log with one write before its one fsync. It needs `synchronous = FULL`. */
#ifndef RENGA_STORE_SQLITE_WAL_VFS_H
#define RENGA_STORE_SQLITE_WAL_VFS_H

#include "base/status.h"

/* The VFS's name for connections; NULL if it could not be made. Once for the process, from any thread. */
const char *sqlite_log_vfs(struct status *st);

/* The name of a VFS that leaves the log to the system, for connections with any `synchronous`. The database's own file
 * is treated alike by both (`main_file.h`). Errors and threads likewise. */
const char *sqlite_file_vfs(struct status *st);

#endif
