/* Private to run/: the next actions of a graph at work. Due nodes begin, a step ends, and the nodes of the next step
 * are due.
 */
#ifndef RENGA_ORCHESTRATOR_STEP_H
#define RENGA_ORCHESTRATOR_STEP_H

#include "frame.h"

struct edge;
struct graph;
struct node;
struct run;

/* step.c and look.c: nodes begin; does the step end. */
void frame_begin(struct frame *frame);
void frame_await(struct frame *frame);
void frame_enqueue(struct frame *frame);
void frame_touch(struct frame *frame); /* look at it again soon */
void run_pump(struct run *run);
void run_purge(struct run *run); /* nodes taken out of work leave their queues */
void due_finished(struct due *due);
void due_stop(struct due *due); /* takes it out of work, back to pending */
void frame_stop(struct frame *frame);
bool frame_must_stand(const struct frame *frame); /* before or after a node, until it is resumed */
void frame_stopped(struct frame *frame);          /* no node is at work in it, and it is not at its end */
void frame_drain(struct frame *frame);
void branches_look(struct due *due);
#define BRANCH_FAILED "a branch failed"          /* begins the message of a node with a failure within */
void due_again(struct due *due);                 /* after its rest */
bool frame_all_ended(const struct frame *frame); /* all due nodes have ended, and at least 1 is due */
bool due_has_error_node(const struct due *due);  /* that takes over after its failure */
bool due_ended(const struct due *due);           /* it has finished, or its failure leads on to the error node */
void thread_tidy(struct thread *thread);
void thread_begin_steps(struct thread *thread);

/* route.c: the nodes that are due next. */
void route_outcome(struct frame *frame, const struct due *due);
void route_edge(struct frame *frame, const struct node *from, const struct edge *edge);
void route_deferred(struct frame *frame);
void route_to(struct frame *frame, const struct node *node);

/* branches.c: each and graph. */
bool node_holds_graph(const struct node *node);
const struct graph *branch_graph(const struct node *node);
bool branches_prepare(struct due *due, struct status *st);
/* Of a node that has just become due if the state goes on meanwhile; a failure here comes again when it begins. */
void branches_prepare_early(struct due *due);
bool branches_logged(const struct due *due); /* a record is about a branch of it */
/* Behind an earlier firing of the same node, until that has left: records know a graph by the way to it alone. */
bool branches_wait(const struct due *due);
/* Branches that the log does not have get their inputs anew when they begin: the state has changed. */
void branches_forget(struct frame *frame);
/* Whether the graph takes the branch's inputs; `whole`: with those beside its item. */
bool branch_fits(const struct due *due, size_t item, bool whole, struct status *st);
struct frame *branch_open(struct due *due, size_t item, struct status *st);
void branch_ended(struct frame *frame);
/* All branches have ended: gathers their writes. */
bool branches_gather(struct due *due, struct status *st);

/* node_request.c: the request of an attempt; in the arena, and partly the run's own. */
/* Appends the configuration that a node gets: that of the run, with the lessons of its playbook. */
void due_write_configuration(const struct due *due, struct buffer *out);
const Renga__V1__RunNodeRequest *due_request(const struct due *due, int64_t deadline_ns, struct arena *arena);

/* attempt.c and task.c */
void task_begin(struct due *due);
void task_drop(struct due *due); /* it does not count any more */

/* question.c: questions of nodes that wait for an answer. */
bool question_ask(struct due *due, const Response *response, int64_t now_ms);
bool question_asks_nothing(const struct due *due, const Response *response); /* but answered questions */
size_t question_open_count(const struct due *due);
/* As a frame of this seed gives it. */
void question_id(char id[ID_MAX], uint64_t seed, int64_t step, uint32_t node, uint32_t branch, const char *key);
/* Every interrupt that is open in the thread: a question, or a stop at a node (then `question` is NULL). */
struct interrupt_visit {
    void (*came)(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                 const struct due *due, struct question *question, Renga__V1__InterruptKind kind);
    void *data;
};
void question_each(struct frame *frame, struct interrupt_visit *visit);
Renga__V1__Interrupt *question_message(struct arena *arena, const struct frame *frame, const struct node *node,
                                       const struct due *due, const struct question *question,
                                       Renga__V1__InterruptKind kind);

#endif
