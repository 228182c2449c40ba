/* Private to state/. */
#ifndef RENGA_ORCHESTRATOR_STATE_PRIV_H
#define RENGA_ORCHESTRATOR_STATE_PRIV_H

#include "slot.h"
#include "state.h"

#define STATE_INITIAL_MAX ((size_t)16 << 20) /* bytes, while a field is set back to how its document begins it */

struct state {
    const struct graph *graph;
    struct slot slots[]; /* a slot per field */
};

enum write_op { WRITE_REDUCE, WRITE_OVERWRITE, WRITE_CLEAR };

/* An item, a member or a message that was written. */
struct written {
    struct text key, text;
    bool removed; /* a message that is to go */
    bool unnamed; /* it came without an id, and has an id of ours */
};

/* The write of a single field: checked, in the arena of the write. */
struct field_write {
    const struct field *field;
    enum write_op op;
    struct text text; /* of a value that is not kept in pieces */
    double number;    /* of sums and maxima */
    struct written *pieces;
    size_t count;
};

/* write.c: the field's initial value in its document; false if the field is absent then. The document's JSON was
 * checked. */
bool write_initial(const struct field *field, struct arena *arena, struct field_write *write);

/* ---- the encoding of changes (delta.c) --------------------------------------------------------------------------- */

/* A change of a field: a letter, the field's name, and arguments that depend on the letter. Numbers are varints.
 *
 *      'S' text                the whole
 *      'A' count (key text)*   pieces behind the last; keys only where the field has them
 *      'P' position text       a piece in the place of another
 *      'R' position            a piece less
 *      'E'                     there, without pieces
 *      'X'                     not there */
void delta_set(struct buffer *delta, const struct field *field, struct text text); /* each: no `delta`, no bytes */
void delta_empty(struct buffer *delta, const struct field *field);
void delta_absent(struct buffer *delta, const struct field *field);
void delta_append(struct buffer *delta, const struct field *field, const struct written *pieces, size_t count);
void delta_pieces(struct buffer *delta, const struct field *field, const struct slot *slot); /* all of a slot, anew */
/* The bytes that delta_absent, delta_set and delta_pieces write. */
size_t delta_bare_size(const struct field *field);
size_t delta_set_size(const struct field *field, struct text text);
size_t delta_pieces_size(const struct field *field, const struct slot *slot);
void delta_replace(struct buffer *delta, const struct field *field, size_t position, struct text text);
void delta_remove(struct buffer *delta, const struct field *field, size_t position);

#endif
