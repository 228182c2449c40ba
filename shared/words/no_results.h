/* Recognises the sentence that a search of another maker writes if it has no results. It repeats the words of the query
 * and supports no claim. Only those who read texts from outside call it: our own results have a field,
 * ToolResult.found_nothing. */
#ifndef RENGA_WORDS_NO_RESULTS_H
#define RENGA_WORDS_NO_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

/* True for a single short line with this meaning, in Japanese or English. */
bool words_say_no_results(const char *text, size_t length);

/* True for the sentence of a report that there is no source for a point, or for its theme (the prompt writer.missing of
 * autonomous_research). It claims no fact. */
bool words_say_no_source(const char *text, size_t length);

#endif
