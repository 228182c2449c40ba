/* Observability of running tools: metrics, and a span for each run after OpenTelemetry's conventions.
 *
 *      renga_tool_calls_total        tool, code       those answered from the record too
 *      renga_tool_recorded_total     tool             answered from the record
 *      renga_tool_duration_seconds   tool             runs
 *
 * A tool that does not exist counts as "unknown": models may write any name. */
#ifndef RENGA_TOOL_RUNNER_OBSERVE_H
#define RENGA_TOOL_RUNNER_OBSERVE_H

#include <stdbool.h>

struct tool_call;

void observe_start(struct tool_call *call);
/* The call is settled; `ran`: here and now. */
void observe_call(struct tool_call *call, bool ran);

#endif
