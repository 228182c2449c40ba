/* A checksum inside a row. Its value is a protobuf message, or ends with a protobuf message: field 2047 of that
 * message, before all others. A reader that does not know of it passes it over, so releases without it read the row,
 * and the rows of those releases are read here as ABSENT.
 *
 *      value:  head (`at` bytes, often 0) | fd 7f | CRC-32C of key, head and rest, little-endian | rest
 *
 * The key is part of the sum: a row that was put in another's place is MISMATCH, too. */
#ifndef RENGA_STORE_CHECKSUM_H
#define RENGA_STORE_CHECKSUM_H

#include "store/store.h"

#define STORE_CHECKSUM_BYTES 6

enum store_checksum { STORE_CHECKSUM_VALID, STORE_CHECKSUM_ABSENT, STORE_CHECKSUM_MISMATCH };

/* Fills the STORE_CHECKSUM_BYTES of the value that begin at `at`; the rest of the value is already written. */
void store_checksum_write(struct store_bytes key, void *value, size_t size, size_t at);
/* The checksum's state at `at`. If it is VALID the message begins STORE_CHECKSUM_BYTES behind it, if it is ABSENT
 * there.
 */
enum store_checksum store_checksum_read(struct store_bytes key, struct store_bytes value, size_t at);

#endif
