/* A checksum for a row of an SQLite table that has its values in columns. The SQL function `seal_of(a, b, …)` gives the
 * CRC-32C of the kinds and values of its arguments. The row keeps it in a column `seal INTEGER`, which is NULL in rows
 * of releases that did not write it:
 *
 *      INSERT INTO t VALUES (?1, ?2, seal_of(?1, ?2))
 *      SELECT a, b, seal IS NULL OR seal = seal_of(a, b) FROM t
 *
 * It shares only the sum with checksum.h. */
#ifndef RENGA_STORE_SQLITE_CHECKSUM_H
#define RENGA_STORE_SQLITE_CHECKSUM_H

#include <stdbool.h>

struct sqlite3;

/* Makes the function known to a connection; false if memory is out. */
bool sqlite_checksum_register(struct sqlite3 *connection);

#endif
