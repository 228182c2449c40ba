/* Private to the orchestrator: runs without an owner are taken up: those of dead orchestrators that share the store,
 * and, at the beginning, all unfinished runs. From inside the first loop. */
#ifndef RENGA_ORCHESTRATOR_RECOVERY_H
#define RENGA_ORCHESTRATOR_RECOVERY_H

struct recovery;
struct runner;

void recovery_start(struct runner *runner); /* and scans */
/* Scans the pending rows, soon; `runner` is a struct runner. */
void recovery_scan(void *runner);
void recovery_stop(struct recovery **recovery);

#endif
