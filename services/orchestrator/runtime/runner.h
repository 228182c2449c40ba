/* The runner: runs graphs over threads, durably. One a process. Each thread has a shard with its own loop, by the hash
 * of its name, and is touched there alone. Requests come from any loop and are answered in the loop they came from.
 *
 *      StartRun, ResumeRun, CancelRun, UpdateState, …  --->  the thread's shard: one after the other
 *                                                                 |
 *      activated nodes  -> tasks (nodes/node_kind.h) -> all ended -> reduce -> ONE record in the thread's log
 *            ^                                                                    |  on disk
 *            '------------------------------------------------- next step <-------+-> events are shown to watchers
 *
 * A thread is an append-only log (log/log.h): input, steps with their changes, results that finished before their
 * siblings, interrupts, answers, changes of a run's state. Its memory is replayed from the last snapshot on. After a
 * crash runs that were queued or at work go on by themselves. */
#ifndef RENGA_ORCHESTRATOR_RUNNER_H
#define RENGA_ORCHESTRATOR_RUNNER_H

#include "graph/agents.h"
#include "monitor/node_log.h"
#include "runtime/access_control.h"
#include "store/store.h"

#include "renga/v1/orchestrator.pb-c.h"

struct fanout;
struct shard;
struct loop;
struct membership;
struct orchestrator;
struct run;
struct subscription;
struct runner;
struct spans;
struct runner_metrics;
struct thread;
struct trace_context;

struct runner_options {
    struct loop *const *loops;
    unsigned loop_count;
    struct store *store;
    struct agents *agents;
    struct orchestrator *orchestrator;     /* handed to tasks; may be NULL */
    struct fanout *fanout;                 /* fanout/fanout.h; NULL: every attempt runs in the loop of its thread */
    struct spans *spans;                   /* of traces; NULL: no spans are recorded */
    enum node_log node_log;                /* node_log.h: which lines of nodes are logged */
    bool trace_content;                    /* spans show inputs, outputs and whole texts of errors */
    struct runner_metrics *runner_metrics; /* runner_metrics.h; may be NULL */
    const char *owner;                     /* this orchestrator's name in runs */
    bool shared;                           /* other orchestrators have the same store */
    const char *address;                   /* address at which those reach this process; NULL or "": they cannot */
    unsigned crashes_max;                  /* owners that may die over a run (crashes.h); 0: as many as will */
    int64_t lease_ms;                      /* how long a member may show no life */
    unsigned snapshot_every;               /* steps; 0: as the size of records and state asks for */

    /* How long threads are kept that have no wishes of their own; 0: for ever. */
    int64_t thread_ttl_ms, history_age_ms;
    int32_t checkpoints_max;
    int64_t sweep_every_ms; /* pause between two sweeps; 0: a single sweep at the start */
};
struct runner *runner_create(const struct runner_options *options, struct status *st);
/* Takes up the runs that were left behind, and begins to sweep. After it, from inside the first loop. */
void runner_recover(struct runner *runner);
/* Lets steps under way commit, and begins new steps only of runs with a waiting caller; `drained` runs once, in the
 * first loop. */
void runner_drain(struct runner *runner, int64_t limit_ms, void (*drained)(void *data), void *data);
void runner_destroy(struct runner **runner);
/* The members that share the store, valid as long as the runner; NULL if the store is not shared. */
struct membership *runner_membership(const struct runner *runner);

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* A request on its way to a shard and back. Embedded in its owner (an API call), alive until `answered`. */
struct request {
    /* Set by the owner. */
    struct loop *loop; /* the loop that it comes from, and that gets the answer */
    const char *tenant;
    struct access_control access;
    const ProtobufCMessage *message;   /* StartRunRequest, …: checked (api/check.h); alive until `answered` */
    int64_t deadline_ns;               /* its caller's, for work in worker threads (loop/jobs.h); 0: no limit */
    const struct trace_context *trace; /* that a run goes on with; may be NULL. Alive until `answered` */
    bool in_call;                      /* for a call that is still under way: it is served though the server drains */
    struct arena *arena;               /* of the owner's call: the answer is allocated there */
    void (*answered)(struct request *request);
    void *owner;
    uint64_t given; /* another orchestrator forwarded it to us, with this `thread_token`; 0: not forwarded. Served only
                       if the thread has not left us since: so a sender that has given us up may serve it instead */
    uint64_t returned; /* the other orchestrator, which had the thread `at_rest` with this token, did not answer; or 0.
                          Served only if the thread has no write since: so it is not done twice */

    /* The answer: `status` OK with `response` (StartRunResponse, …), or why not; `reason` for ErrorInfo or NULL. */
    struct status status;
    const char *reason;
    ProtobufCMessage *response;
    const char *handoff_address; /* UNAVAILABLE without any effect: the orchestrator at this address has the thread; "":
                              its address is unknown; or NULL */
    uint64_t thread_token;       /* then: of its owner's row */
    bool at_rest;                /* then: that orchestrator only has its memory, and no work on it */

    /* The runner's. */
    struct runner *runner;
    const struct request_type *type; /* runtime/request_types.h; NULL: maintenance */
    void (*maintenance)(struct request *request,
                        struct thread *thread);     /* its own work, instead of a request; or NULL */
    void (*before_answer)(struct request *request); /* once its records are on disk; or NULL */
    struct work coming, going, leaving;
    struct shard *shard;
    const char *thread_id, *run_id; /* its subject: exactly 1 of these */
    struct run *waits_on;
    bool repeated, checked, looked_up, leaves, is_back;
    bool drawn;       /* the name of its thread is newly drawn */
    unsigned again;   /* times that its thread was lost */
    uint64_t arrival; /* at its shard, by number */
    struct request *next;
    void *place;
};

/* Serves a request of any type that request_types.c lists. From inside the request's loop; `answered` comes later,
 * once. */
void runner_run(struct runner *runner, struct request *request);
/* The caller has gone: a request that waits for a run to stop is answered with CANCELLED soon. */
void runner_abandon(struct request *request);

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* A watcher of a run. `came` runs in its loop for each event, in their order, and with NULL at the end (`status`).
 * A watcher that does not keep up (`paused`) is caught up from the log. */
struct watcher {
    struct loop *loop;
    const char *tenant;
    struct access_control access;
    const Renga__V1__WatchRunRequest *request;
    bool in_call; /* as the request's; and the run goes on to its end */
    void (*came)(struct watcher *watcher, const Renga__V1__RunEvent *event);
    void *owner;
    struct status status;
    const char *handoff_address; /* as the request's; until runner_unwatch */

    /* The runner's. */
    struct subscription *subscription;
};
void runner_watch(struct runner *runner, struct watcher *watcher);
void runner_watch_pause(struct watcher *watcher);
void runner_watch_resume(struct watcher *watcher);
/* `came` does not run any more; also from within it, and also after the NULL at the end: until then there is a
 * subscription. */
void runner_unwatch(struct watcher *watcher);

#endif
