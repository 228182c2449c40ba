/* Where one field's value lives. Private to state/.
 *
 * Whole values are one piece of JSON text. Lists (and the members of an object that is merged) are pieces of their own,
 * so that appending one costs one. Of messages and of members there is an index by key. */
#ifndef RENGA_ORCHESTRATOR_SLOT_H
#define RENGA_ORCHESTRATOR_SLOT_H

#include "graph/graph.h"

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* JSON text; of a member or a message also the key it goes by. Its own allocation. */
struct piece {
    uint32_t size, key_size, hash;
    char bytes[]; /* the key, then the text */
};

struct slot {
    bool present;
    struct piece *whole;   /* of what is no list */
    struct piece **pieces; /* of lists, and of objects that are merged */
    size_t count, capacity;
    uint32_t *places; /* by key: open addressing, position + 1; NULL: no keys */
    size_t place_count;
};

struct text {
    const char *bytes;
    size_t size;
};

static inline struct text piece_text(const struct piece *piece)
{
    return (struct text){piece->bytes + piece->key_size, piece->size};
}

static inline struct text piece_key(const struct piece *piece)
{
    return (struct text){piece->bytes, piece->key_size};
}

/* Whether the field is kept in pieces, and whether they have keys. */
static inline bool field_in_pieces(const struct field *field)
{
    return field->list || field->reducer == REDUCE_MERGE;
}
static inline bool field_has_keys(const struct field *field)
{
    return field->reducer == REDUCE_MERGE || field->reducer == REDUCE_MESSAGES;
}

/* To nothing at all. */
void slot_clear(struct slot *slot);
void slot_set(struct slot *slot, struct text text);

/* It is there, be it without pieces. */
void slot_open(struct slot *slot);
/* `key` is empty for pieces without one. */
void slot_append(struct slot *slot, struct text key, struct text text);
/* The position of a key; SIZE_MAX where there is none. */
size_t slot_find(const struct slot *slot, struct text key);
void slot_replace(struct slot *slot, size_t position, struct text text);
void slot_remove(struct slot *slot, size_t position);

/* As JSON: the whole, or a list or object of the pieces. */
void slot_write(const struct slot *slot, const struct field *field, struct buffer *out);

#endif
