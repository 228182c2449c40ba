/* Moves the content of the log (WAL) into the file, beside the writer, so that commits go on meanwhile. */
#ifndef RENGA_STORE_SQLITE_CHECKPOINT_H
#define RENGA_STORE_SQLITE_CHECKPOINT_H

#include "store/sqlite/file.h"

struct checkpoint;

struct checkpoint *checkpoint_create(const struct sqlite_file *file, struct status *st);
void checkpoint_destroy(struct checkpoint **checkpoint);

/* From the writer's thread between transactions, with its connection and the pages that the log now has; `refused`: the
 * last transaction found no room on the volume. The answer of checkpoint_room then. */
uint64_t checkpoint_maintain(struct checkpoint *checkpoint, struct sqlite3 *writer, int log_pages, bool refused);

/* Bytes that the file's volume has left; UINT64_MAX if that cannot be known. */
uint64_t checkpoint_room(const struct checkpoint *checkpoint);

/* Also from the writer's thread: asks that the log soon drops its present content. */
void checkpoint_forget(struct checkpoint *checkpoint);

#endif
