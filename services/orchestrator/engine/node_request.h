/* Private to the orchestrator: the request of an attempt; in the arena, and partly the run's own. From inside the loop
 * of the shard. */
#ifndef RENGA_ORCHESTRATOR_NODE_REQUEST_H
#define RENGA_ORCHESTRATOR_NODE_REQUEST_H

#include "renga/v1/node.pb-c.h"

#include <stdint.h>

struct activation;
struct arena;
struct buffer;

/* Appends the configuration that a node gets: that of the run, with the lessons of its playbook. */
void activation_write_configuration(const struct activation *activation, struct buffer *out);
const Renga__V1__RunNodeRequest *activation_node_request(const struct activation *activation, int64_t deadline_ns,
                                                         struct arena *arena);

#endif
