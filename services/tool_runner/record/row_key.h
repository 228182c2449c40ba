/* Builds a key of the record's store. Names are checked before they come here: they have no NUL and always fit; a name
 * that does not fit is a bug, and ends the process. */
#ifndef RENGA_TOOL_RUNNER_ROW_KEY_H
#define RENGA_TOOL_RUNNER_ROW_KEY_H

#include "base/arena.h"
#include "store/store.h"

#include <stdint.h>

struct row_key {
    size_t size;
    char bytes[STORE_KEY_MAX];
};

/* The kind, then two names with their NULs, then a third without; NULL: without it. */
struct row_key row_key_make(char kind, const char *first, const char *second, const char *third);
void row_key_append(struct row_key *key, const void *bytes, size_t size);
void row_key_append_number(struct row_key *key,
                           int64_t number); /* eight bytes; not negative, they compare as it does */
int64_t row_key_read_number(const void *bytes);

struct store_bytes row_key_bytes(const struct row_key *key); /* borrowed */
/* Copies the key into the arena; bytes NULL: the arena is exhausted. */
struct store_bytes row_key_copy(struct arena *arena, const struct row_key *key);
/* The range of all keys that begin with the key, which ends in a NUL. */
void row_key_range(struct arena *arena, struct row_key *key, struct store_bytes *from, struct store_bytes *to);

#endif
