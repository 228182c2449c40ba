/* The storage of a field's value. Private to state/.
 *
 * Whole values are a single piece of JSON text. Lists (and the members of an object that is merged) are pieces of their
 * own, so that appending a piece costs O(1). Of messages and of members there is an index by key. */
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
    struct piece *whole;          /* of values other than lists */
    struct piece **pieces;        /* of lists, and of objects that are merged */
    size_t text_bytes, key_bytes; /* of all pieces as JSON: texts with their commas, keys with quotes and colons */
    size_t count, capacity;
    size_t lowest_gap; /* position of the first piece that was taken away; valid while there are gaps */
    size_t gaps;       /* pieces that were taken away and still have their position, NULL each */
    uint32_t *places;  /* by key: open addressing, position + 1; NULL: no keys */
    size_t place_count;
    uint32_t *ranks; /* a Fenwick tree of the pieces that are there; NULL: no gaps, or no position was requested */
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

/* Makes it absent. */
void slot_clear(struct slot *slot);
void slot_set(struct slot *slot, struct text text);

/* `to` is empty. O(pieces). */
void slot_copy(struct slot *to, const struct slot *from, bool by_key);

/* It is there, be it without pieces. */
void slot_open(struct slot *slot);
/* Room for so many pieces more, and in the index of their keys: as they are appended, no table grows. */
void slot_reserve(struct slot *slot, size_t more, bool by_key);
/* `key.bytes` is NULL for pieces without a key; all pieces of a slot have keys, or all have no key. */
void slot_append(struct slot *slot, struct text key, struct text text);
/* The position of a key; SIZE_MAX if it is absent. */
size_t slot_find(const struct slot *slot, struct text key);
void slot_replace(struct slot *slot, size_t position, struct text text);

/* Leaves a gap: other pieces keep their positions until slot_close_gaps, which takes O(pieces) for all gaps together.
 * Between the two, slot_find, slot_at, slot_append, slot_replace and slot_remove alone may be called. */
void slot_remove(struct slot *slot, size_t position);
/* The position of the piece that has so many others before it, gaps left out; SIZE_MAX if there are no more. O(log n).
 */
size_t slot_at(struct slot *slot, size_t before);
void slot_close_gaps(struct slot *slot);

/* The bytes that slot_write writes at most: escapes of control characters are counted as six bytes. */
size_t slot_bytes(const struct slot *slot, const struct field *field);

/* The part of a single piece in it. */
size_t slot_piece_bytes(const struct field *field, struct text key, struct text text);

/* As JSON: the whole, or a list or object of the pieces. */
void slot_write(const struct slot *slot, const struct field *field, struct buffer *out);

#endif
