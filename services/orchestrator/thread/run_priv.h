/* Private to the orchestrator. The memory of threads (thread.h), runs (here) and graphs at work (frame.h, step.h).
 *
 *     shard ---> thread ---> run            the run at work, or the last run; others wait their turn
 *                  |
 *                  '-------> root frame     a graph, its state, and the activations of its nodes
 *                              '-- activation   of a node: pending, at work, finished, failed, waiting
 *                                    |-- attempt     at it, here or in another loop
 *                                    '-- branches    of each and graph: frames within
 *
 * All that lasts changes in apply.c alone, by records: live, a record is applied and appended; when a thread is loaded
 * the same records are applied again. So memory always holds the state that a crash would leave. */
#ifndef RENGA_ORCHESTRATOR_RUN_PRIV_H
#define RENGA_ORCHESTRATOR_RUN_PRIV_H

#include "apply.h"
#include "cluster/ownership.h"
#include "engine/step.h"
#include "frame.h"
#include "journal/journal_writer.h"
#include "journal/load.h"
#include "log/rows.h"
#include "monitor/runner_metrics.h"
#include "nodes/node_kind.h"
#include "quarantine/crashes.h"
#include "runtime/runner.h"
#include "state/state.h"
#include "thread.h"
#include "watch/subscribers.h"

#include "base/trace.h"

#include "renga/v1/log.pb-c.h"

#include <stdatomic.h>

#define FRAME_MEMORY_MAX        ((size_t)1 << 30)   /* bytes of a step: results, inputs of branches */
#define RECORD_MEMORY_MAX       ((size_t)256 << 20) /* bytes, of an unpacked record */
#define RUN_MEMORY_MAX          ((size_t)64 << 20)  /* bytes of a run's request and its failures */
#define FRAME_DEPTH_MAX         16                  /* graphs within each other */
#define EVENT_NUMBER_BITS       20
#define RECORDS_LOST_MAX        (1u << 17) /* more than are ever on their way to the disk for one thread */
#define PENDING_EVENTS_MAX      4096       /* pending events of one record; further events make a separate record */
#define PENDING_EVENT_BYTES_MAX ((size_t)1 << 20)
#define THREADS_IDLE_MAX        1024                /* of a shard, kept in memory without work */
#define IDLE_BYTES_MAX          ((size_t)128 << 20) /* of idle threads, about: a large thread takes the room of many */
#define OUTPUT_ROW_MAX          ((size_t)16 << 10)  /* bytes; a longer output is read from the thread's log */
#define RESUMPTIONS_MAX         100                 /* of a run that are told */
#define TENANT_MAX              128
#define THREAD_MAX              128
#define PATH_MAX_BYTES          1024

struct sweep;

struct runner {
    struct runner_options options;
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
    uint64_t arrivals; /* of requests */
};

void runner_release(struct runner *runner);
struct run *shard_find_run(struct shard *shard, const char *tenant, const char *id);
void shard_add_run(struct shard *shard, struct run *run);
void shard_remove_run(struct shard *shard, struct run *run);

/* ---- runs -------------------------------------------------------------------------------------------------------- */

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

