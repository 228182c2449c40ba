/* Private to the orchestrator: results of nodes that are used again. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_NODE_CACHE_H
#define RENGA_ORCHESTRATOR_NODE_CACHE_H

#include <stdbool.h>

struct activation;
struct store_row;

/* True if the activated node's result is looked up: then the node
 * finishes, or begins. */
bool cache_ask(struct activation *activation);
void cache_drop(struct activation *activation);        /* it is taken out of work */
void cache_store(const struct activation *activation); /* beside the record that is made of it */
bool cache_is_over(const struct store_row *row);

#endif
