/* Private to the orchestrator: threads in their shard, in memory. `thread_phase` is LOADING until the log is read, then
 * READY; BROKEN when the log cannot be read or written, or another orchestrator has the thread. It is freed when its
 * last hold goes. */
#ifndef RENGA_ORCHESTRATOR_THREAD_H
#define RENGA_ORCHESTRATOR_THREAD_H

#include "cluster/ownership.h"
#include "quarantine/crashes.h"
#include "runtime/runner.h"
#include "state/state.h"

#include "loop/loop.h"

#include "renga/v1/log.pb-c.h"

struct agent;
struct commit;
struct request;
struct frame;
struct shard;
struct live_event;
struct loader;
struct run;
struct subscription;

enum thread_phase { THREAD_LOADING, THREAD_READY, THREAD_BROKEN };

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
    uint64_t committed;    /* number of the last record on disk */
    uint64_t snapshot;     /* number of the record of the last snapshot */
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
};

/* shard_table.c: the threads of a shard by tenant and name, and which of them are idle. */
struct thread *shard_find_thread(struct shard *shard, const char *tenant, const char *id);
void shard_add_thread(struct thread *thread);
void shard_remove_thread(struct thread *thread);
void shard_wake_thread(struct thread *thread); /* it is idle no more */
void shard_idle_thread(struct thread *thread); /* the longest idle thread is freed if there are too many */

/* thread_lifecycle.c: read, with requests served in sequence. */
/* `drawn`: its name has just been drawn out of 2^64, so it is not read, and there is no wait. */
struct thread *thread_get(struct shard *shard, const char *tenant, const char *id, bool drawn);
void thread_read(struct thread *thread);   /* its log, when it is known that it may be read here */
void thread_go(struct work *work);         /* its turn in its loop: `go` */
void thread_serve(struct thread *thread);  /* requests that wait, if it can */
void thread_unhold(struct thread *thread); /* the request that had it for itself is done */
void thread_settle(struct thread *thread); /* idle, or to be unloaded */

/* thread_content.c: its runs and states, the version of its agent, how long it is kept. */
struct thread *thread_new(struct shard *shard, const char *tenant, const char *id); /* in no table */
void thread_free(struct thread *thread);
void thread_drop_content(struct thread *thread);
void thread_set_retention(struct thread *thread, const Renga__V1__Retention *retention);
void thread_take_agent(struct thread *thread, struct agent *agent);
struct agent *thread_agent_for(struct thread *thread, const char *version); /* held; NULL if it is not in memory */
void thread_unqueue(struct thread *thread, struct run *run);

/* broken_thread.c and reload_retry.c: its log cannot be read or written. */
void thread_break(struct thread *thread, const struct status *why);
void thread_unload(struct thread *thread, const struct status *why); /* its requests fail, and it leaves memory */
void thread_reload_later(const struct thread *thread);
void shard_end_reload_retries(struct shard *shard);

/* handoff.c: another orchestrator has it. At once, its requests hear of the address; or requests without an address
 * are asked anew. */
void thread_hand_off(struct thread *thread, struct status *why, const char *address);
/* Whether no waiting request needs it read here: then it has gone. */
bool thread_stays_handed_off(struct thread *thread);
/* Whether the request is served here, as the owner's row is; else it is answered. */
bool thread_serves(struct thread *thread, struct request *request);
void thread_lose(struct thread *thread);

/* replay.c: a thread as it was at a checkpoint. */
/* Once, later: the past thread is the receiver's; NULL, with the reason, if it could not be replayed, or if the thread
 * is not served here any more. */
typedef void thread_replayed(void *owner, struct thread *past, const struct status *st);
void thread_replay(struct thread *thread, uint64_t upto, thread_replayed *done, void *owner);
/* False if its log would become ever longer to read; the request has heard of it. */
bool thread_may_go_back(const struct thread *thread, struct request *request);
/* Takes over the graph of `from` with its activations, and frees it. That thread has no graphs within: its
 * activations begin anew. */
void thread_adopt(struct thread *thread, struct thread *from);
/* The next run begins at the checkpoint from which the last run began, unless its result was changed by hand. */
bool thread_rolls_back(const struct thread *thread);
/* The checkpoint with the thread's state; 0: it has no checkpoint. The head, unless the last run is undone. */
uint64_t thread_state_checkpoint(const struct thread *thread);
void thread_begin_run(struct thread *thread, struct run *run);

#endif
