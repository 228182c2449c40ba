/* A store: an ordered map from keys to values, both bytes, that changes in batches. A batch is whole or not at all, and
 * its owner is told only when it is on disk. Batches of all loops that come while one is being written go into the next
 * transaction together (group commit), in the order in which they came.
 *
 *      store_commit ---> queue ---> the writer's thread: one transaction, one fsync ---> committed, in the batch's loop
 *      store_scan   ---> a reader's thread ------------------------------------------> done, in the scan's loop
 *
 * A scan that is started from a loop after `committed` of a batch sees that batch. Keys compare as memcmp does.
 * Kinds: "memory:" (gone with the process), "sqlite:FILE" (WAL, synchronous=FULL), "redis://HOST:PORT" (appendonly,
 * appendfsync always; of several processes too). Adding one is a file and a row. */
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
 * more behind a '?' (redis_settings.h). INVALID_ARGUMENT for another; UNAVAILABLE where the file cannot be opened,
 * locked (another process has it) or read, or Redis not be reached; FAILED_PRECONDITION for one of a newer form, or of
 * something else, and for a Redis that does not keep what it acknowledges; UNAUTHENTICATED and PERMISSION_DENIED as
 * Redis says; DATA_LOSS for one that is damaged. */
struct store *store_open(const char *url, struct status *st);
/* Whether other processes may have the same one open, of which nothing is seen here but what they write. */
bool store_is_shared(const struct store *store);
/* Writes what is queued and posts what is finished; the loops may still have callbacks to run. When no loop starts
 * anything here any more. */
void store_close(struct store **store);

/* Writes the file `copy`: the store as it is at one moment, complete, also while another process has it. Blocks the
 * thread for as long as it takes. A store is opened on a copy as on any other. ALREADY_EXISTS where there is such a
 * file; NOT_FOUND, UNAVAILABLE, FAILED_PRECONDITION and DATA_LOSS as above, and for kinds without files. */
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
    struct status status; /* for `committed`: OK, ABORTED (an expectation did not hold), RESOURCE_EXHAUSTED (nothing was
                           * written), UNAVAILABLE (the disk refused, or Redis was silent; it may turn out to be there,
                           * after a crash or at the next scan), DATA_LOSS (what was acknowledged before is gone) */

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
/* Memory of the owner's for what is put into it first, so that a small batch needs none of its own. Before anything is
 * put; it has to live as long as the batch. */
void store_batch_use(struct store_batch *batch, void *storage, size_t size);
/* After `committed`, or for one that is not committed after all. */
void store_batch_fini(struct store_batch *batch);

void store_put(struct store_batch *batch, struct store_bytes key, struct store_bytes value);
void store_delete(struct store_batch *batch, struct store_bytes key);
/* From `from` on, up to and without `to`; `to` of no bytes: to the end. */
void store_delete_range(struct store_batch *batch, struct store_bytes from, struct store_bytes to);
/* The batch is only written where, before it, the key has just this value; `value.bytes` NULL: where it is not there.
 */
void store_expect(struct store_batch *batch, struct store_bytes key, struct store_bytes value);
/* What the batch deletes and overwrites, and what earlier batches did, is in none of the store's files a second or so
 * after it is committed, in no log either; at the latest when the store has been open so long again. */
void store_forget(struct store_batch *batch);

#define STORE_QUEUE_BATCHES_MAX 65536          /* waiting to be written; one more is refused with RESOURCE_EXHAUSTED */
#define STORE_QUEUE_BYTES_MAX   (256ull << 20) /* of their keys and values */

/* From inside the batch's loop. `committed` runs once, later, from the loop. What did not fit into the batch shows
 * there as RESOURCE_EXHAUSTED. Batches of one loop are committed, and their `committed` runs, in their order. */
void store_commit(struct store *store, struct store_batch *batch);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct store_row {
    struct store_bytes key, value;
    bool lost; /* the store has the key, and its value is gone; `value` is then one byte, and no message */
};

/* Embedded in its owner. */
struct store_scan {
    struct loop *loop;
    struct store_bytes from, to; /* up to and without `to` (of no bytes: to the end); copied */
    bool backwards;              /* from the last one down */
    size_t limit;                /* rows; 0: STORE_SCAN_ROWS_MAX */
    size_t bytes_max;            /* of keys and values; 0: STORE_SCAN_BYTES_MAX; the first row always fits */
    void (*done)(struct store_scan *scan);

    /* For `done`, and until store_scan_fini. */
    struct status status;
    struct store_row *rows;
    size_t count;
    bool more; /* a limit ended it; the last row's key tells where to go on */

    /* The store's. */
    struct arena arena;
    struct store *store;
    size_t bytes;
    struct work ended;
    struct store_scan *next;
};
#define STORE_SCAN_ROWS_MAX  10000
#define STORE_SCAN_BYTES_MAX (64u << 20)
#define STORE_SCANS_MAX      8192 /* waiting to be read; one more is refused with RESOURCE_EXHAUSTED */

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

/* For tests that step a loop without a thread: waits until what was committed and scanned before is posted to its
 * loop. Not from inside a loop. */
void store_settle(struct store *store);

#endif
