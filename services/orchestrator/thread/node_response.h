/* Private to the orchestrator: whether the response of a node follows its declaration in the graph. Changes nothing.
 * From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_NODE_RESPONSE_H
#define RENGA_ORCHESTRATOR_NODE_RESPONSE_H

#include "frame.h"

#include <stdbool.h>
#include <stddef.h>

struct status;

#define PROGRESS_MAX 65536 /* bytes, as RunNodeEvent.progress_json */

bool response_check(const struct activation *activation, const Response *response, struct status *st);
/* One value of at most so many bytes; `first`: the character it begins with, or NUL. */
bool response_check_json(const char *what, const char *text, size_t most, char first, struct status *st);

#endif
