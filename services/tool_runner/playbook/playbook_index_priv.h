/* The parts of the index. Private to playbook_index.c, playbook_postings.c and playbook_rank.c. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_INDEX_PRIV_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_INDEX_PRIV_H

#include "playbook/playbook_index.h"
#include "playbook/playbook_similar.h"

#define POSTING_WEIGHT_ONE 256 /* weights in postings are multiples of 1 / 256 */

/* A term in a bullet. */
struct playbook_posting {
    uint32_t place;  /* of the bullet in `bullets` */
    uint16_t halves; /* twice the times in the content, more 1 if it is in the section */
    uint16_t weight; /* in the content, for similarity */
};

struct playbook_index_term {
    uint64_t hash;
    struct playbook_posting *postings;
    uint32_t count, room;
};

struct playbook_index_bullet {
    struct playbook_bullet *bullet; /* held; NULL: the place is free */
    uint32_t *terms;                /* their numbers */
    uint32_t term_count;
    uint32_t length; /* terms of its content */
    uint32_t mark;   /* of the update that saw it last */
    float weight;    /* of all terms of its content */
    int64_t asked_ns;
    struct playbook_vector {
        unsigned dimensions;
        float scale;
        int8_t values[];
    } * vector;
};

struct playbook_index {
    struct playbook_index_bullet *bullets;
    size_t places, room, count; /* used and free places; room for them; bullets */
    uint64_t length;            /* of all bullets */
    struct playbook_index_term *terms;
    size_t term_count, term_room, empty_terms;
    uint32_t *by_hash; /* number of the term + 1 */
    size_t hash_mask;
    uint32_t *by_id; /* place + 1 */
    size_t id_mask;
    float *scores; /* by place; scratch of a search */
    uint32_t mark;
    size_t bytes;
    int64_t revision; /* of the last indexed playbook; 0: not indexed yet */
};

/* Memory that is counted. */
void *playbook_index_resize(struct playbook_index *index, void *memory, size_t before, size_t after);

/* ---- playbook_postings.c: the terms of bullets ------------------------------------------------------------------- */

/* NULL: no bullet has it. */
const struct playbook_index_term *playbook_postings_find(const struct playbook_index *index, uint64_t hash);
/* Fills in terms, length and weight of a place that has its bullet; and the contrary. */
void playbook_postings_add(struct playbook_index *index, uint32_t place);
void playbook_postings_remove(struct playbook_index *index, uint32_t place);
void playbook_postings_clear(struct playbook_index *index);

/* The place of an id, or -1. */
int64_t playbook_index_place(const struct playbook_index *index, const char *id, size_t length);

#endif
