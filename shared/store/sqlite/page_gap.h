/* The unused bytes of a b-tree page, between its cell pointers and its cells. SQLite leaves copies there of rows that
 * it moved to another page, and `secure_delete` does not zero them when the rows are deleted. SQLite never reads them.
 * Source: "Database File Format" of SQLite, sections 1.3 (the header), 1.6 (b-tree pages), 1.8 (pointer maps). */
#ifndef RENGA_STORE_SQLITE_PAGE_GAP_H
#define RENGA_STORE_SQLITE_PAGE_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DATABASE_HEADER_BYTES 100

/* True if the page may be a b-tree page with a gap that is not zero: bytes [*from, *to). Any page of the file may be
 * given, also a damaged one; page_gap_applies tells about its place. */
bool page_gap_find(const unsigned char *page, size_t size, size_t *from, size_t *to);

/* Whether page `number` (the first is 1) is a page of `size` bytes in a file with this header, and neither the header's
 * own page nor a pointer map. In files of 2^25 pages and more an overflow page may look like a b-tree page: false. */
bool page_gap_applies(const unsigned char header[DATABASE_HEADER_BYTES], size_t size, uint64_t number);

#endif
