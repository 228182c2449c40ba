/* Private to the orchestrator: runs in traces. Below a run are its attempts at nodes, and graphs within, each with its
 * own attempts; below an attempt are its calls of other services.
 *
 *      invoke_agent AGENT ---> NODE ---> calls
 *                         '--> graph NAME [item] ---> NODE ---> calls
 *
 * Each period of work has a span of its own: from the start or a resumption until the run waits or ends. With
 * trace.roots=calls it continues the trace of the call that has started or resumed the run. With trace.roots=runs, or
 * without a call, it is the root of a trace. After a crash the period goes on in another process with the same spans,
 * if that is a root. If no spans are recorded, the caller's trace is passed on unchanged. */
#ifndef RENGA_ORCHESTRATOR_RUN_TRACE_H
#define RENGA_ORCHESTRATOR_RUN_TRACE_H

#include "base/status.h"

#include "renga/v1/orchestrator.pb-c.h"

struct activation;
struct attempt;
struct frame;
struct run;
struct thread;

/* For each period of work. `text`: why it has failed; "". */
void trace_run_began(struct run *run);
void trace_run_ended(struct run *run, Renga__V1__RunState state, int code, const char *text);

/* The thread leaves this process's memory. A run of it that is at work goes on elsewhere: its open spans are sent
 * there.
 */
void trace_run_left(struct thread *thread);

void trace_branch_began(struct frame *frame);
void trace_branch_ended(struct frame *frame); /* may be called again */

void trace_attempt_began(struct attempt *attempt);
/* Before trace_attempt_ended, if the reason is known. */
void trace_attempt_failed(struct attempt *attempt, enum status_code code, const char *text);
void trace_attempt_ended(struct attempt *attempt, enum status_code code);
/* A node that has failed without an attempt at it. */
void trace_node_failed(const struct activation *activation);

#endif
