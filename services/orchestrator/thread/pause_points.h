/* Private to the orchestrator: nodes before or after which a run must stop, as its StartRun names them. "NODE" is in
 * the agent's own graph, "NODE/SUBNODE" in the graph that NODE holds, at any depth. "*" in the place of a name is any
 * node. "NODE[2]/…" is a single branch of a fan-out. */
#ifndef RENGA_ORCHESTRATOR_PAUSE_POINTS_H
#define RENGA_ORCHESTRATOR_PAUSE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

struct frame;
struct graph;
struct node;
struct status;

/* Whether there is a node of that name; else an error with the nearest name. */
bool guard_check(const struct graph *graph, const char *guard, struct status *st);

/* Whether a guard names this node of the frame. */
bool guards_name(const struct frame *frame, const struct node *node, char *const *guards, size_t count);

#endif
