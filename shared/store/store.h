/* A store: an ordered map from keys to values, both bytes, that changes in batches. A batch is whole or not at all, and
 * its owner is told only when it is on disk. Batches of all loops that arrive during a transaction go into the next
 * transaction together (group commit), in order of arrival.
 *
 *      store_commit ---> queue ---> the writer's thread: one transaction, one fsync ---> committed, in the batch's loop
 *      store_scan   ---> a reader's thread ------------------------------------------> done, in the scan's loop
 *
 * A scan that is started from a loop after `committed` of a batch sees that batch. Keys compare as memcmp does.
 * Kinds: "memory:" (gone with the process), "sqlite:FILE" (WAL, synchronous=FULL), "redis://HOST:PORT" (appendonly,
 * appendfsync always; of several processes too). Adding a kind is a file and a row. */
#ifndef RENGA_STORE_STORE_H
#define RENGA_STORE_STORE_H

#include "base/arena.h"
#include "base/status.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_KEY_MAX   512         /* bytes */
#define STORE_VALUE_MAX (8u << 20)  /* bytes */
#define STORE_BATCH_MAX (64u << 20) /* bytes of keys and values */

struct store;

/* "memory:", "sqlite:FILE", or Redis: "redis://[[user]:password@]host[:port][/db]", "rediss://…", "unix:PATH", with
 * more behind a '?' (redis/settings.h). INVALID_ARGUMENT for another URL; UNAVAILABLE if the file cannot be opened,
 * locked (another process has it) or read, or if Redis cannot be reached; FAILED_PRECONDITION for a store of a newer
 * form, for data of another program, and for a Redis that does not keep acknowledged writes; UNAUTHENTICATED and
 * PERMISSION_DENIED as Redis says; DATA_LOSS for a damaged store. */
struct store *store_open(const char *url, struct status *st);
/* Whether other processes may have the same store open. Only their writes are visible here. */
bool store_is_shared(const struct store *store);
/* Writes the queued batches and posts the finished operations; the loops may still have callbacks to run. Call it when
 * no loop starts an operation here any more. */
void store_close(struct store **store);

/* Writes the file `copy`: the store as it is at one moment, complete, also while another process has it. Blocks the
 * thread for as long as it takes. A store is opened on a copy as on any other. ALREADY_EXISTS if the file exists;
 * NOT_FOUND, UNAVAILABLE, FAILED_PRECONDITION and DATA_LOSS as above, and for kinds without files. */
bool store_backup(const char *url, const char *copy, struct status *st);

struct store_bytes {
    const void *bytes;
    size_t size;
};

/* ---- writing ----------------------------------------------------------------------------------------------------- */

struct store_operation;

/* Embedded in its owner. Keys and values are copied. */
struct store_batch {
    struct loop *loop;
    void (*committed)(struct store_batch *batch);
    struct status status; /* for `committed`: OK, ABORTED (an expectation did not hold), RESOURCE_EXHAUSTED (no row was
                           * written), UNAVAILABLE (the disk refused, or Redis was silent; it may turn out to be there,
                           * after a crash or at the next scan), DATA_LOSS (acknowledged writes are gone) */

    /* The store's. */
    struct arena arena;
    struct store_operation *first, *last;
    size_t bytes;
    bool forgets;
    struct store *store;
    struct work done;
    struct store_batch *next;
};
void store_batch_init(struct store_batch *batch, struct loop *loop, void (*committed)(struct store_batch *batch));
/* Memory of the owner for the first operations, so that a small batch needs no allocation. Call it before the first
 * put; the memory must live as long as the batch. */
void store_batch_use(struct store_batch *batch, void *storage, size_t size);
/* Call it after `committed`, or for a batch that is not committed after all. */
void store_batch_fini(struct store_batch *batch);

void store_put(struct store_batch *batch, struct store_bytes key, struct store_bytes value);
/* As store_put, but the caller writes the value, `size` bytes, before it commits: a long value is copied once less.
 * NULL: the batch has failed. */
void *store_put_room(struct store_batch *batch, struct store_bytes key, size_t size);
void store_delete(struct store_batch *batch, struct store_bytes key);
/* From `from` on, up to and without `to`; `to` of no bytes: to the end. */
void store_delete_range(struct store_batch *batch, struct store_bytes from, struct store_bytes to);
/* The batch is written only if the key has exactly this value before it; `value.bytes` NULL: if the key is absent.
 */
void store_expect(struct store_batch *batch, struct store_bytes key, struct store_bytes value);
/* About a second after the commit, no file and no log of the store holds data that this batch or an earlier one deleted
 * or overwrote. After a crash, this holds when the store has been open that long again. */
void store_forget(struct store_batch *batch);

#define STORE_QUEUE_BATCHES_MAX 65536          /* waiting to be written; the next is refused with RESOURCE_EXHAUSTED */
#define STORE_QUEUE_BYTES_MAX   (256ull << 20) /* of their keys and values */

/* From inside the batch's loop. `committed` runs once, later, from the loop. If an operation did not fit into the
 * batch, the status there is RESOURCE_EXHAUSTED. Batches of one loop are committed, and their `committed` runs, in
 * their order. */
void store_commit(struct store *store, struct store_batch *batch);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct store_row {
    struct store_bytes key, value;
    bool lost; /* the store has the key, and its value is lost; `value` is then one byte, and no message */
};

/* Embedded in its owner. */
struct store_scan {
    struct loop *loop;
    struct store_bytes from, to; /* up to and without `to` (of no bytes: to the end); copied */
    bool backwards;              /* from the last row down */
    size_t limit;                /* rows; 0: STORE_SCAN_ROWS_MAX */
    size_t bytes_max;            /* of keys and values; 0: STORE_SCAN_BYTES_MAX; the first row always fits */
    void (*done)(struct store_scan *scan);

    /* For `done`, and until store_scan_fini. */
    struct status status;
    struct store_row *rows;
    size_t count;
    bool more; /* a limit ended it; continue behind the last row's key */

    /* The store's. */
    struct arena arena;
    struct store *store;
    size_t bytes;
    struct work ended;
    struct store_scan *next;
};
#define STORE_SCAN_ROWS_MAX  10000
#define STORE_SCAN_BYTES_MAX (64u << 20)
#define STORE_SCANS_MAX      8192 /* waiting to be read; the next is refused with RESOURCE_EXHAUSTED */

void store_scan_init(struct store_scan *scan, struct loop *loop, void (*done)(struct store_scan *scan));
/* From inside the scan's loop. `done` runs once, later, from the loop; there is no way to stop it before. */
void store_scan(struct store *store, struct store_scan *scan);
void store_scan_fini(struct store_scan *scan);

/* ---- figures ----------------------------------------------------------------------------------------------------- */

struct store_stats {
    uint64_t batches, operations, bytes; /* committed */
    uint64_t transactions;               /* that carried them */
    uint64_t aborted;                    /* batches whose expectation did not hold */
    uint64_t failures;                   /* transactions that the disk refused, and batches that Redis did */
    int64_t sync_ns;                     /* of the last transaction, commit included */
    uint64_t losses;                     /* of Redis: how often its connection was lost */
    bool weak;                           /* of Redis: acknowledged before it is on disk, as durability=weak allows */
    unsigned queued;                     /* batches */
};
void store_stats(struct store *store, struct store_stats *stats);

/* For tests that step a loop without a thread: waits until all earlier commits and scans are posted to their loops. Not
 * from inside a loop. */
void store_settle(struct store *store);

#endif
