/* Private to the orchestrator: the tokens of an attempt so far, for watchers that come in the middle of it. Bounded: of
 * a long text the end is kept. It goes with its attempt; afterwards the text is in the update. */
#ifndef RENGA_ORCHESTRATOR_TOKEN_BUFFER_H
#define RENGA_ORCHESTRATOR_TOKEN_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_buffer;

#define TOKEN_BUFFER_BYTES_MAX    ((size_t)65536) /* of a channel, as NodeToken.text */
#define TOKEN_BUFFER_CHANNELS_MAX 8
#define TOKEN_BUFFER_PIECES_MAX   4096 /* that can be told apart by their event's id */

struct token_buffer; /* the texts of an attempt, one a channel; NULL: no text */

/* A piece, with the id of its event. `seen`: it is sent to a watcher, which may come back with that id. */
void token_buffer_add(struct token_buffer **token_buffer, int64_t id, const char *text, const char *channel, bool seen);
void token_buffer_free(struct token_buffer **token_buffer);

struct token_buffer *token_buffer_next(struct token_buffer *token_buffer);
const char *token_buffer_channel(const struct token_buffer *token_buffer);
/* The text behind the event of that id; may be "". */
const char *token_buffer_since(struct token_buffer *token_buffer, int64_t after);

#endif
