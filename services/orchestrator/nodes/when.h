/* Conditions over the inputs of a node (json/condition.h), checked against the fields of its graph. */
#ifndef RENGA_ORCHESTRATOR_WHEN_H
#define RENGA_ORCHESTRATOR_WHEN_H

#include "graph/node_kind.h"

#include "json/condition.h"

/* For `prepare` of a kind. NULL with INVALID_ARGUMENT if it is no condition, or if it tests a field that is not among
 * the node's inputs. The same if no value that the field may have can pass a test. The text begins with the place
 * within the condition; it names no parameter. */
const struct json_condition *when_compile(const struct node *node, struct arena *arena, const cJSON *tree,
                                          struct status *st);

#endif
