/* Private to the orchestrator: a thread from its log, up to a record (0: all). In its owner, which is told once, later.
 */
#ifndef RENGA_ORCHESTRATOR_LOAD_H
#define RENGA_ORCHESTRATOR_LOAD_H

#include "thread/apply.h"

#include "base/arena.h"
#include "base/status.h"
#include "loop/jobs.h"
#include "store/store.h"

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct state;
struct thread;

struct loader {
    struct thread *thread;
    uint64_t upto;
    void (*loaded)(struct loader *loader);
    void *owner;
    struct status status; /* OK, also if the store has no rows: then the thread does not exist */

    /* Private. */
    struct store_scan scan, bundle;
    struct arena arena;
    uint64_t from;
    size_t row, wanted;
    uint64_t parent_read_for; /* the record whose parent's state the thread has */
    const Renga__V1__ThreadSnapshot *snapshot;
    char missing[72]; /* the version that was asked for last */
    struct agent *held[8];
    size_t held_count;

    /* The row at hand; a worker thread reads a long one, and makes the fields that it writes. */
    struct job job;
    void (*worked)(struct loader *loader);
    struct arena row_arena;
    Renga__V1__LogRecord *record;
    bool has_row, has_prepared;
    struct prepared_input prepared;
    const char *input;    /* of `prepared`; NULL: of a change by hand */
    struct state *state;  /* of the snapshot; NULL: the loop reads it */
    struct agent *reader; /* of `prepared` and `state`, while a worker uses its graphs */
    bool has_state;       /* a worker has tried */
};
void loader_start(struct loader *loader);
void load_end(struct loader *loader);

/* load_job.c. Runs `run` in a worker thread, then `worked` in the loop; it may be over when this returns. */
#define LOAD_INLINE_MAX ((size_t)32 << 10) /* bytes that the loop reads itself, in less than 2 ms */
void load_work(struct loader *loader, void (*run)(struct job *job), void (*worked)(struct loader *loader));
void load_read_record(struct job *job);
void load_read_snapshot(struct job *job);
void load_read_state(struct job *job);
void load_prepare(struct job *job);
bool load_wants_prepared(struct loader *loader, const Renga__V1__LogRecord *record, uint64_t number);
bool load_wants_state(struct loader *loader);
void load_drop_row(struct loader *loader);
void load_drop_reader(struct loader *loader);

#endif
