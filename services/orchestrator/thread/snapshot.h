/* Private to the orchestrator: the lasting part of a thread as a row, made and read. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_SNAPSHOT_H
#define RENGA_ORCHESTRATOR_SNAPSHOT_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct state;
struct status;
struct thread;

bool snapshot_possible(const struct thread *thread);

/* A snapshot that is not packed yet. A state is copied once, by snapshot_pack, straight into the row. Until then
 * `data` of its bytes is a mark that is not read: the address of the state. */
struct snapshot {
    Renga__V1__ThreadSnapshot *message;
    const struct state **states; /* in the order of their bytes in the message; states without bytes are left out */
    size_t state_count;
};

/* In the arena, and for as long as the thread does not change. O(pieces of the states): their values are not read. */
struct snapshot snapshot_make(const struct thread *thread, struct arena *arena);
/* Writes the packed message, protobuf_c_message_get_packed_size bytes, in one pass from front to back. */
void snapshot_pack(const struct snapshot *snapshot, uint8_t *bytes);
/* `state`: of its own graph, taken over; NULL: it is read here. */
bool snapshot_read(struct thread *thread, const Renga__V1__ThreadSnapshot *snapshot, uint64_t number,
                   struct state **state, struct status *st);

#endif
