/* Shared by the files of the store: the kinds, and the two queues between loops and threads. */
#ifndef RENGA_STORE_STORE_PRIV_H
#define RENGA_STORE_STORE_PRIV_H

#include "store/store.h"

#include <pthread.h>

#define STORE_READERS   2                   /* threads; each reads one scan at a time, or some together */
#define STORE_BOUND_MAX (STORE_KEY_MAX + 1) /* bytes; one more than a key: "right after this key" */

enum store_verb { STORE_PUT, STORE_DELETE, STORE_DELETE_RANGE, STORE_EXPECT };

struct store_operation {
    struct store_operation *next;
    enum store_verb verb;
    struct store_bytes key;   /* of a range: from */
    struct store_bytes value; /* of a range: to; of an expectation: NULL if the key must be absent */
};

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

/* A kind of storage for the rows. `write` runs in the writer's thread alone, `scan` in the readers', at the same time.
 */
struct store_kind {
    const char *schemes[4]; /* the schemes of its URLs, the colon included; NULL ends them */
    bool shared;            /* several processes may have it open */

    /* `url` is the whole of it. */
    void *(*open)(const char *url, struct status *st);
    void (*close)(void *engine);

    /* The batches of the list, in its order, on disk when this returns. A batch whose expectation does not hold at its
     * turn gets ABORTED and is left out. False: no batch was written, and all get `st`. True: each batch has its own
     * status, which is OK if it was written. */
    bool (*write)(void *engine, struct store_batch *batches, struct status *st);

    /* In the writer's thread, after the batches of a `write` have been returned: upkeep. True if it must run again soon
     * without a write. May be NULL. */
    bool (*maintain)(void *engine);

    /* As store_backup, in any thread; NULL for a kind without files. */
    bool (*backup)(const char *place, const char *copy, struct status *st);

    /* Fills rows, count, more and status. `reader` is less than STORE_READERS and belongs to the thread. If
     * `scans_together` is not 0, `scan` is the first of a list of at most that many. */
    void (*scan)(void *engine, unsigned reader, struct store_scan *scan);
    unsigned scans_together; /* 0: a single scan */

    /* From any thread: figures that only the kind knows. May be NULL. */
    void (*look)(void *engine, struct store_stats *stats);
};

extern const struct store_kind store_memory, store_sqlite, store_redis;

/* ---- the store --------------------------------------------------------------------------------------------------- */

struct store_reader {
    struct store *store;
    unsigned number;
    pthread_t thread;
};

struct store {
    const struct store_kind *kind;
    void *engine;

    pthread_mutex_t lock; /* guards all members below */
    pthread_cond_t batches_came, scans_came, settled;
    struct store_batch *first_batch, *last_batch;
    struct store_scan *first_scan, *last_scan;
    unsigned batches_queued, scans_queued;
    size_t bytes_queued;
    unsigned under_way; /* batches and scans, queued or in a thread's hands */
    bool closing;
    struct store_stats stats;

    bool failing;   /* the writer's: the last transaction failed */
    bool maintains; /* the writer's: upkeep is left */
    pthread_t writer;
    struct store_reader readers[STORE_READERS];
    unsigned readers_running;
};

void *store_writer_run(void *store);
void *store_reader_run(void *reader);

/* `count` batches or scans have been posted to their loops. */
void store_posted(struct store *store, unsigned count);

/* ---- for kinds --------------------------------------------------------------------------------------------------- */

/* Adds a copy of a row; false if the scan must end: a limit is reached, or memory is exhausted (see its status). */
bool store_scan_add(struct store_scan *scan, struct store_bytes key, struct store_bytes value);
/* The same for a row without its value. */
bool store_scan_add_lost(struct store_scan *scan, struct store_bytes key);

/* As memcmp; if one is a prefix of the other, the shorter comes first. */
int store_bytes_compare(struct store_bytes a, struct store_bytes b);

/* For a batch whose expectation on `key` does not hold. */
void store_batch_abort(struct store_batch *batch, struct store_bytes key);

#endif
