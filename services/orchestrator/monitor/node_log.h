/* Private to the orchestrator: log lines of nodes that have ended, and warnings before a limit.
 *
 *      run.node      INFO or DEBUG: agent, run, thread, path, node, visit, outcome, duration, attempts, and the fields
 *                    that the document names in "log"
 *      run.failing   WARN: a node has failed
 *      run.near      WARN: one visit, one of a count of "log_near", or a tenth of the supersteps is left */
#ifndef RENGA_ORCHESTRATOR_NODE_LOG_H
#define RENGA_ORCHESTRATOR_NODE_LOG_H

#include <stddef.h>
#include <stdint.h>

struct activation;
struct arena;
struct frame;

/* The nodes of a step that is about to end, with the counts that its end changes. */
struct node_log_step {
    const struct activation **activations;
    uint32_t *visits;
    size_t count;
};

/* Before apply_step; `only`: for this node alone. In the arena. Without nodes if no line is to be written. */
struct node_log_step node_log_note(struct arena *arena, const struct frame *frame, const struct activation *only);
/* The nodes that have failed without an error node: no step ends with them. Before their results are recorded. */
void node_log_failures(struct frame *frame);
/* After apply_step has succeeded: fields are as the step has left them. */
void node_log_write(struct frame *frame, const struct node_log_step *step);

#endif
