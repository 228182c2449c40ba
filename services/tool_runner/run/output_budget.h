/* Bounds the total size of many results: if it is too large, each result is cut to its part of the budget. Small
 * results stay whole, so that a large result cannot crowd out the others. */
#ifndef RENGA_TOOL_RUNNER_OUTPUT_BUDGET_H
#define RENGA_TOOL_RUNNER_OUTPUT_BUDGET_H

#include "renga/v1/tool_runner.pb-c.h"

#include <stddef.h>

/* At most `bytes_max` for all results packed. A result that is cut gets `truncated`: structured_json goes first, then
 * the last hits, then the end of text. Texts are cut in place. At most RUN_CALLS_MAX results. */
void output_budget_apply(Renga__V1__ToolResult **results, size_t count, size_t bytes_max);

#endif
