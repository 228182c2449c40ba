/* Turns of a conversation as they stand in a state, and as the gateway takes them:
 *
 *     {"role": "user", "content": "…"}
 *     {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "search", "arguments": "{…}"}]}
 *     {"role": "tool", "tool_call_id": "c1", "content": "…", "tool_failed": true}
 */
#ifndef RENGA_ORCHESTRATOR_TURNS_H
#define RENGA_ORCHESTRATOR_TURNS_H

#include "base/arena.h"
#include "base/status.h"
#include "json/writer.h"

#include "renga/v1/chat.pb-c.h"

#define TURNS_MAX 1000 /* of a list; ChatRequest takes 1,024 */

/* A conversation that grows by turns, in an arena. */
struct turns {
    struct arena *arena;
    Renga__V1__ChatMessage **list;
    size_t count, room;
};
/* Room for `room` turns. False if the arena is out of memory. */
bool turns_init(struct turns *turns, struct arena *arena, size_t room, struct status *st);

/* Reads the turns of a list of objects. `plain` leaves out the turns of tools and the turns that call tools. */
bool turns_read(struct turns *turns, const cJSON *list, bool plain, struct status *st);
/* `content` is borrowed. */
bool turns_add(struct turns *turns, Renga__V1__ChatRole role, const char *content, struct status *st);

/* `turn` is borrowed. */
bool turns_put(struct turns *turns, Renga__V1__ChatMessage *turn, struct status *st);
/* The last turn that calls tools; NULL: no turn calls tools. */
const Renga__V1__ChatMessage *turns_last_caller(const struct turns *turns);

/* Writes a turn in the form that a state has. */
void turn_write(struct json_writer *out, const Renga__V1__ChatMessage *turn);

#endif
