/* Private to the orchestrator: a run in memory. Its lasting part changes in apply.c and apply_run.c alone; the rest
 * belongs to the engine. Its thread owns it. From inside the loop of its shard. */
#ifndef RENGA_ORCHESTRATOR_RUN_H
#define RENGA_ORCHESTRATOR_RUN_H

#include "log/ids.h"
#include "run_state.h"

#include "base/arena.h"
#include "base/status.h"
#include "base/trace.h"
#include "loop/loop.h"

#include "renga/v1/budget.pb-c.h"
#include "renga/v1/citation.pb-c.h"
#include "renga/v1/log.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct activation;
struct agent;
struct frame;
struct graph;
struct request;
struct span;
struct thread;

#define RUN_MEMORY_MAX  ((size_t)64 << 20) /* bytes of a run's request and its failures */
#define RESUMPTIONS_MAX 100                /* of a run that are told */

struct failed_node { /* for Run.failures */
    Renga__V1__NodeFailure message;
    struct failed_node *next;
};

struct run {
    struct thread *thread;
    struct run *next; /* in the queue */
    struct run *shard_next;
    bool in_shard;
    bool unlisted; /* its rows go with the batch that is filling */
    bool unlogged; /* its acceptance goes with the record with which it goes to work */
    uint32_t number;
    struct arena arena;
    char id[ID_MAX];
    Renga__V1__RunBegun *begun;
    const Renga__V1__StartRunRequest *request;
    struct agent *agent; /* held: its version; NULL if it is missing */
    Renga__V1__ResumeRunRequest *resumed;

    /* The lasting part. */
    Renga__V1__RunState state;
    Renga__V1__StopReason reason;
    const char *text;
    int status_code;
    const char *cause; /* of its failure, as a constant of the document; "": no cause */
    bool undone;       /* its changes do not count: the next run begins from the same checkpoint */
    Renga__V1__NodeFailure **failures;
    size_t failure_count;
    Renga__V1__Usage usage;
    Renga__V1__Degradation *degradations[100];
    size_t degradation_count;
    Renga__V1__RunResumption *resumptions[RESUMPTIONS_MAX]; /* the newest, in their order */
    size_t resumption_count;
    uint64_t *answered; /* interrupts that have their answer, even if their node has gone: hashes of their ids; in the
                           arena */
    size_t answered_count, answered_room;
    int64_t step, steps_before;
    uint64_t gathers_from; /* with durability EXIT: its steps gather once this record is on disk; 0: not yet */
    uint64_t checkpoint;   /* number of the record with its newest checkpoint; 0: no checkpoint */
    uint64_t began_on;
    uint64_t first_record;
    uint64_t active_period;     /* number of the record with which its present or last period of work began */
    int64_t active_period_ms;   /* and its time */
    uint64_t activated_by_hand; /* number of the record of the last change by hand that activated nodes; 0: no change */
    int64_t last_event;
    int64_t created_ms, started_ms, updated_ms, ended_ms;
    int64_t worked_ms; /* before the present active period */
    bool migrated;
    char listed_version[ID_VERSION_MAX]; /* under which the store lists it; empty: it does not */
    bool listed_before;                  /* perhaps by a release that had the version in the key */
    const char *owner;

    /* At work. */
    struct trace_context asked, trace; /* of the call that started or resumed it; its own */
    struct span *span;
    int64_t active_period_ns;   /* when the present active period of work began; 0: not at work */
    unsigned working, orphaned; /* tasks that count; tasks that do not any more, but have not ended */
    unsigned working_max;
    unsigned failed_requests, held_requests, granted_retries, answers; /* of models, as model_retries.c counts them */
    bool pumping;
    bool taken_up; /* the present period of work began in another process */
    struct activation *ready_first, *ready_last;
    struct activation *openers_first, *openers_last;
    struct frame *dirty, *to_begin, *last_to_begin;
    struct timer limit, idle_limit;
    int64_t idle_ms;
    Renga__V1__StopReason stopping; /* no more tasks are begun; why */
    int stopping_code;
    char stopping_text[STATUS_TEXT_MAX];
    Renga__V1__StopReason refused; /* nodes failed since the budget is spent, and the graph went on; why */
    char refused_text[STATUS_TEXT_MAX];
    struct arena pending_event_arena;
    _Alignas(16) char pending_event_storage[512];
    Renga__V1__ShownEvent **pending_events;
    int64_t *pending_event_ms;
    size_t pending_event_count, pending_event_capacity, pending_event_bytes;
    Renga__V1__NodeFailure **new_failures; /* for the next change */
    size_t new_failure_count;
    Renga__V1__Interrupt **pauses;
    size_t pause_count;
    struct request *waiters;       /* until it has stopped */
    struct request *quiet_waiters; /* until it has stopped and all tasks have ended */
};

/* run.c */
void run_leave_frames(struct run *run); /* the next run uses the same frames: no frame waits for this run any more */
void run_free(struct run *run);         /* no request waits for it */

/* run_limits.c */
bool run_is_at_work(const struct run *run);
bool run_is_open(const struct run *run); /* queued or at work */
const struct graph *run_graph(const struct run *run);
unsigned run_recursion_limit(const struct run *run);
int64_t run_timeout_ms(const struct run *run); /* 0: no timeout */
int64_t run_worked_ms(const struct run *run);
int64_t run_tokens(const struct run *run);
Renga__V1__Budget *run_budget_message(const struct run *run, struct arena *arena);
/* The part of the run's budget that is spent, with a text; UNSPECIFIED: a part of everything is left. */
Renga__V1__StopReason run_budget_spent(const struct run *run, char *text, size_t size);
int64_t run_pause_expires_ms(const struct run *run, int64_t asked_ms); /* 0: a pause has no limit */

/* Whether another attempt of the run is at work, or may begin, beside a running attempt. */
static inline bool run_is_parallel(const struct run *run)
{
    return run->working > 1 || run->ready_first || run->openers_first;
}

#endif
