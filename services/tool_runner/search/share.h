/* Places at a source for requests of a tenant: at most half of the source's `concurrency`, so that no tenant takes all
 * of them. Callers without a tenant, and sources without that limit, have no share. Any thread. */
#ifndef RENGA_TOOL_RUNNER_SHARE_H
#define RENGA_TOOL_RUNNER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct search_shares;

/* For a source of so many places; 0: without that limit. NULL: no memory. */
struct search_shares *search_shares_create(int64_t concurrency);
/* When no request is under way. */
void search_shares_destroy(struct search_shares **shares);

/* Takes a place for the tenant. False: the tenant has its share already. Each place that is taken is left again. */
bool search_share_take(struct search_shares *shares, const char *tenant);
void search_share_leave(struct search_shares *shares, const char *tenant);

#endif
