/* Hits of a search as the results that a study collects (SearchResult): each address once, with at most 500 characters
 * of its text. Addresses are compared by their canonical form; an address that opens no document is left out. */
#ifndef RENGA_ORCHESTRATOR_SEARCH_RESULTS_H
#define RENGA_ORCHESTRATOR_SEARCH_RESULTS_H

#include "base/json_writer.h"

#include "renga/v1/tool_runner.pb-c.h"

#define SEARCH_SUMMARY_CHARACTERS 500 /* as SearchResult.summary */

/* Writes them as items of the list that is being written, in the order of the hits. Further paragraphs of a document
 * stand behind its first one, as many of their whole sentences as fit. O(hits²), for at most 100 hits. */
void search_results_write(struct json_writer *out, Renga__V1__SearchHit *const *hits, size_t count);

#endif
