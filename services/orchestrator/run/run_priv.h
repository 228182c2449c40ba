/* Private to run/. What stands in memory of threads, runs and graphs at work.
 *
 *      home ---> thread ---> run            the run at work, or the last one; others wait their turn
 *                  |
 *                  '-------> root frame     a graph, its state, and the nodes that are due
 *                              '-- due      a node that is due: pending, at work, finished, failed, waiting
 *                                    |-- attempt     at it, here or in another loop
 *                                    '-- branches    of each and graph: frames within
 *
 * All that lasts changes in fold.c alone, by records: live, a record is folded and appended; when a thread is loaded
 * the same records are folded again. So what is in memory is always what a crash would leave. */
#ifndef RENGA_ORCHESTRATOR_RUN_PRIV_H
#define RENGA_ORCHESTRATOR_RUN_PRIV_H

#include "audience.h"
#include "commit.h"
#include "frame.h"
#include "load.h"
#include "log/ids.h"
#include "log/keys.h"
#include "nodes/node_kind.h"
#include "owner.h"
#include "run/runner.h"
#include "run/tally.h"
#include "state/state.h"

#include "base/trace.h"

#include "renga/v1/log.pb-c.h"

#include <stdatomic.h>

#define FRAME_MEMORY_MAX  ((size_t)1 << 30)   /* bytes of a step: results, inputs of branches */
#define RECORD_MEMORY_MAX ((size_t)256 << 20) /* bytes, of one that is unpacked */
#define RUN_MEMORY_MAX    ((size_t)64 << 20)  /* bytes of a run's request and its failures */
#define FRAME_DEPTH_MAX   16                  /* graphs within each other */
#define EVENT_NUMBER_BITS 20
#define RECORDS_LOST_MAX  (1u << 17) /* more than are ever on their way to the disk for one thread */
#define EVENTS_SHOWN_MAX  4096       /* provisional events kept for one record; more make a record of their own */
#define SHOWN_BYTES_MAX   ((size_t)1 << 20)
#define THREADS_IDLE_MAX  1024               /* of a home, kept in memory although nothing happens there */
#define OUTPUT_ROW_MAX    ((size_t)16 << 10) /* bytes; a longer output is read from the thread's log */
#define TENANT_MAX        128
#define THREAD_MAX        128
#define PATH_MAX_BYTES    1024

struct home;
struct sweep;
struct thread;
struct run;
struct frame;
struct due;
struct commit;
struct audience;

struct runner {
    struct runner_options options;
    struct home *homes;
    unsigned home_count;
    atomic_bool draining, closing; /* asked by every loop; closing: the last part of a drain */
    void (*drained)(void *data);
    void *drained_data;
    struct sweep *sweep;     /* NULL before it serves */
    struct members *members; /* NULL: nobody shares the store */
    struct recovery *recovery;
    atomic_uint holders; /* it lives as long as its threads: what is under way in the store still comes to them */
};

struct home {
    struct runner *runner;
    struct loop *loop;
    struct thread **table; /* by place */
    size_t room, count;
    struct thread *idle_first, *idle_last; /* the longest idle first */
    size_t idle_count;
    struct run **runs; /* those of its threads, by id */
    size_t run_room, run_count;
    struct bundle_note *bundles; /* versions whose documents are in the store */
    struct revival *revivals;    /* of threads whose log could not be written */
    struct commit *spare_commits;
    unsigned spare_count;
    uint64_t arrivals; /* of errands */
};

void runner_release(struct runner *runner);
struct run *home_find_run(struct home *home, const char *tenant, const char *id);
void home_add_run(struct home *home, struct run *run);
void home_remove_run(struct home *home, struct run *run);

