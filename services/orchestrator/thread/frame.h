/* Private to the orchestrator: graphs at work (frames), and the activations of their nodes. Their thread owns them.
 * From inside the loop of its shard.
 *
 *     shard ---> thread ---> run            the run at work, or the last run; others wait their turn
 *                  |
 *                  '-------> root frame     a graph, its state, and the activations of its nodes
 *                              '-- activation   of a node: pending, at work, finished, failed, waiting
 *                                    |-- attempt     at it, here or in another loop
 *                                    '-- branches    of each and graph: frames within */
#ifndef RENGA_ORCHESTRATOR_FRAME_H
#define RENGA_ORCHESTRATOR_FRAME_H

#include "activation_state.h"
#include "branch_state.h"
#include "frame_phase.h"
#include "state/state.h"

#include "base/trace.h"
#include "loop/loop.h"

#include "renga/v1/node.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct attempt;
struct buffer;
struct cache_lookup;
struct frame;
struct graph;
struct interrupt;
struct memory;
struct node;
struct run;
struct span;
struct state;
struct status;
struct thread;

#define FRAME_MEMORY_MAX ((size_t)1 << 30) /* bytes of a step: results, inputs of branches */
#define FRAME_DEPTH_MAX  16                /* graphs within each other */
#define PATH_MAX_BYTES   1024

typedef Renga__V1__RunNodeResponse Response; /* generated from a proto */

struct branch {
    enum branch_state state;
    struct frame *frame;
    char *output; /* of an ended branch: the object that its graph gives */
    size_t output_size;
};

struct activation {
    struct frame *frame;
    const struct node *node;
    uint32_t branch;
    bool sent;
    const char *input; /* the input that was sent */
    int64_t step;
    enum activation_state state;
    bool recorded;                /* its result is in the log */
    bool released, pauses_before; /* released: it has been resumed, and begins */
    uint32_t attempts, tries;     /* begun at all; begun since it was activated, resumed or taken up */
    Response *response;
    struct write write;
    bool written;             /* `write` is read */
    const uint8_t *cache_key; /* NULL: its result is not to be used again */
    struct cache_lookup *cache_lookup;
    uint32_t duration_ms;
    bool cached, conflict;
    int code;
    const char *message, *reason; /* reason: the cause of its failure as a constant; NULL or "": no cause */
    Renga__V1__Usage *spent;      /* by the last attempt, which failed; NULL: no usage */
    struct interrupt *interrupts;
    struct attempt *attempt; /* at work; NULL: no attempt */
    /* To models, as model_retries.c counts them: of the last attempt, and those reserved in the run's budget. */
    unsigned allowed_requests, failed_requests, held_requests;
    bool granted_retry; /* another attempt is to begin */
    struct timer rest;
    uint64_t given_up; /* number of the record of the last attempt that is followed by another */
    struct branch *branches;
    size_t branch_count, opened, settled, hint; /* settled: ended or stopped */
    char *items; /* of each: the list as it was when the node began: concatenated JSON texts */
    size_t *item_ends;
    char *beside;      /* of each: the values that every branch gets beside its item, an object as JSON; NULL: no other
                          values */
    Response *jump;    /* of a graph that was left by a jump */
    bool overrun;      /* was activated more often than it may be: fails when it begins */
    bool begun_in_log; /* `attempts` has the number of the attempt at work, or `taken_up` the numbers in its graphs */
    unsigned taken_up; /* attempts that nodes of graphs within, which no record has opened, may have had already */
    bool queued, opens, fresh;
    int64_t began_ns; /* of a node with graphs within: in this process; 0: it has no graphs, or has not begun */
    struct activation *next, *queue_next, *opener_next, *fresh_next;
};

#define FRAME_STORAGE 1024 /* bytes of a step that need no heap */

struct frame {
    struct thread *thread;
    struct activation *parent; /* NULL: the root */
    uint32_t item;
    unsigned depth;
    const struct graph *graph;
    struct state *state;
    struct memory *memory; /* whose state it has; NULL: its own */
    int64_t step, steps_before;
    struct activation *activations, *last_activation;
    unsigned busy; /* activations that are ready, at work or rest */
    uint32_t *visits;
    bool *deferred;
    bool *arrived; /* node_count × node_count, made when first needed */
    const struct node **after;
    size_t after_count;
    enum frame_phase phase;
    int64_t began_ns;   /* its present step */
    uint32_t told_near; /* warnings of "log_near" that were logged, a bit each */
    bool is_dirty, awaits;
    struct activation *fresh, *last_fresh; /* ended, and not in the log yet */
    uint64_t record;                       /* that has to be on disk before its next step */
    bool in_log;                           /* a record is about it: a later read of the log opens it */
    struct frame *dirty_next, *begin_next;
    Response *jump; /* in the arena of the parent's frame */
    struct arena *arena, arenas[2];
    struct trace_context trace; /* of a branch */
    struct span *span;
    _Alignas(16) char storage[2][FRAME_STORAGE];
};

/* frame.c */
struct frame *frame_create(struct thread *thread, const struct graph *graph, struct activation *parent, uint32_t item);
void frame_destroy(struct frame **frame);
void frame_clear_activations(struct frame *frame);
struct activation *frame_activate(struct frame *frame, const struct node *node);
void frame_start(struct frame *frame);             /* activates its first nodes */
void frame_reset_activations(struct frame *frame); /* as in a checkpoint: no activation has begun. May be NULL */
void frame_logged(struct frame *frame);            /* a record is about it, and so about those around it */
/* The numbers of its activated nodes, adjacent equal numbers once; to be freed. */
uint32_t *frame_activated_nodes(const struct frame *frame, size_t *count);
void activation_close(struct activation *activation); /* lets go of its branches */
struct run *frame_run(const struct frame *frame);
/* The path of a frame within its root, as NodePosition.path. */
void frame_path(const struct frame *frame, struct buffer *out);
size_t frame_place(const struct frame *frame, uint32_t *place); /* at most 3 × FRAME_DEPTH_MAX numbers */
struct activation *activation_find(struct frame *frame, uint32_t node,
                                   uint32_t branch); /* as records name it; or NULL */
struct frame *frame_at(struct thread *thread, const uint32_t *place, size_t count, struct status *st);
uint64_t frame_seed(const struct frame *frame); /* of its place in the run: as events have it */
uint64_t frame_visit_seed(const struct frame *frame);
uint64_t
activation_seed(const struct activation *activation); /* of keys, and of ids that it writes: unique in the run */
bool frame_all_ended(const struct frame *frame);      /* all activations have ended, and there is at least 1 */
bool frame_must_pause(const struct frame *frame);     /* before or after a node, until it is resumed */
bool activation_has_error_node(const struct activation *activation); /* that takes over after its failure */
/* It has finished, or its failure leads on to the error node. */
bool activation_ended(const struct activation *activation);

#endif
