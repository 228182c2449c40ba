#include "token_buffer.h"
#include "thread/memory.h"

#include "base/buffer.h"

#include <stdlib.h>

#define CHANNEL_ROOM 65 /* with its NUL, as NodeToken.channel */
#define PIECES_FIRST 16
#define AT_ONCE      (TOKEN_BUFFER_BYTES_MAX / 16) /* bytes that go together, so that the rest is seldom moved */

struct piece {
    int64_t id; /* of its last event */
    size_t end; /* where its text ends */
    bool seen;
};
struct token_buffer {
    struct token_buffer *next;
    char channel[CHANNEL_ROOM];
    struct buffer text;
    struct piece *pieces;
    size_t count, room;
};

static struct token_buffer *token_buffer_find(struct token_buffer **token_buffer, const char *channel)
{
    size_t count = 0;
    for (; *token_buffer; token_buffer = &(*token_buffer)->next, count++)
        if (strcmp((*token_buffer)->channel, channel) == 0)
            return *token_buffer;
    if (count == TOKEN_BUFFER_CHANNELS_MAX)
        return NULL;
    *token_buffer = xnonnull(calloc(1, sizeof **token_buffer));
    text_cut_copy((*token_buffer)->channel, CHANNEL_ROOM, channel);
    buffer_init(&(*token_buffer)->text, 2 * TOKEN_BUFFER_BYTES_MAX);
    return *token_buffer;
}

/* At least so many bytes of the front go, up to the end of a piece. */
static void drop_front(struct token_buffer *token_buffer, size_t bytes, size_t pieces)
{
    size_t gone = 0, end = 0;
    while (gone < token_buffer->count && (gone < pieces || end < bytes))
        end = token_buffer->pieces[gone++].end;
    memmove(token_buffer->text.data, token_buffer->text.data + end, token_buffer->text.length - end);
    token_buffer->text.length -= end;
    token_buffer->count -= gone;
    memmove(token_buffer->pieces, token_buffer->pieces + gone, token_buffer->count * sizeof *token_buffer->pieces);
    for (size_t i = 0; i < token_buffer->count; i++)
        token_buffer->pieces[i].end -= end;
}

static struct piece *add_piece(struct token_buffer *token_buffer)
{
    if (token_buffer->count == TOKEN_BUFFER_PIECES_MAX)
        drop_front(token_buffer, 0, TOKEN_BUFFER_PIECES_MAX / 2);
    if (token_buffer->count == token_buffer->room) {
        token_buffer->room = token_buffer->room ? 2 * token_buffer->room : PIECES_FIRST;
        token_buffer->pieces =
            xnonnull(realloc(token_buffer->pieces, token_buffer->room * sizeof *token_buffer->pieces));
    }
    return &token_buffer->pieces[token_buffer->count++];
}

/* Pieces that no watcher has seen become a single piece, since no watcher comes back with an id between them. A piece
 * stays small beside the whole text, so that the front can be dropped without the rest. */
void token_buffer_add(struct token_buffer **token_buffer, int64_t id, const char *text, const char *channel, bool seen)
{
    struct token_buffer *one = token_buffer_find(token_buffer, channel);
    size_t size = strlen(text);
    if (!one || size > TOKEN_BUFFER_BYTES_MAX)
        return;
    if (one->text.length + size > TOKEN_BUFFER_BYTES_MAX)
        drop_front(one, one->text.length + size - TOKEN_BUFFER_BYTES_MAX + AT_ONCE, 0);
    size_t begins = one->count > 1 ? one->pieces[one->count - 2].end : 0;
    struct piece *last = one->count ? &one->pieces[one->count - 1] : NULL;
    if (!last || seen || last->seen || one->text.length - begins > AT_ONCE)
        last = add_piece(one);
    buffer_append(&one->text, text, size);
    *last = (struct piece){.id = id, .end = one->text.length, .seen = seen};
}

void token_buffer_free(struct token_buffer **token_buffer)
{
    while (*token_buffer) {
        struct token_buffer *one = *token_buffer;
        *token_buffer = one->next;
        buffer_fini(&one->text);
        free(one->pieces);
        free(one);
    }
}

struct token_buffer *token_buffer_next(struct token_buffer *token_buffer)
{
    return token_buffer->next;
}

const char *token_buffer_channel(const struct token_buffer *token_buffer)
{
    return token_buffer->channel;
}

const char *token_buffer_since(struct token_buffer *token_buffer, int64_t after)
{
    size_t from = 0;
    for (size_t i = 0; i < token_buffer->count && token_buffer->pieces[i].id <= after; i++)
        from = token_buffer->pieces[i].end;
    return buffer_text(&token_buffer->text) + from;
}
