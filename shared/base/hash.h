/* A hash for tables with keys from outside. Its key is random and the process's own, so that no caller can choose
 * texts that collide. A hash differs from process to process: never store or send one. Any thread. */
#ifndef RENGA_BASE_HASH_H
#define RENGA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t size);

/* The same of a text that ends with a NUL. */
uint64_t hash_text(const char *text);

/* Of several pieces in their order: `before` is the hash of those in front, 0 at first. The boundary between pieces
 * counts. */
uint64_t hash_more(uint64_t before, const void *bytes, size_t size);
uint64_t hash_more_text(uint64_t before, const char *text);

#endif