/* run.c: the life of runs. */
/* Goes to work for the first time, at its turn, from the state of `from`, which is then taken over or freed. */
void run_go(struct run *run, struct thread *from);
struct resumption {
    bool recovered;                             /* after a crash; the rest is empty */
    bool timed_out;                             /* by interrupt_timeout */
    const char *client;                         /* that asked for it; NULL: no client */
    const char *node;                           /* the node at which it waited; NULL: it did not wait */
    const Renga__V1__ResumeRunRequest *request; /* without it the budget and the limits stay */
    Renga__V1__HandUpdate *update;              /* the update that came with it, and is in the state; NULL: no update */
};
void run_resume(struct run *run, const struct resumption *resumption);
/* resume_run.c: by its interrupt_timeout. False: the state does not take the update; the run is unchanged. */
bool run_resume_timed_out(struct run *run, struct status *st);
void run_change(struct run *run, Renga__V1__RunState state, Renga__V1__StopReason reason, int code, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
void run_halt(struct run *run);               /* takes all its tasks out of work */
void run_reset_retry_budget(struct run *run); /* model_retries.c: it was resumed by a call */
void run_root_stopped(struct run *run);
void run_alive(struct run *run);
void run_orphan_ended(struct run *run);
Renga__V1__Budget *run_budget_message(const struct run *run, struct arena *arena);
void run_pending_started(struct activation *activation);
void run_pending_progress(struct activation *activation, const Renga__V1__NodeRetried *retried, const char *progress);
void run_pending_result(struct activation *activation, const char *progress); /* when its record is on disk */
void run_token(struct activation *activation, const char *text, const char *channel);
int64_t run_worked_ms(const struct run *run);
bool run_is_at_work(const struct run *run);
bool run_is_open(const struct run *run); /* queued or at work */
void run_next(struct thread *thread);
void run_free(struct run *run);
/* run_limits.c */
int64_t run_timeout_ms(const struct run *run); /* 0: no timeout */
int64_t run_tokens(const struct run *run);
void run_limit_passed(struct timer *timer);
void run_idle_limit_passed(struct timer *timer);
bool run_budget_left(struct run *run); /* else it comes to an end */
/* Whether the node is not to begin: it calls another service that is paid for, the budget is spent, and the document
 * says "then": "fail". `st` says what is spent. */
bool run_budget_refuses(struct run *run, const struct node *node, struct status *st);
#define RUN_BUDGET_SPENT "BUDGET_SPENT" /* the reason of its failure */
const struct graph *run_graph(const struct run *run);
unsigned run_recursion_limit(const struct run *run);

/* run_message.c: messages for callers. */
enum answer_form {
    ANSWER_WHOLE,
    ANSWER_ROW,    /* output up to OUTPUT_ROW_MAX */
    ANSWER_LISTED, /* no output, failures and interrupts */
};
Renga__V1__Run *answer_run(struct arena *arena, const struct run *run, enum answer_form form);
/* The R row leaves RUN_COMPLETED_TEXT out, since the stop reason says as much. As row_read, with that text. */
#define RUN_COMPLETED_TEXT "the graph came to its end"
Renga__V1__RunRow *answer_read_row(struct arena *arena, const struct store_row *row, struct status *st);
void answer_resumptions(struct arena *arena, const struct run *run, Renga__V1__Run *message);
char *checkpoint_text(struct arena *arena, const struct thread *thread, uint64_t number); /* "" for 0 */
Renga__V1__Thread *answer_thread(struct arena *arena, const struct thread *thread);
void *message_copy(struct arena *arena, const ProtobufCMessage *message);
/* Bytes of this process's own; rows of the store go through row_read (log/rows.h). */
void *message_read(struct arena *arena, const ProtobufCMessageDescriptor *type, struct store_bytes bytes,
                   struct status *st);
bool shard_knows_bundle(struct shard *shard, const char *version); /* from now on it does */
void shard_clear_bundles(struct shard *shard);
bool thread_busy(const struct thread *thread);

static inline char *unconst(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}
/* interrupt.c: whether the text is a JSON Schema that answers can be held to. */
bool interrupt_schema_is_good(const char *schema, struct status *st);
/* Whether answers are JSON and fit the schemas of their interrupts. Any thread. A schema that follows an equal schema
 * is not compiled again; a check takes the answer's size times json_schema_factor. */
struct given_answer {
    const char *schema; /* "": any value is an answer */
    const char *answer;
};
bool interrupt_answers_fit(const struct given_answer *given, size_t count, struct status *st);
int64_t wall_ms(void);
void *xnonnull(void *memory); /* memory that must be there: else the process ends */
void text_cut_copy(char *to, size_t room, const char *text);

#endif
