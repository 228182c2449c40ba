/* Merges the lists of several sources by rank: reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009). Scores
 * of different engines do not compare; ranks do.
 *
 *      score(page) = sum over the lists of 61 / (60 + its rank there), divided by the number of lists: 0 to 1 */
#ifndef RENGA_TOOL_RUNNER_FUSE_H
#define RENGA_TOOL_RUNNER_FUSE_H

#include "base/arena.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

#define FUSE_LISTS_MAX 64
#define FUSE_HITS_MAX  1024 /* of all lists; more are left out */

struct fuse_list {
    Renga__V1__SearchHit *const *hits; /* best first */
    size_t count;
    bool of_web;       /* addresses that are not http or https are left out */
    bool keeps_scores; /* if this is the only list, its scores stay */
};

/* A single hit for each address (canonical.h; a hit with a collection: for each of its paragraphs), best first, at most
 * `room`; equal scores in the order of the lists. The better ranked hit stays, with the other's title, text and date if
 * it lacks them. Hits are copies in the arena; their texts are not copied. Returns the number of hits; 0
 * with arena->exhausted if memory is out. */
size_t fuse_lists(struct arena *arena, const struct fuse_list *lists, size_t count, Renga__V1__SearchHit **hits,
                  size_t room);

#endif
