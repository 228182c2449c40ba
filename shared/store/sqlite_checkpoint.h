/* Moves what the log (WAL) has into the file, beside the writer, so that commits go on meanwhile. */
#ifndef RENGA_STORE_SQLITE_CHECKPOINT_H
#define RENGA_STORE_SQLITE_CHECKPOINT_H

#include "store/sqlite_file.h"

struct checkpoint;

struct checkpoint *checkpoint_create(const struct sqlite_file *file, struct status *st);
void checkpoint_destroy(struct checkpoint **checkpoint);

/* From the writer's thread between transactions, with its connection and the pages that the log now has. */
void checkpoint_tend(struct checkpoint *checkpoint, struct sqlite3 *writer, int log_pages);

/* From the writer's thread too: soon the log shall have nothing of what it has now. */
void checkpoint_forget(struct checkpoint *checkpoint);

#endif
