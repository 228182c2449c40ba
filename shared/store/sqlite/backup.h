/* Copies of a SQLite store that is in use. */
#ifndef RENGA_STORE_SQLITE_BACKUP_H
#define RENGA_STORE_SQLITE_BACKUP_H

#include "base/status.h"

/* See store_backup. */
bool sqlite_backup(const char *place, const char *copy, struct status *st);

#endif
