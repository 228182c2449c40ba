/* The results of tools and searches, as text for a model and as evidence for the comparison without a model. Private to
 * services/reviewer. */
#ifndef RENGA_REVIEWER_FINDINGS_H
#define RENGA_REVIEWER_FINDINGS_H

#include "model_task/model_task.h"
#include "words/support.h"

#include "renga/v1/source.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#define FINDINGS_SHOWN_MAX   ((size_t)320 << 10) /* bytes of results that a model is shown */
#define FINDINGS_WEIGHED_MAX ((size_t)512 << 10) /* ... and that are compared as evidence */
#define WEIGHING_MEMORY_MAX  ((size_t)64 << 20)

/* Adds {tool_results}, the results of the tools, block by block, each cut to its share. Adds {failures}, the failed
 * tools with their errors. True if no result was cut. */
bool findings_describe(struct model_task *task, cJSON *values, Renga__V1__ToolResult *const *results, size_t count);

/* Adds {sources}: "[1] title | url | date" and the summary below. True if all sources were added. */
bool sources_describe(struct model_task *task, cJSON *values, Renga__V1__SearchResult *const *sources, size_t count);

/* Make evidence from tool results, from sources, or from a text whose coverage of other texts is measured. The caller's
 * arena should allow WEIGHING_MEMORY_MAX bytes, since evidence is many times as large as its texts. NULL if the arena
 * is out of memory. */
struct evidence *findings_weigh(struct arena *arena, Renga__V1__ToolResult *const *results, size_t count);
struct evidence *sources_weigh(struct arena *arena, Renga__V1__SearchResult *const *sources, size_t count);
struct evidence *text_weigh(struct arena *arena, const char *text);

#endif
