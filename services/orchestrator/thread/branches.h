/* Private to the orchestrator: the branches of each and graph: frames within an activation. Opens and closes them in
 * memory; the engine begins them. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_BRANCHES_H
#define RENGA_ORCHESTRATOR_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>

struct activation;
struct frame;
struct graph;
struct node;
struct status;

#define BRANCH_FAILED "a branch failed" /* begins the message of a node with a failure within */

bool node_holds_graph(const struct node *node);
const struct graph *branch_graph(const struct node *node);
bool branches_prepare(struct activation *activation, struct status *st);
/* Of a node that has just been activated if the state goes on meanwhile; a failure here comes again when it begins. */
void branches_prepare_early(struct activation *activation);
bool branches_logged(const struct activation *activation); /* a record is about a branch of it */
/* Behind an earlier firing of the same node, until that has left: records know a graph by the way to it alone. */
bool branches_wait(const struct activation *activation);
/* Branches that the log does not have get their inputs anew when they begin: the state has changed. */
void branches_discard_unlogged(struct frame *frame);
/* Whether the graph takes the branch's inputs; `whole`: with those beside its item. */
bool branch_fits(const struct activation *activation, size_t item, bool whole, struct status *st);
struct frame *branch_open(struct activation *activation, size_t item, struct status *st);
void branch_ended(struct frame *frame);
/* All branches have ended: gathers their writes. */
bool branches_gather(struct activation *activation, struct status *st);

#endif