/* ---- threads ----------------------------------------------------------------------------------------------------- */

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
    bool idle, listed; /* listed: in the table */
    bool unread;       /* nothing was looked for under its name: its first batch expects that nothing is there */
    enum thread_phase phase;
    unsigned holds; /* pending loads, watchers, loose tasks: not to be freed */

    struct errand *first_errand, *last_errand; /* that wait for the thread to be loaded or not held */
    bool held;                                 /* an errand has it for itself until its scan is done */
    struct work go;

    /* What lasts. */
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
    size_t read_since;     /* of these, what was read when it was loaded */
    size_t snapshot_size;
    unsigned steps_since;
    unsigned ways_back; /* logs that are read for parents (`goes_back`) whenever it is: as many as for each of these */
    bool deleted;
    uint32_t event_number; /* of the next event since the last record */
    bool pending;          /* its row of what is pending is there */
    struct loader *loader;
    struct ownership own;
    struct seat *seats; /* who watches its runs */
    struct live_event *live, *last_live;
    size_t live_count, live_bytes;
};

/* ---- runs -------------------------------------------------------------------------------------------------------- */

struct failed_node { /* for Run.failures */
    Renga__V1__NodeFailure message;
    struct failed_node *next;
};

struct run {
    struct thread *thread;
    struct run *next; /* in the queue */
    struct run *home_next;
    bool in_home;
    bool unlisted; /* its rows go with the batch that is filling */
    bool unlogged; /* its acceptance goes with the record with which it goes to work */
    uint32_t number;
    struct arena arena;
    char id[ID_MAX];
    Renga__V1__RunBegun *begun;
    const Renga__V1__StartRunRequest *request;
    struct agent *agent; /* held: its version; NULL where it is missing */
    Renga__V1__ResumeRunRequest *resumed;

    /* What lasts. */
    Renga__V1__RunState state;
    Renga__V1__StopReason reason;
    const char *text;
    int status_code;
    Renga__V1__NodeFailure **failures;
    size_t failure_count;
    Renga__V1__Usage usage;
    Renga__V1__Degradation *degradations[100];
    size_t degradation_count;
    int64_t step, steps_before;
    uint64_t checkpoint; /* number of the record with its newest checkpoint; 0: none */
    uint64_t began_on;
    uint64_t first_record;
    int64_t last_event;
    int64_t created_ms, started_ms, updated_ms, ended_ms;
    int64_t worked_ms; /* before the present spell */
    bool migrated;
    char listed_version[ID_VERSION_MAX]; /* under which the store lists it; empty: it does not */
    bool listed_before;                  /* perhaps by a release that had the version in the key */
    const char *owner;

    /* At work. */
    struct trace_context asked, trace; /* of whoever started or resumed it; its own */
    struct span *span;
    int64_t spell_ns;        /* when the present spell of work began; 0: not at work */
    unsigned working, loose; /* tasks that count; tasks that do not any more, but have not ended */
    unsigned working_max;
    bool pumping;
    struct due *ready_first, *ready_last;
    struct due *openers_first, *openers_last;
    struct frame *dirty, *to_begin, *last_to_begin;
    struct timer limit, idle_limit;
    int64_t idle_ms;
    Renga__V1__StopReason stopping; /* no more tasks are begun; why */
    int stopping_code;
    char stopping_text[STATUS_TEXT_MAX];
    struct arena shown_arena;
    _Alignas(16) char shown_storage[512];
    Renga__V1__ShownEvent **shown;
    int64_t *shown_ms;
    size_t shown_count, shown_room, shown_bytes;
    Renga__V1__NodeFailure **new_failures; /* for the next change */
    size_t new_failure_count;
    Renga__V1__Interrupt **standing;
    size_t standing_count;
    struct errand *waiters;       /* until it has stopped */
    struct errand *quiet_waiters; /* until it has stopped and all tasks have ended */
};

