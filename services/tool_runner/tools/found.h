/* What the tools that search in the knowledge base have in common: the search, and how its hits are written for a
 * model.
 */
#ifndef RENGA_TOOL_RUNNER_FOUND_H
#define RENGA_TOOL_RUNNER_FOUND_H

#include "knowledge/lookup.h"
#include "tool.h"

#define FOUND_COLLECTIONS_MAX LOOKUP_COLLECTIONS_MAX

/* The data of a run. */
struct found_run {
    struct tool_run *run;
    struct lookup *lookup; /* NULL: it has ended */
    const char *collections[FOUND_COLLECTIONS_MAX];
};

/* Searches for the argument "query", in "collections" and for "limit" hits where they are given. */
void found_start(struct tool_run *run, bool answers);
void found_cancel(struct tool_run *run);

#endif
