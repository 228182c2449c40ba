/* Metrics and spans of searches outside. Queries and answers are in neither. */
#ifndef RENGA_TOOL_RUNNER_SEARCH_OBSERVE_H
#define RENGA_TOOL_RUNNER_SEARCH_OBSERVE_H

#include "search/ask.h"

/* The start of a request, and its end. */
void search_observe_request(struct search_ask *ask);
void search_observe_answer(struct search_ask *ask, enum status_code code);

/* The answer came from the record; a source replaced a source that failed. */
void search_observe_recorded(struct tool_runner *runner, const char *source);
void search_observe_stand_in(struct tool_runner *runner, const char *source);

#endif
