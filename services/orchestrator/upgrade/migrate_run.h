/* Private to the orchestrator: MigrateRun: a run goes over to another version of its agent. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_MIGRATE_RUN_H
#define RENGA_ORCHESTRATOR_MIGRATE_RUN_H

struct request;
struct thread;

void history_migrate(struct request *request, struct thread *thread);

#endif
