/* Private to run/: threads in their home, in memory. `thread_phase` is LOADING until the log is read, then READY;
 * BROKEN when the log cannot be read or written, or another orchestrator has the thread. It is freed when its last hold
 * goes. */
#ifndef RENGA_ORCHESTRATOR_THREAD_H
#define RENGA_ORCHESTRATOR_THREAD_H

#include "crashes.h"
#include "owner.h"
#include "run/runner.h"
#include "state/state.h"

#include "loop/loop.h"

#include "renga/v1/log.pb-c.h"

struct agent;
struct commit;
struct errand;
struct frame;
struct home;
struct live_event;
struct loader;
struct run;
struct seat;

enum thread_phase { THREAD_LOADING, THREAD_READY, THREAD_BROKEN };

struct memory { /* the state of a sub-graph that remembers */
    char *path;
    struct state *state;
    bool taken; /* by a frame at work */
    struct memory *next;
};

struct thread {
    struct home *home;
    char *tenant, *id;
    uint64_t place;      /* id_of_place */
    struct thread *next; /* in the table */
    struct thread *idle_next, *idle_previous;
    size_t idle_bytes; /* of memory, while it is idle */
    bool idle, listed; /* listed: in the table */
    bool unread;       /* its name was not read: its first batch expects no rows there */
    enum thread_phase phase;
    bool replays;   /* a record is read from the log: its writes were taken when it was made */
    unsigned holds; /* pending loads, watchers, loose tasks: not to be freed */

    struct errand *first_errand, *last_errand; /* that wait for the thread to be loaded or not held */
    bool held;                                 /* an errand has it for itself until its scan is done */
    struct prepared_input *prepared;           /* of the run that is being begun (input.c); or NULL */
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
    struct seat *seats; /* the watchers of its runs */
    struct live_event *live, *last_live;
    size_t live_count, live_bytes;
};

/* table.c: the threads of a home by tenant and name, and which of them are idle. */
struct thread *home_find_thread(struct home *home, const char *tenant, const char *id);
void home_add_thread(struct thread *thread);
void home_remove_thread(struct thread *thread);
void home_wake_thread(struct thread *thread); /* it is idle no more */
void home_idle_thread(struct thread *thread); /* the longest idle thread is freed if there are too many */

/* thread.c: read, with requests served in sequence. */
/* `drawn`: its name has just been drawn out of 2^64, so it is not read, and there is no wait. */
struct thread *thread_get(struct home *home, const char *tenant, const char *id, bool drawn);
void thread_read(struct thread *thread);   /* its log, when it is known that it may be read here */
void thread_go(struct work *work);         /* its turn in its loop: `go` */
void thread_serve(struct thread *thread);  /* errands that wait, if it can */
void thread_unhold(struct thread *thread); /* the errand that had it for itself is done */
void thread_settle(struct thread *thread); /* idle, or to be forgotten */

/* content.c: its runs and states, the version of its agent, how long it is kept. */
struct thread *thread_new(struct home *home, const char *tenant, const char *id); /* in no table */
void thread_free(struct thread *thread);
void thread_drop_content(struct thread *thread);
void thread_keep(struct thread *thread, const Renga__V1__Retention *retention);
void thread_take_agent(struct thread *thread, struct agent *agent);
struct agent *thread_agent_for(struct thread *thread, const char *version); /* held; NULL if it is not in memory */
void thread_unqueue(struct thread *thread, struct run *run);

/* broken.c and revival.c: its log cannot be read or written. */
void thread_break(struct thread *thread, const struct status *why);
void thread_forget(struct thread *thread, const struct status *why); /* its requests fail, and it leaves memory */
void thread_revive_later(const struct thread *thread);
void home_end_revivals(struct home *home);

/* elsewhere.c: another orchestrator has it. At once, its errands hear of the address; or requests without an address
 * are asked anew. */
void thread_go_elsewhere(struct thread *thread, struct status *why, const char *address);
/* Whether no waiting request needs it read here: then it has gone. */
bool thread_stays_elsewhere(struct thread *thread);
/* Whether the errand is served here, as the owner's row stands; else it is answered. */
bool thread_serves(struct thread *thread, struct errand *errand);
void thread_lose(struct thread *thread);

/* rebuild.c: a thread as it stood at a checkpoint. */
/* Once, later: the past thread is the receiver's; NULL, with the reason, if it could not be rebuilt, or if the thread
 * is not served here any more. */
typedef void thread_rebuilt(void *owner, struct thread *past, const struct status *st);
void thread_rebuild(struct thread *thread, uint64_t upto, thread_rebuilt *done, void *owner);
/* False if its log would become ever longer to read; the errand has heard of it. */
bool thread_may_go_back(const struct thread *thread, struct errand *errand);
/* Takes over the graph of `from` with its due nodes, and frees it. That thread has no graphs within: its due nodes are
 * due anew. */
void thread_adopt(struct thread *thread, struct thread *from);
/* The next run begins at the checkpoint from which the last run began, unless its result was changed by hand. */
bool thread_rolls_back(const struct thread *thread);
/* The checkpoint with the thread's state; 0: it has no checkpoint. The head, unless the last run is undone. */
uint64_t thread_stands_at(const struct thread *thread);
void thread_begin_run(struct thread *thread, struct run *run);

#endif
