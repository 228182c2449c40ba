/* What tools and searches found, as a model reads it and as the simple ways weigh it. Private to services/reviewer. */
#ifndef RENGA_REVIEWER_FINDINGS_H
#define RENGA_REVIEWER_FINDINGS_H

#include "thinking/thought.h"
#include "words/support.h"

#include "renga/v1/source.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#define FINDINGS_SHOWN_MAX   ((size_t)320 << 10) /* bytes of what was found that a model is shown */
#define FINDINGS_WEIGHED_MAX ((size_t)512 << 10) /* ... and that is weighed without one */
#define WEIGHING_MEMORY_MAX  ((size_t)64 << 20)

/* Adds {tool_results}: what the tools found, block by block, each result cut to its share; and {failures}: which tools
 * failed, and why. True where all could be shown. */
bool findings_describe(struct thought *thought, cJSON *values, Renga__V1__ToolResult *const *results, size_t count);

/* Adds {sources}: "[1] title | url | date" and the summary beneath. True where all could be shown. */
bool sources_describe(struct thought *thought, cJSON *values, Renga__V1__SearchResult *const *sources, size_t count);

/* The same as evidence, and a text as evidence of what it covers of others. In an arena of the caller's, for
 * WEIGHING_MEMORY_MAX at most: it is many times as large as the texts. NULL where that has no room. */
struct evidence *findings_weigh(struct arena *arena, Renga__V1__ToolResult *const *results, size_t count);
struct evidence *sources_weigh(struct arena *arena, Renga__V1__SearchResult *const *sources, size_t count);
struct evidence *text_weigh(struct arena *arena, const char *text);

#endif
