/* Private to run/: runs in traces. A run continues its caller's trace; below it are its attempts at nodes, and graphs
 * within, each with its own attempts; below an attempt is what it asks of other services.
 *
 *      invoke_agent AGENT ---> NODE ---> calls
 *                         '--> graph NAME [item] ---> NODE ---> calls
 *
 * Where no spans are recorded the caller's trace is handed on as it is. A run that was taken up after a crash has no
 * caller any more, and no trace. */
#ifndef RENGA_ORCHESTRATOR_RUN_TRACE_H
#define RENGA_ORCHESTRATOR_RUN_TRACE_H

#include "base/status.h"

#include "renga/v1/orchestrator.pb-c.h"

struct attempt;
struct frame;
struct run;

/* For each spell of work. */
void trace_run_began(struct run *run);
void trace_run_ended(struct run *run, Renga__V1__RunState state, int code);

void trace_branch_began(struct frame *frame);

void trace_attempt_began(struct attempt *attempt);
void trace_attempt_ended(struct attempt *attempt, enum status_code code);

#endif
