/* Shared by tools with hits: the output of a hit for a model, and the search in the knowledge base. */
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

/* Searches for the argument "query", in "collections" and for "limit" hits if they are given. */
void found_start(struct tool_run *run, bool answers);
void found_cancel(struct tool_run *run);

/* Writes a hit and its block of the text; `number` counts from 1. A hit that was found by words gets its score: only
 * those scores can be compared with the scores of another search. */
void found_write(struct tool_run *run, size_t number, const Renga__V1__SearchHit *hit, bool by_words);

#endif
