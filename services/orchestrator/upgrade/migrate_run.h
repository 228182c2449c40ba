/* Private to the orchestrator: versions of agents. Which one a request names, and how a run goes over to another. */
#ifndef RENGA_ORCHESTRATOR_MIGRATE_RUN_H
#define RENGA_ORCHESTRATOR_MIGRATE_RUN_H

#include "runtime/runner.h"

#include "renga/v1/log.pb-c.h"

struct run;

/* agent_versions.c: the agent that a request names: from memory, else from the store. Held. NULL: the request was
 * refused, or is served again when the document has been read. */
struct agent *request_find_agent(struct request *request, struct thread *thread, const char *name, const char *version);
/* The same where it need not be there: true, and the agent (held) or NULL; false: the request is served again. */
bool request_find_agent_if_any(struct request *request, struct thread *thread, const char *version,
                               struct agent **agent);
/* Its run's name and version, and the document where the store has it not yet: with what is filling. */
void log_write_name(struct run *run);
/* DescribeAgent, as far as the store knows: the answer has versions and nothing else, `place` the agent, held. */
void request_describe_agent(struct request *request);

/* migrate_run.c */
bool apply_migrated(struct run *run, const Renga__V1__RunMigrated *migrated, uint64_t number, int64_t now_ms,
                    struct status *st);
void history_migrate(struct request *request, struct thread *thread);

#endif
