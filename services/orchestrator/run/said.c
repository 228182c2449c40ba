#include "said.h"

#include "base/buffer.h"
#include "run_priv.h"

#include <stdlib.h>

#define CHANNEL_ROOM 65 /* with its NUL, as NodeToken.channel */
#define PIECES_FIRST 16
#define AT_ONCE      (SAID_BYTES_MAX / 16) /* bytes that go together, so that the rest is seldom moved */

struct piece {
    int64_t id; /* of its last event */
    size_t end; /* where its text ends */
    bool seen;
};
struct said {
    struct said *next;
    char channel[CHANNEL_ROOM];
    struct buffer text;
    struct piece *pieces;
    size_t count, room;
};

static struct said *find(struct said **said, const char *channel)
{
    size_t count = 0;
    for (; *said; said = &(*said)->next, count++)
        if (strcmp((*said)->channel, channel) == 0)
            return *said;
    if (count == SAID_CHANNELS_MAX)
        return NULL;
    *said = need(calloc(1, sizeof **said));
    text_cut_copy((*said)->channel, CHANNEL_ROOM, channel);
    buffer_init(&(*said)->text, 2 * SAID_BYTES_MAX);
    return *said;
}

/* At least so many bytes of the front go, up to the end of a piece. */
static void drop_front(struct said *said, size_t bytes, size_t pieces)
{
    size_t gone = 0, end = 0;
    while (gone < said->count && (gone < pieces || end < bytes))
        end = said->pieces[gone++].end;
    memmove(said->text.data, said->text.data + end, said->text.length - end);
    said->text.length -= end;
    said->count -= gone;
    memmove(said->pieces, said->pieces + gone, said->count * sizeof *said->pieces);
    for (size_t i = 0; i < said->count; i++)
        said->pieces[i].end -= end;
}

static struct piece *add_piece(struct said *said)
{
    if (said->count == SAID_PIECES_MAX)
        drop_front(said, 0, SAID_PIECES_MAX / 2);
    if (said->count == said->room) {
        said->room = said->room ? 2 * said->room : PIECES_FIRST;
        said->pieces = need(realloc(said->pieces, said->room * sizeof *said->pieces));
    }
    return &said->pieces[said->count++];
}

/* Pieces that nobody has seen are one: nobody comes back with an id between them. One stays small beside the whole, so
 * that the front can go without the rest. */
void said_add(struct said **said, int64_t id, const char *text, const char *channel, bool seen)
{
    struct said *one = find(said, channel);
    size_t size = strlen(text);
    if (!one || size > SAID_BYTES_MAX)
        return;
    if (one->text.length + size > SAID_BYTES_MAX)
        drop_front(one, one->text.length + size - SAID_BYTES_MAX + AT_ONCE, 0);
    size_t begins = one->count > 1 ? one->pieces[one->count - 2].end : 0;
    struct piece *last = one->count ? &one->pieces[one->count - 1] : NULL;
    if (!last || seen || last->seen || one->text.length - begins > AT_ONCE)
        last = add_piece(one);
    buffer_append(&one->text, text, size);
    *last = (struct piece){.id = id, .end = one->text.length, .seen = seen};
}

void said_free(struct said **said)
{
    while (*said) {
        struct said *one = *said;
        *said = one->next;
        buffer_fini(&one->text);
        free(one->pieces);
        free(one);
    }
}

struct said *said_next(struct said *said)
{
    return said->next;
}

const char *said_channel(const struct said *said)
{
    return said->channel;
}

const char *said_since(struct said *said, int64_t after)
{
    size_t from = 0;
    for (size_t i = 0; i < said->count && said->pieces[i].id <= after; i++)
        from = said->pieces[i].end;
    return buffer_text(&said->text) + from;
}