/* fold.c: what records do to what lasts. Live and when a thread is loaded. */
/* The same without what counts records; `record->run` is set. */
bool fold_parts(struct thread *thread, const Record *record, uint64_t number, struct status *st);
bool fold_record(struct thread *thread, const Record *record, uint64_t number, struct status *st);
bool fold_step(struct frame *frame, struct due *only, struct status *st);
bool due_read_write(struct due *due, struct status *st);
struct question *question_find(struct thread *thread, const char *id);
void fold_resumed(struct frame *frame, bool recovered);
void fold_changed_fields(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms);
void fold_changed(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms);
/* Where `from` stands: its thread, or that as it stood at a checkpoint, which is then taken over. False: it does not
 * go there, and nothing has changed of either. */
bool fold_went_to_work(struct run *run, struct thread *from, bool keeps_due, uint64_t number, int64_t now_ms,
                       struct status *st);
struct run *fold_begun(struct thread *thread, const Renga__V1__RunBegun *begun, uint32_t number, uint64_t record,
                       int64_t now_ms);
bool run_input_fits(const struct graph *graph, const char *input_json, struct status *st);
void fold_spent(struct run *run, const Response *response);
bool fold_answer(struct thread *thread, const char *interrupt_id, const char *answer);
/* So too. */
bool fold_update(struct thread *thread, struct thread *from, const Renga__V1__HandUpdate *update, uint64_t number,
                 int64_t now_ms, struct status *st);

/* frame.c */
struct frame *frame_create(struct thread *thread, const struct graph *graph, struct due *parent, uint32_t item);
void frame_destroy(struct frame **frame);
void frame_clear_due(struct frame *frame);
struct due *frame_add_due(struct frame *frame, const struct node *node);
void frame_start(struct frame *frame);    /* its first nodes are due */
void frame_due_anew(struct frame *frame); /* as in a checkpoint: nothing that is due has begun. May be NULL */
void frame_logged(struct frame *frame);   /* a record is about it, and so about those around it */
/* The numbers of its due nodes, runs of one number once; to be freed. */
uint32_t *frame_due_nodes(const struct frame *frame, size_t *count);
void due_close(struct due *due); /* lets go of its branches */
struct run *frame_run(const struct frame *frame);
/* The path of a frame within its root, as NodePosition.path. */
void frame_path(const struct frame *frame, struct buffer *out);
size_t frame_place(const struct frame *frame, uint32_t *place); /* at most 3 × FRAME_DEPTH_MAX numbers */
struct frame *frame_at(struct thread *thread, const uint32_t *place, size_t count, struct status *st);
uint64_t frame_seed(const struct frame *frame); /* of its place in the run: as events have it */
uint64_t frame_visit_seed(const struct frame *frame);
uint64_t due_seed(const struct due *due); /* of keys, and of ids of what it writes: no other in the run has it */

/* route.c: what is due next. */
void route_outcome(struct frame *frame, const struct due *due);
void route_edge(struct frame *frame, const struct node *from, const struct edge *edge);
void route_deferred(struct frame *frame);
void route_to(struct frame *frame, const struct node *node);

/* branches.c: each and graph. */
bool node_holds_graph(const struct node *node);
const struct graph *branch_graph(const struct node *node);
bool branches_prepare(struct due *due, struct status *st);
/* Of a node that has just become due where the state goes on meanwhile; what fails here fails again when it begins. */
void branches_prepare_early(struct due *due);
bool branches_logged(const struct due *due); /* a record is about one of them */
/* Behind an earlier firing of the same node, until that has left: records know a graph by the way to it alone. */
bool branches_wait(const struct due *due);
/* What the log knows nothing of is given anew when it begins: the state that it is given of has changed. */
void branches_forget(struct frame *frame);
/* Whether the graph takes what the branch is given; `whole`: with what it gets beside its item. */
bool branch_fits(const struct due *due, size_t item, bool whole, struct status *st);
struct frame *branch_open(struct due *due, size_t item, struct status *st);
void branch_ended(struct frame *frame);
/* All branches have ended: what they write. */
bool branches_gather(struct due *due, struct status *st);

