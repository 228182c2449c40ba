/* The player: plays a recorded exchange to one transfer. Like curl, it runs from the loop, never from within a call of
 * the owner. */
#include "base/clock.h"
#include "base/memory.h"
#include "http/cassette_priv.h"
#include "http/client_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct player {
    struct transfer *transfer;
    struct cassette *cassette;
    const struct recorded *recorded; /* of the cassette, which does not change any more */
    struct buffer content;
    size_t piece, offset; /* the next piece, and the offset of its bytes */
    bool headers_done;
    bool waited; /* true once the delay before the next step has passed */
    struct timer timer;
};

static void player_play(struct transfer *transfer);

static void step_is_due(struct timer *timer)
{
    struct player *player = CONTAINER_OF(timer, struct player, timer);
    player->waited = true;
    player_play(player->transfer);
}

void transfer_replay(struct http_client *client, struct transfer *transfer, struct cassette *cassette)
{
    struct player *player = xcalloc(1, sizeof *player);
    player->transfer = transfer;
    player->cassette = cassette;
    player->timer.expired = step_is_due;
    client_admit(client, transfer, player);
}

/* ---- playing ---------------------------------------------------------------------------------------------------- */

/* True if the next step must wait for its delay. */
static bool must_wait(struct player *player, int64_t after_ms)
{
    if (player->waited || after_ms == 0 || !cassette_keeps_delays(player->cassette)) {
        player->waited = false;
        return false;
    }
    loop_arm_after(player->transfer->client->loop, &player->timer, after_ms);
    return true;
}

/* False if the transfer takes no more now. */
static bool play_headers(struct transfer *transfer)
{
    struct player *player = transfer->player;
    if (player->headers_done || !player->recorded->http_status)
        return true;
    if (must_wait(player, player->recorded->after_ms))
        return false;
    player->headers_done = transfer->answered = true;
    transfer->active_ns = clock_now_ns();
    transfer->http_status = player->recorded->http_status;
    if (transfer->headers_received)
        transfer->headers_received(transfer, transfer->http_status);
    return transfer->state == TRANSFER_RUNNING;
}

static bool play_piece(struct transfer *transfer)
{
    struct player *player = transfer->player;
    const struct recorded_piece *piece = &player->recorded->pieces[player->piece];
    const char *bytes = piece->size ? player->recorded->body.data + player->offset : "";
    if (transfer->paused) {
        transfer->held = true;
        return false;
    }
    if (must_wait(player, piece->after_ms))
        return false;
    transfer->active_ns = clock_now_ns();
    if (piece->size > transfer->response_max - transfer->received) {
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED,
                      "the recorded answer of %s is larger than the %zu bytes allowed", transfer_peer_name(transfer),
                      transfer->response_max);
        loop_defer(transfer->client->loop, &transfer->ending);
        return false;
    }
    player->piece++;
    player->offset += piece->size;
    transfer->received += piece->size;
    if (transfer->body_received)
        transfer->body_received(transfer, bytes, piece->size);
    else
        buffer_append(&player->content, bytes, piece->size);
    return transfer->state == TRANSFER_RUNNING;
}

static void player_play(struct transfer *transfer)
{
    struct player *player = transfer->player;
    const struct recorded *recorded = player->recorded;
    if (transfer->state != TRANSFER_RUNNING || !play_headers(transfer))
        return;
    while (player->piece < recorded->piece_count)
        if (!play_piece(transfer))
            return;
    transfer->answered = recorded->answered;
    transfer->stale = recorded->stale;
    if (recorded->end != TRANSFER_COMPLETE)
        transfer_fail(transfer, recorded->end, recorded->status.code, "%s", recorded->status.text);
    loop_defer(transfer->client->loop, &transfer->ending);
}

static void player_begin(struct transfer *transfer)
{
    struct player *player = transfer->player;
    struct buffer body;
    unsigned char hash[CASSETTE_HASH_SIZE];
    char *path = http_url_path(transfer->url);
    buffer_init(&body, SIZE_MAX);
    cassette_redact(player->cassette, transfer->body, transfer->body ? transfer->body_size : 0, &body);
    recorded_hash(body.data, body.length, hash);
    buffer_fini(&body);
    player->recorded = cassette_find(player->cassette, transfer->method, path, hash);
    buffer_init(&player->content, transfer->response_max < SIZE_MAX ? transfer->response_max : SIZE_MAX - 1);
    transfer->active_ns = clock_now_ns();
    if (!player->recorded) {
        transfer_fail(
            transfer, TRANSFER_UNRECORDED, NOT_FOUND,
            "the request %s %.200s with a body of %zu bytes was never recorded in '%.200s'; record it, or send "
            "what was recorded",
            transfer->method, path, transfer->body ? transfer->body_size : 0,
            cassette_path(transfer->player->cassette));
        loop_defer(transfer->client->loop, &transfer->ending);
    } else {
        if (transfer->idle_timeout_ms)
            transfer_watch_time(transfer);
        player_play(transfer);
    }
    free(path);
}

void player_resume(struct transfer *transfer)
{
    if (transfer->state != TRANSFER_RUNNING)
        return;
    if (!transfer->player->recorded) {
        player_begin(transfer);
    } else if (!transfer->paused) {
        transfer->held = false;
        player_play(transfer);
    }
}

void player_stop(struct transfer *transfer)
{
    struct player *player = transfer->player;
    loop_disarm(transfer->client->loop, &player->timer);
    if (player->content.length) {
        transfer->content = buffer_text(&player->content);
        transfer->content_size = player->content.length;
    }
}

void player_destroy(struct player *player)
{
    if (!player)
        return;
    buffer_fini(&player->content);
    free(player);
}

const char *player_header(const struct transfer *transfer, const char *name)
{
    const struct player *player = transfer->player;
    if (!player->headers_done)
        return NULL;
    for (size_t i = 0; i < player->recorded->header_count; i++)
        if (strcasecmp(player->recorded->headers[i].name, name) == 0)
            return player->recorded->headers[i].value;
    return NULL;
}
