/* The tools there are, as the tool-runner listed them a moment ago: nodes that offer tools to a model would else ask
 * for the same list again and again. One a process, made and destroyed with the orchestrator. Any thread. */
#ifndef RENGA_ORCHESTRATOR_TOOL_LIST_H
#define RENGA_ORCHESTRATOR_TOOL_LIST_H

#include "base/arena.h"

#include "renga/v1/tool_runner.pb-c.h"

struct tool_list;
struct tool_list *tool_list_create(void);
void tool_list_destroy(struct tool_list **list);

/* In the arena; NULL: it is not there, too old, or the arena is out: ask. */
Renga__V1__ListToolsResponse *tool_list_recall(struct tool_list *list, struct arena *arena);

/* Copied. One that lacks the tools of a server that is down is not kept: the next may have them. */
void tool_list_keep(struct tool_list *list, const Renga__V1__ListToolsResponse *response);

#endif
