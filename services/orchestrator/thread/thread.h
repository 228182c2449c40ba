/* Private to the orchestrator: a thread in memory. `thread_phase` is LOADING until the log is read, then READY;
 * BROKEN when the log cannot be read or written, or another orchestrator has the thread. Its shard owns it; it is freed
 * when its last hold goes. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_THREAD_H
#define RENGA_ORCHESTRATOR_THREAD_H

#include "crash_state.h"
#include "live_event.h"
#include "ownership_state.h"
#include "thread_phase.h"

#include "loop/loop.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct commit;
struct frame;
struct loader;
struct prepared_input;
struct request;
struct run;
struct shard;
struct state;
struct subscription;

struct memory { /* the state of a sub-graph that remembers */
    char *path;
    struct state *state;
    bool taken; /* by a frame at work */
    struct memory *next;
};

struct thread {
    struct shard *shard;
    char *tenant, *id;
    uint64_t place;      /* id_of_place */
    struct thread *next; /* in the table */
    struct thread *idle_next, *idle_previous;
    size_t idle_bytes; /* of memory, while it is idle */
    bool idle, listed; /* listed: in the table */
    bool unread;       /* its name was not read: its first batch expects no rows there */
    enum thread_phase phase;
    bool replays;   /* a record is read from the log: its writes were taken when it was made */
    unsigned holds; /* pending loads, watchers, orphaned tasks: not to be freed */

    struct request *first_request, *last_request; /* that wait for the thread to be loaded or not held */
    bool held;                                    /* a request has it for itself until its scan is done */
    struct prepared_input *prepared;              /* of the run that is being begun (run_input.c); or NULL */
    struct work go;
    bool flush_waits; /* its batch was left for the next visit of the loop, since this one was long */

    /* The lasting part. */
    bool exists;
    struct agent *agent; /* held: the version that the state fits; NULL before the first run */
    uint64_t last, head; /* numbers of the last record and of the last checkpoint */
    int64_t created_ms, updated_ms;
    Renga__V1__Retention *retention;
    uint32_t runs_begun;
    struct run *run, *queue; /* the last that was at work; those that wait their turn */
    struct frame *root;
    struct memory *memories;

    /* The writer. */
    struct commit *filling, *flying;
    uint64_t committed; /* number of the last record on disk */
    uint64_t snapshot;  /* number of the record of the last snapshot */
    /* The last record about a run that is no longer in memory, and when it was on disk, by the shard's arrivals. */
    uint64_t gone_record, gone_committed;
    size_t since_snapshot; /* bytes of records since */
    size_t read_since;     /* of these, the bytes read when it was loaded */
    size_t snapshot_size;
    unsigned steps_since;
    unsigned ways_back; /* logs that are read for parents (`goes_back`) whenever it is: as many as for each of these */
    bool deleted, unreadable; /* unreadable: it has no content, and can only be deleted */
    uint32_t event_number;    /* of the next event since the last record */
    bool pending;             /* its row of pending events is there */
    struct loader *loader;
    struct ownership own;
    struct crashes crashes;
    struct subscription *subscriptions; /* the watchers of its runs */
    struct live_event *live, *last_live;
    size_t live_count, live_bytes;
    struct live_pass live_pass;
};

/* thread_content.c: its runs and states, the version of its agent, how long it is kept. */
struct thread *thread_new(struct shard *shard, const char *tenant, const char *id); /* in no table */
void thread_free(struct thread *thread);
void thread_drop_content(struct thread *thread);
void thread_set_retention(struct thread *thread, const Renga__V1__Retention *retention);
void thread_take_agent(struct thread *thread, struct agent *agent);
struct agent *thread_agent_for(struct thread *thread, const char *version); /* held; NULL if it is not in memory */
void thread_unqueue(struct thread *thread, struct run *run);
struct run *thread_find_run(const struct thread *thread, const char *run_id); /* NULL: not in memory */
bool thread_busy(const struct thread *thread);                                /* a run is at work, or waits its turn */
/* Takes over the graph of `from` with its activations, and frees it. That thread has no graphs within: its
 * activations begin anew. */
void thread_adopt(struct thread *thread, struct thread *from);
/* The next run begins at the checkpoint from which the last run began, unless its result was changed by hand. */
bool thread_rolls_back(const struct thread *thread);
/* The checkpoint with the thread's state; 0: it has no checkpoint. The head, unless the last run is undone. */
uint64_t thread_state_checkpoint(const struct thread *thread);
void thread_settle(struct thread *thread); /* idle, or to be unloaded */

#endif
