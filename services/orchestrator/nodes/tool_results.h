/* Results of tools as they stand in a state: an object for each try, of the same form as SubtaskToolResults. */
#ifndef RENGA_ORCHESTRATOR_TOOL_RESULTS_H
#define RENGA_ORCHESTRATOR_TOOL_RESULTS_H

#include "base/arena.h"
#include "base/status.h"
#include "json/writer.h"

#include "renga/v1/tool_runner.pb-c.h"

/* The results of the last object of the list; no results if the list is NULL or empty. */
bool tool_results_of_try(const cJSON *tries, struct arena *arena, Renga__V1__ToolResult ***results, size_t *count,
                         struct status *st);

/* Writes a try: `calls` and `results` in the same order. Each result is cut to `most` bytes: its last hits are left
 * out, or its text is cut if it has no hits. The text of a search that found no hits is left out: it would support any
 * statement. */
bool tool_results_write(struct json_writer *out, Renga__V1__ToolCall *const *calls,
                        Renga__V1__ToolResult *const *results, size_t count, size_t most, struct arena *arena,
                        struct status *st);

#endif
