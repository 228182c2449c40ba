/* Private to the orchestrator: a request on its way to the shard of its thread and back. A single function at a time
 * owns it, and answers it exactly once, from inside the loop of the shard. `answered` runs in the loop from which the
 * request came. */
#ifndef RENGA_ORCHESTRATOR_REQUEST_H
#define RENGA_ORCHESTRATOR_REQUEST_H

#include "access_control.h"

#include "base/status.h"
#include "loop/loop.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct job;
struct loop;
struct request_type;
struct rpc_call;
struct run;
struct runner;
struct shard;
struct thread;
struct trace_context;

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
    struct rpc_call *call;             /* that call, for rpc_call_hold; or NULL */
    void (*answered)(struct request *request);
    void *owner;
    struct status unfit_if_new; /* why StartRun is refused unless it is a repetition; OK: it is not */
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
    const struct request_type *type; /* NULL: maintenance */
    void (*maintenance)(struct request *request,
                        struct thread *thread);     /* its own work, instead of a request; or NULL */
    bool erases;                                    /* this maintenance erases its thread, as DeleteThread does */
    void (*before_answer)(struct request *request); /* once its records are on disk; or NULL */
    struct work coming, going, leaving;
    struct shard *shard;
    const char *thread_id, *run_id; /* its subject: exactly 1 of these */
    struct run *waits_on;
    bool repeated, checked, looked_up, leaves, is_back;
    bool replaces;      /* the run that it starts takes the place of one that its caller has left */
    bool drawn;         /* the name of its thread is newly drawn */
    unsigned again;     /* times that its thread was lost */
    uint64_t arrival;   /* at its shard, by number */
    uint64_t row_asked; /* when its run's row was asked for, by the shard's arrivals */
    struct request *next;
    void *place;
};

void request_answer(struct request *request);
void request_fail(struct request *request, const struct status *st, const char *reason);
bool request_refuse(struct request *request, const char *reason, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool request_erases_thread(const struct request *request);
/* Takes the memory of an answer of `size` bytes before it is made. False: there is no room, which `st` says. */
bool request_hold(struct request *request, size_t size, struct status *st);
/* Its answer, not sent yet: a message with this run, or with the run as it is; without its output if there is no room
 * for it. */
void request_complete_with(struct request *request, Renga__V1__Run *run);
void request_complete(struct request *request, const struct run *run);
/* A job of this caller's, which ends in the loop of the thread. */
struct job request_job(const struct request *request, const struct thread *thread, void (*run)(struct job *job),
                       void (*ended)(struct job *job));

#endif
