/* The words of a paragraph that fit a query best. */
#ifndef RENGA_TOOL_RUNNER_QUOTE_H
#define RENGA_TOOL_RUNNER_QUOTE_H

#include "knowledge/rank.h"
#include "words/sentences.h"

/* The sentence of `text` whose terms weigh most; empty where none of them stands in it. */
struct span quote_find(const char *text, size_t length, const struct rank_query *query);

#endif
