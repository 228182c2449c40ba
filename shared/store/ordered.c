#include "store/ordered.h"

#include "base/random.h"
#include "store/store_priv.h"

#include <stdlib.h>
#include <string.h>

void ordered_init(struct ordered *map)
{
    *map = (struct ordered){.dice = random_u64() | 1};
}

void ordered_fini(struct ordered *map)
{
    for (struct ordered_node *node = map->first[0], *next; node != NULL; node = next) {
        next = node->next[0];
        free(node);
    }
    *map = (struct ordered){0};
}

/* xorshift64: the random state belongs to the map, so that no thread needs its own. */
static unsigned roll_levels(struct ordered *map)
{
    map->dice ^= map->dice << 13;
    map->dice ^= map->dice >> 7;
    map->dice ^= map->dice << 17;
    unsigned levels = 1;
    for (uint64_t rest = map->dice >> 8; (rest & 3) == 0 && levels < ORDERED_LEVELS_MAX; rest >>= 2)
        levels++;
    return levels;
}

static struct store_bytes ordered_place(char *at, struct store_bytes bytes)
{
    if (bytes.size > 0)
        memcpy(at, bytes.bytes, bytes.size);
    return (struct store_bytes){at, bytes.size};
}

struct ordered_node *ordered_node_create(struct ordered *map, struct store_bytes key, struct store_bytes value)
{
    unsigned levels = roll_levels(map);
    size_t head = sizeof(struct ordered_node) + levels * sizeof(struct ordered_node *);
    struct ordered_node *node = malloc(head + key.size + value.size);
    if (node == NULL)
        return NULL;
    char *behind = (char *)node + head;
    *node = (struct ordered_node){.levels = levels, .key = ordered_place(behind, key)};
    node->value = ordered_place(behind + key.size, value);
    return node;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* The address of the pointer to the first node with `key` or greater, on each level; returns that node. */
static struct ordered_node *find_links(struct ordered *map, struct store_bytes key, struct ordered_node ***links)
{
    struct ordered_node **next = map->first;
    for (unsigned level = ORDERED_LEVELS_MAX; level-- > 0;) {
        while (next[level] != NULL && store_bytes_compare(next[level]->key, key) < 0)
            next = next[level]->next;
        links[level] = &next[level];
    }
    return *links[0];
}

static struct ordered_node *last_before(const struct ordered *map, struct store_bytes key)
{
    struct ordered_node *node = NULL;
    for (unsigned level = ORDERED_LEVELS_MAX; level-- > 0;) {
        struct ordered_node *next = node != NULL ? node->next[level] : map->first[level];
        while (next != NULL && store_bytes_compare(next->key, key) < 0) {
            node = next;
            next = node->next[level];
        }
    }
    return node;
}

struct ordered_node *ordered_before(const struct ordered *map, struct store_bytes key)
{
    return key.size == 0 ? map->last : last_before(map, key);
}

struct ordered_node *ordered_from(const struct ordered *map, struct store_bytes key)
{
    struct ordered_node *before = last_before(map, key);
    return before != NULL ? before->next[0] : map->first[0];
}

struct ordered_node *ordered_find(const struct ordered *map, struct store_bytes key)
{
    struct ordered_node *node = ordered_from(map, key);
    return node != NULL && store_bytes_compare(node->key, key) == 0 ? node : NULL;
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

/* `node` is the one that all `links` of its levels lead to. */
static void ordered_take_out(struct ordered *map, struct ordered_node *node, struct ordered_node ***links)
{
    for (unsigned level = 0; level < node->levels; level++)
        *links[level] = node->next[level];
    if (node->next[0] != NULL)
        node->next[0]->previous = node->previous;
    else
        map->last = node->previous;
    free(node);
}

void ordered_put(struct ordered *map, struct ordered_node *node)
{
    struct ordered_node **links[ORDERED_LEVELS_MAX];
    struct ordered_node *there = find_links(map, node->key, links);
    if (there != NULL && store_bytes_compare(there->key, node->key) == 0)
        ordered_take_out(map, there, links);
    struct ordered_node *next = *links[0];
    node->previous = next != NULL ? next->previous : map->last;
    for (unsigned level = 0; level < node->levels; level++) {
        node->next[level] = *links[level];
        *links[level] = node;
    }
    if (next != NULL)
        next->previous = node;
    else
        map->last = node;
}

void ordered_delete(struct ordered *map, struct store_bytes key)
{
    struct ordered_node **links[ORDERED_LEVELS_MAX];
    struct ordered_node *there = find_links(map, key, links);
    if (there != NULL && store_bytes_compare(there->key, key) == 0)
        ordered_take_out(map, there, links);
}

void ordered_delete_range(struct ordered *map, struct store_bytes from, struct store_bytes to)
{
    struct ordered_node **links[ORDERED_LEVELS_MAX];
    struct ordered_node *node = find_links(map, from, links);
    while (node != NULL && (to.size == 0 || store_bytes_compare(node->key, to) < 0)) {
        struct ordered_node *next = node->next[0];
        ordered_take_out(map, node, links);
        node = next;
    }
}
