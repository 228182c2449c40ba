/* The state of a graph: a value for each declared field, and how writes change it.
 *
 *      a node's update --write_parse--> checked writes --state_reduce--> the state, changed, and a delta: what changed
 *                                                                        |
 *      the log keeps deltas, and now and then a snapshot  <--------------'
 *      state_apply(delta) on the state before gives the state after: no reducer runs again
 *
 * What a step costs depends on what it writes, never on how much the state holds: lists grow in place, a delta of an
 * append has only the new items. A value is JSON text that was checked once. A state belongs to one loop. */
#ifndef RENGA_ORCHESTRATOR_STATE_H
#define RENGA_ORCHESTRATOR_STATE_H

#include "graph/graph.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_writer.h"

/* Bytes of one field as GetState answers it and as a node is sent it: {"NAME":VALUE}. It leaves room for the rest of a
 * message of 4 MiB, gRPC's own limit. A greater field could be written and never be read again. */
#define FIELD_BYTES_MAX ((size_t)3145728)

struct state;

/* Every field as the document begins it. */
struct state *state_create(const struct graph *graph);
void state_destroy(struct state **state);
const struct graph *state_graph(const struct state *state);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* What one node, or a person, wants written: in the order of the fields' writes. In an arena. */
struct write {
    const char *node;
    struct field_write *fields;
    size_t count;
};

/* Of update_json (an object; "" is "{}"), with the fields that pass their reducer and those that are set back.
 * INVALID_ARGUMENT names node, field and value: an unknown field (with the nearest name), a wrong type, a string that
 * is none of the field's values, a field that is both cleared and written; not JSON, not UTF-8, too deep. */
struct write_source {
    const char *node;
    const char *update_json;
    size_t update_size;
    char *const *overwrite_fields, *const *clear_fields;
    size_t overwrite_count, clear_count;
    uint64_t seed; /* of the ids that messages without one get, so that a log can be read again; 0: drawn */
};
bool write_parse(const struct graph *graph, const struct write_source *source, struct arena *arena, struct write *write,
                 struct status *st);

/* The number of the field that a write of it changes; `index` below its count. */
size_t write_field_index(const struct write *write, size_t index);

/* Whether the writes of one step go together, and fit into the state. ABORTED with a text that names field, nodes,
 * sizes and limit if
 *  - one overwrites or clears a field that another one writes too: the result would depend on the order of the nodes;
 *  - one removes a message with an id that is not there, neither in the state nor by an earlier write of the step;
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

/* The same change once more, from its encoding. DATA_LOSS where it cannot be read. */
bool state_apply(struct state *state, const void *delta, size_t size, struct status *st);

/* The whole as one delta, to be applied to a new state. */
void state_snapshot(const struct state *state, struct buffer *out);

/* The values of one state into a new one of another graph. What does not fit is told, each with a text that names the
 * field; then the new one has the rest, and false is returned. A field that stands as the document begins it is not
 * missed. */
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

/* One field's JSON, appended; false where it is not there. Items of a list one by one. */
bool state_value(const struct state *state, const struct field *field, struct buffer *out);
size_t state_list_length(const struct state *state, const struct field *field);
bool state_list_item(const struct state *state, const struct field *field, size_t index, struct buffer *out);

#endif
