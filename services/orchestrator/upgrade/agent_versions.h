/* Private to the orchestrator: versions of agents: the one that a request names, and their documents in the store. From
 * inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_AGENT_VERSIONS_H
#define RENGA_ORCHESTRATOR_AGENT_VERSIONS_H

#include <stdbool.h>

struct agent;
struct request;
struct thread;

/* The agent that a request names: from memory, else from the store. Held. NULL: the request was
 * refused, or is served again when the document has been read. */
struct agent *request_find_agent(struct request *request, struct thread *thread, const char *name, const char *version);
/* The same for a version that may be missing. True: `agent` is held, or NULL. False: the request is served again. */
bool request_find_agent_if_any(struct request *request, struct thread *thread, const char *version,
                               struct agent **agent);
/* DescribeAgent, as far as the store knows: the answer has the versions alone, and `place` the agent, held. */
void request_describe_agent(struct request *request);

#endif
