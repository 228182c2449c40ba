/* Private to the orchestrator: activates the nodes of the next step, along the edges of the graph. From inside the
 * loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_ROUTE_H
#define RENGA_ORCHESTRATOR_ROUTE_H

struct activation;
struct edge;
struct frame;
struct node;

void route_outcome(struct frame *frame, const struct activation *activation);
void route_edge(struct frame *frame, const struct node *from, const struct edge *edge);
void route_deferred(struct frame *frame);
void route_to(struct frame *frame, const struct node *node);

#endif
