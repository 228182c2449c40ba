/* The sentences of a paragraph that fit a query best. */
#ifndef RENGA_TOOL_RUNNER_QUOTE_H
#define RENGA_TOOL_RUNNER_QUOTE_H

#include "knowledge/rank.h"
#include "words/sentences.h"

/* The sentence of `text` with the heaviest terms, and the neighbour that adds most of the other terms, or the
 * requested number; the following one if both add equally. Empty if no term stands in the text. */
struct span quote_find(const char *text, size_t length, const struct rank_query *query);

#endif
