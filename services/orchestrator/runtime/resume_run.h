/* Private to the orchestrator: ResumeRun: the answers and the update of a resumption, checked and applied. From inside
 * the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_RESUME_RUN_H
#define RENGA_ORCHESTRATOR_RESUME_RUN_H

#include <stdbool.h>

#include "renga/v1/orchestrator.pb-c.h"

struct graph;
struct request;
struct run;
struct status;
struct thread;

void request_resume_run(struct request *request, struct thread *thread);
/* Whether the graph has the node, the outcome and the fields of an update. `under`: the field that has it. */
bool resume_update_fits(const struct graph *graph, const Renga__V1__ResumeUpdate *wish, const char *under,
                        struct status *st);
/* By its interrupt_timeout. False: the state does not take the update; the run is unchanged. */
bool run_resume_timed_out(struct run *run, struct status *st);

#endif
