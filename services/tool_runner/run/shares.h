/* What many results take together: where it is too much, each is cut to its share. Small ones keep what they have, so
 * that one large result cannot crowd out the others. */
#ifndef RENGA_TOOL_RUNNER_SHARES_H
#define RENGA_TOOL_RUNNER_SHARES_H

#include "renga/v1/tool_runner.pb-c.h"

#include <stddef.h>

/* At most `bytes_max` for all results packed. What is cut is `truncated`: structured_json goes first, then the last
 * hits, then the end of text. Texts are cut in place. At most RUN_CALLS_MAX results. */
void shares_cut(Renga__V1__ToolResult **results, size_t count, size_t bytes_max);

#endif
