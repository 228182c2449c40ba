/* Values that a document makes of a node's inputs. By example:
 *
 *     "plan.queries"                        a member of an object
 *     "failures[0].message"                 of an item of a list
 *     "outcomes[].note"                     of each item, as a list; items that do not have it are left out
 *     {"cycle": "cycle", "count": 0}        an object of other shapes; members that are not there are left out
 *     ["decision"]                          a list of other shapes; items that are not there are left out
 *     3, true                               the value itself
 *
 * A path begins with the name of an input. */
#ifndef RENGA_ORCHESTRATOR_SHAPE_H
#define RENGA_ORCHESTRATOR_SHAPE_H

#include "graph/node_kind.h"

#include "json/json.h"

#define SHAPE_PATH_MAX  256 /* bytes */
#define SHAPE_DEPTH_MAX 8   /* objects within each other */
#define SHAPE_INDEX_MAX 999 /* of an item that a path names */

/* Whether the shape is well-formed, and its paths begin with inputs of the node. INVALID_ARGUMENT names `parameter`. */
bool shape_check(const struct node *node, const char *parameter, const cJSON *shape, struct status *st);

/* The value, which the caller frees; NULL if it is not there. A list is never NULL. Linear in the inputs. */
cJSON *shape_make(const cJSON *inputs, const cJSON *shape);

#endif
