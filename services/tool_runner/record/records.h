/* The store of the record: opened when it is first needed, and kept within its bounds of time and size. */
#ifndef RENGA_TOOL_RUNNER_RECORDS_H
#define RENGA_TOOL_RUNNER_RECORDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct records;
struct store;
struct store_stats;

struct records_options {
    const char *url;    /* store.h; borrowed */
    int64_t keep_ms;    /* how long a record is kept */
    uint64_t bytes_max; /* of results; past it the oldest go first */
};

struct records *records_create(const struct records_options *options);
/* From outside of all loops, which still run, after records_leave: waits for transactions under way. */
void records_destroy(struct records **records);

/* The store, from inside any loop. The first loop to call opens it and looks after it from then on. */
struct store *records_open(struct records *records, struct loop *loop, struct status *st);

/* From inside any loop, at start: opens the store of a process that was killed: deleted text may still be in its log,
 * or in a Redis's. */
void records_resume(struct records *records, struct loop *loop);

/* From inside the loop, before it ends: the loop sweeps no more. */
void records_leave(struct records *records, struct loop *loop);

int64_t records_keep_ms(const struct records *records);

/* False if it was never opened. `bytes` as the last sweep found it. */
bool records_stats(struct records *records, struct store_stats *stats, uint64_t *bytes);

#endif
