/* The state of a graph: a value for each declared field, and how writes change it.
 *
 *      a node's update --write_parse--> checked writes --state_reduce--> the state, changed, and a delta: what changed
 *                                                                        |
 *      the log keeps deltas, and now and then a snapshot  <--------------'
 *      state_apply(delta) on the state before gives the state after: no reducer runs again
 *
 * The cost of a step depends on its writes, never on the size of the state: lists grow in place, a delta of an
 * append has only the new items. A value is JSON text that was checked once. A state belongs to one loop. */
#ifndef RENGA_ORCHESTRATOR_STATE_H
#define RENGA_ORCHESTRATOR_STATE_H

#include "graph/graph.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"

/* Bytes of a field in the answer of GetState and in the request of a node: {"NAME":VALUE}. It leaves room for the rest
 * of a message of 4 MiB, gRPC's own limit. A greater field could be written and never be read again. */
#define FIELD_BYTES_MAX ((size_t)3145728)

struct state;

/* Every field as the document begins it. */
struct state *state_create(const struct graph *graph);
void state_destroy(struct state **state);

/* The values of a state that is gone, to be freed in parts: a state of 100,000 pieces takes milliseconds. */
struct state_values;
size_t state_pieces(const struct state *state);
/* Takes the state, and does not need its graph any more. */
struct state_values *state_detach(struct state **state);
/* Frees so many pieces at most; true if these were the last, and `values` is gone. */
bool state_values_free(struct state_values *values, size_t pieces);

const struct graph *state_graph(const struct state *state);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The writes of a node, or of a person, in the order of the fields. In an arena. */
struct write {
    const char *node;
    struct field_write *fields;
    size_t count;
};

/* Of update_json (an object; "" is "{}"), with the fields that pass their reducer and those that are set back.
 * INVALID_ARGUMENT names node, field and value: an unknown field (with the nearest name), a wrong type, a string that
 * is not among the field's values, a field that is both cleared and written; not JSON, not UTF-8, too deep. */
struct write_source {
    const char *node;
    const char *update_json;
    size_t update_size;
    char *const *overwrite_fields, *const *clear_fields;
    size_t overwrite_count, clear_count;
    uint64_t seed; /* of the ids that messages without an id get, so that a log can be read again; 0: drawn */
};
bool write_parse(const struct graph *graph, const struct write_source *source, struct arena *arena, struct write *write,
                 struct status *st);

/* The number of the field that a write of it changes; `index` below its count. */
size_t write_field_index(const struct write *write, size_t index);

/* Whether the writes of a step are compatible, and fit into the state. ABORTED with a text that names field, nodes,
 * sizes and limit if
 *  - a write overwrites or clears a field that another node writes too: the result would depend on the order of the
 * nodes;
 *  - a write removes a message with an unknown id, neither in the state nor in an earlier write of the step;
 *  - a field would have more than FIELD_BYTES_MAX.
 * Ask it before each new change. A change that is read from the log was taken when it was made: it is reduced again
 * without this question, so that logs of older releases stay readable. */
bool state_takes(const struct state *state, const struct write *writes, size_t count, struct status *st);

/* Reduces the writes in their order. Two plain writes (REPLACE, or overwriting) to one field are ABORTED, naming the
 * field and both nodes; then the state is as it was. `delta` gets the changes, encoded; NULL: it is not wanted.
 * `changed` (a bit a field, may be NULL) too, with a `delta` alone. */
bool state_reduce(struct state *state, const struct write *writes, size_t count, struct buffer *delta,
                  uint64_t *changed, struct status *st);

/* The same in two parts, for a worker thread: state_prepare makes the fields that the writes change, and may run beside
 * readers of the state. NULL: as state_reduce, and the state is unchanged. state_take puts them into the state, which
 * must not have changed since: O(fields of the graph). Afterwards the change holds the values before. */
struct state_change;
struct state_change *state_prepare(const struct state *state, const struct write *writes, size_t count,
                                   struct status *st);
void state_take(struct state *state, struct state_change *change);
void state_change_destroy(struct state_change **change);

/* The same change once more, from its encoding. DATA_LOSS if it cannot be read. */
bool state_apply(struct state *state, const void *delta, size_t size, struct status *st);

/* The whole as a single delta, to be applied to a new state of the same version. Fields with their initial value are
 * left out, as far as that is seen at once; snapshots of older releases have all fields. */
void state_snapshot(const struct state *state, struct buffer *out);
/* The bytes that state_snapshot appends. O(pieces): values are not read. */
size_t state_snapshot_size(const struct state *state);

/* Memory of the caller, in which state_snapshot or state_write writes once, without growing: `size` bytes, which
 * state_snapshot_size or state_size gave, and one more if buffer_text is called. Not for buffer_fini. */
static inline struct buffer state_room(void *memory, size_t size)
{
    return (struct buffer){.data = memory, .capacity = size + 1, .limit = size};
}

/* Moves the values of a state into a new state of another graph. Each misfit is reported with a text that names the
 * field; then the new state has the rest, and false is returned. A field that still has its initial value is not
 * reported as missing. */
bool state_move(const struct state *from, struct state *to, void (*problem)(const char *text, void *data), void *data);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* An object with these fields, those that are there; NULL: all. Gives its bytes, so that limits can be checked. */
void state_write(const struct state *state, const struct field *const *fields, size_t count, struct json_writer *out);

/* The bytes of that object at most; O(fields). */
size_t state_size(const struct state *state, const struct field *const *fields, size_t count);

/* Bytes of memory that it takes, about. O(fields). */
size_t state_memory(const struct state *state);

/* The three largest of these fields with their bytes, for errors: "'a' has 3000000 bytes, 'b' has 2400000 bytes". */
void state_tell_largest(const struct state *state, const struct field *const *fields, size_t count, char *text,
                        size_t room);

/* Appends a field's JSON; false if it is absent. Items of a list singly. */
bool state_value(const struct state *state, const struct field *field, struct buffer *out);
size_t state_list_length(const struct state *state, const struct field *field);
bool state_list_item(const struct state *state, const struct field *field, size_t index, struct buffer *out);

#endif
