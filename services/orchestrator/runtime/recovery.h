/* Private to the orchestrator: runs that nobody carries on are taken up, those of the dead among the orchestrators that
 * share the store, and at the beginning all that were left behind. From inside the first loop. */
#ifndef RENGA_ORCHESTRATOR_RECOVERY_H
#define RENGA_ORCHESTRATOR_RECOVERY_H

struct recovery;
struct runner;

void recovery_start(struct runner *runner); /* and scans */
/* Scans the pending rows, soon; `runner` is a struct runner. */
void recovery_scan(void *runner);
void recovery_stop(struct recovery **recovery);

#endif
