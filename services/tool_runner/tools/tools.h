/* The tools that are part of Renga: a file each, and a row in tools.c. */
#ifndef RENGA_TOOL_RUNNER_TOOLS_H
#define RENGA_TOOL_RUNNER_TOOLS_H

#include "tool.h"

extern const struct tool tool_calculate, tool_clock, tool_fetch_page, tool_lookup_qa, tool_search_documents,
    tool_search_web;

/* NULL at the end. */
extern const struct tool *const builtin_tools[];

#endif
