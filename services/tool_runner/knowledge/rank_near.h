/* Replacements for a word of a query that stands in no document: its stem in another language, or else the most
 * frequent word of the index within one edit. */
#ifndef RENGA_TOOL_RUNNER_RANK_NEAR_H
#define RENGA_TOOL_RUNNER_RANK_NEAR_H

#include "base/arena.h"
#include "knowledge/rank.h"

#define NEAR_TERMS_MAX 4 /* of a query; each takes up to NEAR_LOOKUPS_MAX lookups, some 2 ms */

/* Replaces the text of the term, which has no postings, and lowers its share. False if it finds no replacement; `st`
 * says whether reading failed. */
bool rank_near_find(struct tables *tables, const struct collection *collections, size_t count, struct rank_term *term,
                    struct arena *arena, struct status *st);

#endif
