/* The sentences of a paragraph that fit a query best. */
#ifndef RENGA_TOOL_RUNNER_QUOTE_H
#define RENGA_TOOL_RUNNER_QUOTE_H

#include "knowledge/rank.h"
#include "words/sentences.h"

/* The sentence of `text` whose terms weigh most, and the one beside it that brings most of the others, or the number
 * that is asked for; the one behind it where neither brings more. Empty where no term stands in the text. */
struct span quote_find(const char *text, size_t length, const struct rank_query *query);

#endif
