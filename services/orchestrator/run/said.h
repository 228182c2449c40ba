/* Private to run/: what an attempt has written so far, for watchers that come in the middle of it. Bounded: of a long
 * text the end is kept. It goes with its attempt; afterwards the text stands in the update. */
#ifndef RENGA_ORCHESTRATOR_SAID_H
#define RENGA_ORCHESTRATOR_SAID_H

#include <stdbool.h>
#include <stdint.h>

#define SAID_BYTES_MAX    ((size_t)65536) /* of a channel, as NodeToken.text */
#define SAID_CHANNELS_MAX 8
#define SAID_PIECES_MAX   4096 /* that can be told apart by their event's id */

struct said; /* the texts of an attempt, one a channel; NULL: none */

/* A piece, with the id of its event. `seen`: it is shown to somebody, who may come back with that id. */
void said_add(struct said **said, int64_t id, const char *text, const char *channel, bool seen);
void said_free(struct said **said);

struct said *said_next(struct said *said);
const char *said_channel(const struct said *said);
/* What was written behind the event of that id; "" where that is nothing. */
const char *said_since(struct said *said, int64_t after);

#endif
