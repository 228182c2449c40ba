/* An ordered map in memory: a skip list whose lowest level is doubly linked. Nodes are made before they are inserted,
 * so that a change of many cannot fail halfway. One writer or many readers; the owner ensures that. */
#ifndef RENGA_STORE_ORDERED_H
#define RENGA_STORE_ORDERED_H

#include "store/store.h"

#define ORDERED_LEVELS_MAX 20 /* a quarter of the nodes of a level are in the next: enough for any memory */

struct ordered_node {
    struct store_bytes key, value; /* behind the node, in the same allocation */
    struct ordered_node *previous;
    unsigned levels;
    struct ordered_node *next[];
};

struct ordered {
    struct ordered_node *first[ORDERED_LEVELS_MAX];
    struct ordered_node *last;
    uint64_t dice;
};

void ordered_init(struct ordered *map);
void ordered_fini(struct ordered *map);

/* With copies of both; NULL when memory runs out. Belongs to the caller until it is inserted. */
struct ordered_node *ordered_node_create(struct ordered *map, struct store_bytes key, struct store_bytes value);

/* Takes the place of a node with its key. */
void ordered_put(struct ordered *map, struct ordered_node *node);
/* From `from` on, up to and without `to`; `to` of no bytes: to the end. */
void ordered_delete_range(struct ordered *map, struct store_bytes from, struct store_bytes to);
void ordered_delete(struct ordered *map, struct store_bytes key);

struct ordered_node *ordered_find(const struct ordered *map, struct store_bytes key); /* or NULL */
/* The first node with `key` or greater, or NULL. */
struct ordered_node *ordered_from(const struct ordered *map, struct store_bytes key);
/* The last node with a key less than `key` (of no bytes: the last of all), or NULL. */
struct ordered_node *ordered_before(const struct ordered *map, struct store_bytes key);

#endif
