/* Private to the orchestrator: WatchRun. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_WATCH_RUN_H
#define RENGA_ORCHESTRATOR_WATCH_RUN_H

struct request;
struct thread;

void request_watch_run(struct request *request, struct thread *thread);

#endif
