/* Hits of a search as the results that a study collects (SearchResult): each address once, with at most 500 characters
 * of its text. Addresses are compared by their canonical form; an address that opens no document is left out. */
#ifndef RENGA_ORCHESTRATOR_SEARCH_RESULTS_H
#define RENGA_ORCHESTRATOR_SEARCH_RESULTS_H

#include "json/writer.h"

#include "renga/v1/tool_runner.pb-c.h"

#define SEARCH_SUMMARY_CHARACTERS 500 /* as SearchResult.summary */

#define SEARCH_RESULTS_MAX 100 /* hits, as SearchResponse.hits */

/* The hits of a search by the results that they belong to. */
struct search_results {
    Renga__V1__SearchHit *const *hits;
    size_t count;
    int of[SEARCH_RESULTS_MAX]; /* the index of the first hit with this address; -1: it is no result */
};

/* The first `most` addresses are results. O(hits²), for at most 100 hits. */
void search_results_sort(struct search_results *results, Renga__V1__SearchHit *const *hits, size_t count, size_t most);

/* Writes them as items of the list that is being written, in the order of the hits. Further paragraphs of a document
 * stand behind its first paragraph, as many of their whole sentences as fit. */
void search_results_write(const struct search_results *results, struct json_writer *out);

#endif
