/* What tools found, as it stands in a state: an object for each try, of the same form as SubtaskToolResults. */
#ifndef RENGA_ORCHESTRATOR_TOOL_RESULTS_H
#define RENGA_ORCHESTRATOR_TOOL_RESULTS_H

#include "base/arena.h"
#include "base/json_writer.h"
#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

/* The results of the last object of the list; none where the list is NULL or empty. */
bool tool_results_of_try(const cJSON *tries, struct arena *arena, Renga__V1__ToolResult ***results, size_t *count,
                         struct status *st);

/* One try: `calls` and `results` in the same order. Each result is cut to `most` bytes: its last hits are left out, its
 * text where it has none. That a search found nothing is no text: it would support whatever was asked. */
bool tool_results_write(struct json_writer *out, Renga__V1__ToolCall *const *calls,
                        Renga__V1__ToolResult *const *results, size_t count, size_t most, struct arena *arena,
                        struct status *st);

#endif
