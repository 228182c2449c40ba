/* Private to the orchestrator: the next actions of a graph at work. Activated nodes begin, a step ends, and the
 * nodes of the next step are activated.
 */
#ifndef RENGA_ORCHESTRATOR_STEP_H
#define RENGA_ORCHESTRATOR_STEP_H

#include "thread/frame.h"

struct edge;
struct graph;
struct node;
struct run;

/* step.c and step_evaluation.c: nodes begin; does the step end. */
void frame_begin(struct frame *frame);
void frame_await(struct frame *frame);
void frame_enqueue(struct frame *frame);
void frame_touch(struct frame *frame); /* it is evaluated again soon */
void run_pump(struct run *run);
void run_purge(struct run *run); /* nodes taken out of work leave their queues */
void activation_finished(struct activation *activation);
void activation_stop(struct activation *activation); /* takes it out of work, back to pending */
void frame_stop(struct frame *frame);
bool frame_must_pause(const struct frame *frame); /* before or after a node, until it is resumed */
void frame_stopped(struct frame *frame);          /* no node is at work in it, and it is not at its end */
void frame_drain(struct frame *frame);
void branches_evaluate(struct activation *activation);
#define BRANCH_FAILED "a branch failed"               /* begins the message of a node with a failure within */
void activation_retry(struct activation *activation); /* after its rest */
bool frame_all_ended(const struct frame *frame);      /* all activations have ended, and there is at least 1 */
bool activation_has_error_node(const struct activation *activation); /* that takes over after its failure */
bool activation_ended(
    const struct activation *activation); /* it has finished, or its failure leads on to the error node */
void thread_evaluate_frames(struct thread *thread);
void thread_begin_steps(struct thread *thread);

/* route.c: activates the next nodes. */
void route_outcome(struct frame *frame, const struct activation *activation);
void route_edge(struct frame *frame, const struct node *from, const struct edge *edge);
void route_deferred(struct frame *frame);
void route_to(struct frame *frame, const struct node *node);

/* branches.c: each and graph. */
bool node_holds_graph(const struct node *node);
const struct graph *branch_graph(const struct node *node);
bool branches_prepare(struct activation *activation, struct status *st);
/* Of a node that has just been activated if the state goes on meanwhile; a failure here comes again when it begins. */
void branches_prepare_early(struct activation *activation);
bool branches_logged(const struct activation *activation); /* a record is about a branch of it */
/* Behind an earlier firing of the same node, until that has left: records know a graph by the way to it alone. */
bool branches_wait(const struct activation *activation);
/* Branches that the log does not have get their inputs anew when they begin: the state has changed. */
void branches_discard_unlogged(struct frame *frame);
/* Whether the graph takes the branch's inputs; `whole`: with those beside its item. */
bool branch_fits(const struct activation *activation, size_t item, bool whole, struct status *st);
struct frame *branch_open(struct activation *activation, size_t item, struct status *st);
void branch_ended(struct frame *frame);
/* All branches have ended: gathers their writes. */
bool branches_gather(struct activation *activation, struct status *st);

/* node_request.c: the request of an attempt; in the arena, and partly the run's own. */
/* Appends the configuration that a node gets: that of the run, with the lessons of its playbook. */
void activation_write_configuration(const struct activation *activation, struct buffer *out);
const Renga__V1__RunNodeRequest *activation_node_request(const struct activation *activation, int64_t deadline_ns,
                                                         struct arena *arena);

/* attempt.c and attempt_end.c */
void task_begin(struct activation *activation);
void task_drop(struct activation *activation); /* it does not count any more */

/* interrupt.c: interrupts of nodes that wait for an answer. */
bool interrupts_add(struct activation *activation, const Response *response, int64_t now_ms);
bool interrupts_are_answered(const struct activation *activation,
                             const Response *response); /* all of them have their answer */
size_t interrupts_open_count(const struct activation *activation);
/* As a frame of this seed gives it. */
void interrupt_make_id(char id[ID_MAX], uint64_t seed, int64_t step, uint32_t node, uint32_t branch, const char *key);
/* Every interrupt that is open in the thread: that of a node that asks, or a pause at a node (then `interrupt` is
 * NULL). */
struct interrupt_visit {
    void (*came)(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                 const struct activation *activation, struct interrupt *interrupt, Renga__V1__InterruptKind kind);
    void *data;
};
void interrupts_each(struct frame *frame, struct interrupt_visit *visit);
Renga__V1__Interrupt *interrupt_message(struct arena *arena, const struct frame *frame, const struct node *node,
                                        const struct activation *activation, const struct interrupt *interrupt,
                                        Renga__V1__InterruptKind kind);

#endif
