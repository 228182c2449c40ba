/* Metrics and spans of searches outside. Queries and answers are in neither. */
#ifndef RENGA_TOOL_RUNNER_SEARCH_OBSERVE_H
#define RENGA_TOOL_RUNNER_SEARCH_OBSERVE_H

#include "search/source_call.h"

/* The start of a request, and its end. */
void search_observe_request(struct source_call *call);
void search_observe_answer(struct source_call *call, enum status_code code);

/* The answer came from the record; a source replaced a source that failed. */
void search_observe_recorded(struct tool_runner *runner, const char *source);
void search_observe_stand_in(struct tool_runner *runner, const char *source);

#endif
