/* The search index of a playbook, in memory: postings of the terms of its bullets (BM25), the table of their ids, and
 * their vectors. It is brought from one revision to the next: only bullets with changed texts are read again, so that
 * changes of counts are free. One thread at a time (struct playbook_slot has the lock).
 *
 * Bullets are those of a playbook (playbook.h): each embedded in a struct playbook_bullet, which the index holds.
 * Out of memory is fatal: the bounds of a playbook bound the index, to some 40 bytes for each byte of its texts. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_INDEX_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_INDEX_H

#include "knowledge/vectors.h"
#include "playbook/playbook.h"

#define PLAYBOOK_HITS_MAX  100
#define PLAYBOOK_QUERY_MAX ((size_t)65536) /* bytes */

struct playbook_index *playbook_index_create(void);
void playbook_index_destroy(struct playbook_index **index);

/* Makes it the index of these bullets. */
void playbook_index_update(struct playbook_index *index, Renga__V1__Bullet *const *bullets, size_t count);

/* Makes it the index of a revision of its playbook: that of the slot which has the index. */
void playbook_index_follow(struct playbook_index *index, const struct playbook *playbook);

size_t playbook_index_bytes(const struct playbook_index *index);
size_t playbook_index_count(const struct playbook_index *index);

struct playbook_hit {
    Renga__V1__Bullet *bullet; /* the index's; good while the caller holds the playbook */
    double score;              /* 0 to 1 */
};

/* A search. At most `room` hits, at most PLAYBOOK_HITS_MAX, best first; returns their number. Bullets with an id in the
 * query come first, in the order of the query. The others are ranked by words, by the nearness of their vectors, or by
 * both (reciprocal rank fusion); in each list, relevance is multiplied by playbook_search_weight.
 *
 * `vector`: that of the query; NULL: words only. `by_words` false: vectors only. Bullets without a vector of the
 * same dimensions are found by words alone. */
struct playbook_query {
    const char *text; /* at most PLAYBOOK_QUERY_MAX bytes */
    const struct vector *vector;
    bool by_words;
};
size_t playbook_index_search(struct playbook_index *index, const struct playbook_query *query,
                             struct playbook_hit *hits, size_t room);

/* The bullets most similar to a text, best first, at most `room`: with a similarity (playbook_similar.h) of at least
 * `least`, exact to 0.01. Returns their number. */
size_t playbook_index_similar(struct playbook_index *index, const char *content, double least,
                              struct playbook_hit *hits, size_t room);

/* ---- vectors ------------------------------------------------------------------------------------------------------*/

/* At most `room` bullets that have no vector, and that no search took within the last minute (clock_now_ns); returns
 * their number. With `take` they are taken, so that two searches do not pay for the same vector. */
size_t playbook_index_missing(struct playbook_index *index, Renga__V1__Bullet **bullets, size_t room, int64_t now_ns,
                              bool take);

/* The vector of a bullet, if the index still has the bullet with that content. */
void playbook_index_set_vector(struct playbook_index *index, const Renga__V1__Bullet *bullet,
                               const struct vector *vector);

#endif