/* step.c: what is done next. */
/* record.c */
void record_kept(struct frame *frame);
void record_opened(struct frame *frame);
void record_step(struct frame *frame, struct due *only);

void frame_begin(struct frame *frame);
void frame_await(struct frame *frame);
void frame_enqueue(struct frame *frame);
void frame_touch(struct frame *frame); /* look at it again soon */
void run_pump(struct run *run);
void run_purge(struct run *run); /* what was taken out of work leaves its queues */
void due_finished(struct due *due);
void due_stop(struct due *due); /* takes it out of work, back to pending */
void frame_stop(struct frame *frame);
bool frame_must_stand(const struct frame *frame); /* before or after a node, until it is resumed */
void frame_stopped(struct frame *frame);          /* nothing is at work in it, and it is not at its end */
void frame_drain(struct frame *frame);
void branches_look(struct due *due);
void due_again(struct due *due);       /* after its rest */
bool due_ended(const struct due *due); /* it has finished, or its failure leads on to the error node */
void thread_tidy(struct thread *thread);
void thread_begin_steps(struct thread *thread);

/* response.c */
bool response_check(const struct due *due, const Response *response, struct status *st);
/* One value of at most so many bytes; `first`: the character it begins with, or NUL. */
bool response_check_json(const char *what, const char *text, size_t most, char first, struct status *st);

/* node_request.c: what an attempt is told; in the arena, and partly the run's own. */
const Renga__V1__RunNodeRequest *due_request(const struct due *due, int64_t deadline_ns, struct arena *arena);

/* attempt.c */
void task_begin(struct due *due);
void task_drop(struct due *due); /* nothing of it counts any more */

