/* The names that the orchestrator gives: short, of a-z and 0-9, and derived from the named object if possible, so
 * that they need not be stored. */
#ifndef RENGA_ORCHESTRATOR_IDS_H
#define RENGA_ORCHESTRATOR_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_MAX 40 /* bytes, the NUL included */

/* FNV-1a, mixed at the end; of several pieces by handing the hash on. Begin with ID_HASH. */
#define ID_HASH UINT64_C(0xcbf29ce484222325)
uint64_t id_hash(uint64_t hash, const void *bytes, size_t size);
uint64_t id_hash_text(uint64_t hash, const char *text); /* its NUL too */
uint64_t id_hash_number(uint64_t hash, uint64_t number);

/* A thread's shard follows from this. */
uint64_t id_of_place(const char *tenant, const char *thread);

/* A run's id begins with its time, so that ids sort by age; it has the hash of its thread, so that its shard is known
 * from it alone. */
void id_make_run(char id[ID_MAX], int64_t wall_ms, uint64_t place);
bool id_run_place(const char *id, uint32_t *place);
int64_t id_run_time(const char *id); /* Unix time in milliseconds; 0 if the id is not that of a run */

/* Of a checkpoint: four letters of the thread, then the number of the record. */
void id_make_checkpoint(char id[ID_MAX], uint64_t place, uint64_t number);
bool id_checkpoint_number(const char *id, uint64_t place, uint64_t *number);

/* The version of an agent, SHA-256 in hexadecimal, is half as long in a row; any other text stays as it is. */
#define ID_VERSION_BYTES 32
#define ID_VERSION_MAX   72 /* bytes, the NUL included */
size_t id_pack_version(const char *version, char packed[ID_VERSION_MAX]);
void id_unpack_version(const void *packed, size_t size, char version[ID_VERSION_MAX]);

/* Thirteen letters of a hash behind a prefix: "q_4tz…". */
void id_make_hashed(char id[ID_MAX], const char *prefix, uint64_t hash);

#endif
