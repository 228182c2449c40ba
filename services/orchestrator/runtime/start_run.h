/* Private to the orchestrator: StartRun. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_START_RUN_H
#define RENGA_ORCHESTRATOR_START_RUN_H

#include "renga/v1/log.pb-c.h"

struct agent;
struct request;
struct run;
struct thread;

void request_start_run(struct request *request, struct thread *thread);
/* Of a repeated StartRun or ResumeRun: its run as it is now. */
void request_repeat_run(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row);
void run_take_trace(struct run *run, const struct request *request);

/* run_input.c: checks input and configuration of a StartRun; then request_start_checked, now or later, which takes the
 * agent. */
void request_check_input(struct request *request, struct thread *thread, struct agent *agent);
void request_start_checked(struct request *request, struct thread *thread, struct agent *agent);

#endif