/* run.c: the life of runs. */
/* Goes to work: the first time, after its turn came; where `from` stands, which is then taken over or freed. */
void run_go(struct run *run, struct thread *from);
void run_resume(struct run *run, bool recovered, const Renga__V1__ResumeRunRequest *request);
void run_change(struct run *run, Renga__V1__RunState state, Renga__V1__StopReason reason, int code, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
void run_halt(struct run *run); /* takes all its tasks out of work */
void run_root_stopped(struct run *run);
void run_alive(struct run *run);
void run_loose_ended(struct run *run);
Renga__V1__Budget *run_budget_message(const struct run *run, struct arena *arena);
void run_shown_start(struct due *due);
void run_shown(struct due *due, const Renga__V1__NodeRetried *retried, const char *progress);
void run_shown_result(struct due *due, const char *progress); /* when its record is on disk */
void run_token(struct due *due, const char *text, const char *channel);
int64_t run_worked_ms(const struct run *run);
bool run_is_open(const struct run *run); /* queued or at work */
void run_next(struct thread *thread);
void run_free(struct run *run);
/* limits.c */
int64_t run_timeout_ms(const struct run *run); /* 0: none */
int64_t run_tokens(const struct run *run);
void run_limit_passed(struct timer *timer);
void run_idle_limit_passed(struct timer *timer);
bool run_budget_left(struct run *run); /* else it comes to an end */
const struct graph *run_graph(const struct run *run);
unsigned run_recursion_limit(const struct run *run);

/* question.c */
bool question_ask(struct due *due, const Response *response, int64_t now_ms);
bool question_asks_nothing(const struct due *due, const Response *response); /* but what has its answer */
size_t question_open_count(const struct due *due);
/* As a frame of this seed gives it. */
void question_id(char id[ID_MAX], uint64_t seed, int64_t step, uint32_t node, uint32_t branch, const char *key);
/* Every interrupt that is open in the thread: a question, or where it stands (then `question` is NULL). */
struct interrupt_visit {
    void (*came)(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                 const struct due *due, struct question *question, Renga__V1__InterruptKind kind);
    void *data;
};
void question_each(struct frame *frame, struct interrupt_visit *visit);
Renga__V1__Interrupt *question_message(struct arena *arena, const struct frame *frame, const struct node *node,
                                       const struct due *due, const struct question *question,
                                       Renga__V1__InterruptKind kind);

/* thread.c */
/* `drawn`: its name has just been drawn out of 2^64, so nothing is read, and nothing waited for. */
struct thread *thread_get(struct home *home, const char *tenant, const char *id, bool drawn);
struct thread *thread_new(struct home *home, const char *tenant, const char *id); /* in no table: to be rebuilt */
void thread_free(struct thread *thread);
void thread_serve(struct thread *thread);  /* errands that wait, if it can */
void thread_settle(struct thread *thread); /* idle, or to be forgotten */
void thread_break(struct thread *thread, const struct status *why);
void home_end_revivals(struct home *home);
void thread_keep(struct thread *thread, const Renga__V1__Retention *retention);
void thread_take_agent(struct thread *thread, struct agent *agent);
struct agent *thread_agent_for(struct thread *thread, const char *version); /* held; NULL where it is not in memory */
void thread_unqueue(struct thread *thread, struct run *run);
void thread_unhold(struct thread *thread); /* the errand that had it for itself is done */
void thread_forget(struct thread *thread, const struct status *why);
/* elsewhere.c: another orchestrator has it. At once, its errands hear of the address; or what nobody was told of is
 * asked anew. */
void thread_go_elsewhere(struct thread *thread, struct status *why, const char *address);
/* Whether nothing that waits for it needs it read here: then it has gone. */
bool thread_stays_elsewhere(struct thread *thread);
/* Whether the errand is served here, as the owner's row stands; else it is answered. */
bool thread_serves(struct thread *thread, struct errand *errand);
void thread_lose(struct thread *thread);
void thread_revive_later(const struct thread *thread); /* revival.c */

/* rebuild.c: a thread as it stood at a checkpoint. */
/* Once, later: what is there is the receiver's; NULL, with why, where nothing is, or the thread is not served here any
 * more. */
typedef void thread_rebuilt(void *owner, struct thread *past, const struct status *st);
void thread_rebuild(struct thread *thread, uint64_t upto, thread_rebuilt *done, void *owner);
/* False where its log would become ever longer to read; the errand has heard of it. */
bool thread_may_go_back(const struct thread *thread, struct errand *errand);
/* Takes over where the graph of one stands, and frees it. Nothing is within that: what is due there is due anew. */
void thread_adopt(struct thread *thread, struct thread *from);
/* The next run begins where the last one did; unless somebody has changed by hand what that left. */
bool thread_rolls_back(const struct thread *thread);
void thread_begin_run(struct thread *thread, struct run *run);

bool snapshot_possible(const struct thread *thread);
bool snapshot_write(const struct thread *thread, struct buffer *out);
bool snapshot_read(struct thread *thread, const Renga__V1__ThreadSnapshot *snapshot, uint64_t number,
                   struct status *st);

/* answer.c: messages for callers. */
Renga__V1__Run *answer_run(struct arena *arena, const struct run *run, bool in_list);
char *checkpoint_text(struct arena *arena, const struct thread *thread, uint64_t number); /* "" for 0 */
Renga__V1__Thread *answer_thread(struct arena *arena, const struct thread *thread);
void *message_copy(struct arena *arena, const ProtobufCMessage *message);
void *message_read(struct arena *arena, const ProtobufCMessageDescriptor *type, struct store_bytes bytes,
                   struct status *st);
bool home_knows_bundle(struct home *home, const char *version); /* from now on it does */
void home_forget_bundles(struct home *home);
bool thread_busy(const struct thread *thread);

static inline char *unconst(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}
/* Whether an answer fits the JSON Schema of its question; without an answer, whether the schema is one. */
bool question_schema_fits(const char *schema, const char *answer, struct status *st);
int64_t wall_ms(void);
void *need(void *memory); /* memory that must be there: else the process ends */
void text_cut_copy(char *to, size_t room, const char *text);

#endif
