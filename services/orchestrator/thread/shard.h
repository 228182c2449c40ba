/* Private to the orchestrator: the runner and its shards. A shard has the threads that its loop works on, their runs
 * by id, and the threads that are idle. All of a shard belongs to its loop. Of the runner, other loops read the options
 * and the atomic fields. */
#ifndef RENGA_ORCHESTRATOR_SHARD_H
#define RENGA_ORCHESTRATOR_SHARD_H

#include "log/ids.h"
#include "runner_options.h"

#include "base/turns.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bundle_note;
struct commit;
struct loop;
struct membership;
struct quarantine;
struct recovery;
struct reload_retry;
struct run;
struct shard;
struct store_scan;
struct sweep;
struct thread;
struct thread_hooks;

#define THREADS_IDLE_MAX 1024                /* of a shard, kept in memory without work */
#define IDLE_BYTES_MAX   ((size_t)128 << 20) /* of idle threads, about: a large thread takes the room of many */

/* That tenants have of a shard at a time, by turns: each list takes megabytes, a run may have an output of megabytes,
 * and a page of events a record of megabytes with its events. */
#define LISTS_MAX  4
#define ROWS_MAX   32
#define EVENTS_MAX 8

struct runner {
    struct runner_options options;
    const struct thread_hooks *hooks; /* runtime/runner.c has the table */
    struct shard *shards;
    unsigned shard_count;
    atomic_bool draining, closing; /* asked by every loop; closing: the last part of a drain */
    void (*drained)(void *data);
    void *drained_data;
    struct sweep *sweep;              /* NULL before it serves */
    struct sweep *interrupt_timeouts; /* likewise */
    struct membership *membership;    /* NULL: the store is not shared */
    char session[ID_MAX];             /* then: the name of this life */
    struct quarantine *quarantine;
    struct recovery *recovery;
    const char *self; /* the name under which a thread is listed as pending: of the member, or of this life */
    void (*unheld)(struct runner *runner); /* the last hold is gone: frees the runner */
    atomic_uint holders; /* it lives as long as its threads, which still get the results of store operations */
};

struct shard {
    struct runner *runner;
    struct loop *loop;
    struct thread **table; /* by place */
    size_t room, count;
    struct thread *idle_first, *idle_last; /* the longest idle first */
    size_t idle_count, idle_bytes;
    struct run **runs; /* those of its threads, by id */
    size_t run_room, run_count;
    struct bundle_note *bundles;         /* versions whose documents are in the store */
    struct reload_retry *reload_retries; /* of threads whose log could not be written */
    struct commit *spare_commits;
    unsigned spare_count;
    uint64_t arrivals;            /* of requests; and other moments that are compared with them */
    struct turn_gate list_turns;  /* of lists that are made in its loop: history/lists.c */
    struct turn_gate row_turns;   /* of reads of runs: lifecycle/request_serve.c */
    struct turn_gate event_turns; /* of reads of events for subscriptions: watch/subscribers.c */
};

/* shard_table.c: the threads by tenant and name, and which of them are idle. */
struct thread *shard_find_thread(struct shard *shard, const char *tenant, const char *id);
void shard_add_thread(struct thread *thread);
void shard_remove_thread(struct thread *thread);
void shard_wake_thread(struct thread *thread); /* it is idle no more */
void shard_idle_thread(struct thread *thread); /* the longest idle thread is freed if there are too many */

/* shard.c: its runs by id, and the versions of agents whose documents are in the store. */
/* Skips a broken thread that waits for its last holder: it serves no requests any more. */
struct run *shard_find_run(struct shard *shard, const char *tenant, const char *id);
void shard_add_run(struct shard *shard, struct run *run);
void shard_remove_run(struct shard *shard, struct run *run);
bool shard_knows_bundle(struct shard *shard, const char *version); /* from now on it does */
void shard_clear_bundles(struct shard *shard);
void runner_release(struct runner *runner); /* one hold less */
/* The cost of its turn: what a scan has read. */
size_t read_cost(const struct store_scan *scan);
struct shard *shard_of_place(struct runner *runner, uint64_t place);

#endif
