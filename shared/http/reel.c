/* A reel: a recorded exchange that is being played to one transfer. It runs where curl would: from the loop, never from
 * within a call of the owner's. */
#include "base/clock.h"
#include "base/log.h"
#include "http/cassette_priv.h"
#include "http/client_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reel {
    struct transfer *transfer;
    struct cassette *cassette;
    const struct recorded *recorded; /* of the cassette, which does not change any more */
    struct buffer content;
    size_t piece, offset; /* the next one, and where its bytes begin */
    bool headers_done;
    bool waited; /* for the next step, where delays are kept */
    struct timer timer;
};

static void play(struct transfer *transfer);

static void step_is_due(struct timer *timer)
{
    struct reel *reel = OWNER_OF(timer, struct reel, timer);
    reel->waited = true;
    play(reel->transfer);
}

void transfer_replay(struct http_client *client, struct transfer *transfer, struct cassette *cassette)
{
    struct reel *reel = calloc(1, sizeof *reel);
    if (!reel)
        fatal("http.memory", "no memory to replay an exchange");
    reel->transfer = transfer;
    reel->cassette = cassette;
    reel->timer.expired = step_is_due;
    client_admit(client, transfer, reel);
}

/* ---- playing ---------------------------------------------------------------------------------------------------- */

/* True where the next step is to come later. */
static bool must_wait(struct reel *reel, int64_t after_ms)
{
    if (reel->waited || after_ms == 0 || !cassette_keeps_delays(reel->cassette)) {
        reel->waited = false;
        return false;
    }
    loop_arm_after(reel->transfer->client->loop, &reel->timer, after_ms);
    return true;
}

/* False where the transfer is not to be given more now. */
static bool play_headers(struct transfer *transfer)
{
    struct reel *reel = transfer->reel;
    if (reel->headers_done || !reel->recorded->http_status)
        return true;
    if (must_wait(reel, reel->recorded->after_ms))
        return false;
    reel->headers_done = transfer->answered = true;
    transfer->active_ns = clock_now_ns();
    transfer->http_status = reel->recorded->http_status;
    if (transfer->headers_received)
        transfer->headers_received(transfer, transfer->http_status);
    return transfer->state == TRANSFER_RUNNING;
}

static bool play_piece(struct transfer *transfer)
{
    struct reel *reel = transfer->reel;
    const struct recorded_piece *piece = &reel->recorded->pieces[reel->piece];
    const char *bytes = piece->size ? reel->recorded->body.data + reel->offset : "";
    if (transfer->paused) {
        transfer->held = true;
        return false;
    }
    if (must_wait(reel, piece->after_ms))
        return false;
    transfer->active_ns = clock_now_ns();
    if (piece->size > transfer->response_max - transfer->received) {
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED,
                      "the recorded answer of %s is larger than the %zu bytes allowed", judge_peer(transfer),
                      transfer->response_max);
        loop_defer(transfer->client->loop, &transfer->ending);
        return false;
    }
    reel->piece++;
    reel->offset += piece->size;
    transfer->received += piece->size;
    if (transfer->body_received)
        transfer->body_received(transfer, bytes, piece->size);
    else
        buffer_append(&reel->content, bytes, piece->size);
    return transfer->state == TRANSFER_RUNNING;
}

static void play(struct transfer *transfer)
{
    struct reel *reel = transfer->reel;
    const struct recorded *recorded = reel->recorded;
    if (transfer->state != TRANSFER_RUNNING || !play_headers(transfer))
        return;
    while (reel->piece < recorded->piece_count)
        if (!play_piece(transfer))
            return;
    transfer->answered = recorded->answered;
    transfer->stale = recorded->stale;
    if (recorded->end != TRANSFER_COMPLETE)
        transfer_fail(transfer, recorded->end, recorded->status.code, "%s", recorded->status.text);
    loop_defer(transfer->client->loop, &transfer->ending);
}

static void fail_unrecorded(struct transfer *transfer, const char *path)
{
    transfer_fail(transfer, TRANSFER_UNRECORDED, NOT_FOUND,
                  "the request %s %.200s with a body of %zu bytes was never recorded in '%.200s'; record it, or send "
                  "what was recorded",
                  transfer->method, path, transfer->body ? transfer->body_size : 0,
                  cassette_path(transfer->reel->cassette));
    loop_defer(transfer->client->loop, &transfer->ending);
}

static void begin(struct transfer *transfer)
{
    struct reel *reel = transfer->reel;
    struct buffer body;
    unsigned char hash[CASSETTE_HASH_SIZE];
    char *path = http_url_path(transfer->url);
    buffer_init(&body, SIZE_MAX);
    cassette_redact(reel->cassette, transfer->body, transfer->body ? transfer->body_size : 0, &body);
    recorded_hash(body.data, body.length, hash);
    buffer_fini(&body);
    reel->recorded = cassette_find(reel->cassette, transfer->method, path, hash);
    buffer_init(&reel->content, transfer->response_max < SIZE_MAX ? transfer->response_max : SIZE_MAX - 1);
    transfer->active_ns = clock_now_ns();
    if (!reel->recorded) {
        fail_unrecorded(transfer, path);
    } else {
        if (transfer->idle_timeout_ms)
            transfer_watch_time(transfer);
        play(transfer);
    }
    free(path);
}

void reel_resume(struct transfer *transfer)
{
    if (transfer->state != TRANSFER_RUNNING)
        return;
    if (!transfer->reel->recorded) {
        begin(transfer);
    } else if (!transfer->paused) {
        transfer->held = false;
        play(transfer);
    }
}

void reel_stop(struct transfer *transfer)
{
    struct reel *reel = transfer->reel;
    loop_disarm(transfer->client->loop, &reel->timer);
    if (reel->content.length) {
        transfer->content = buffer_text(&reel->content);
        transfer->content_size = reel->content.length;
    }
}

void reel_destroy(struct reel *reel)
{
    if (!reel)
        return;
    buffer_fini(&reel->content);
    free(reel);
}

const char *reel_header(const struct transfer *transfer, const char *name)
{
    const struct reel *reel = transfer->reel;
    if (!reel->headers_done)
        return NULL;
    for (size_t i = 0; i < reel->recorded->header_count; i++)
        if (strcasecmp(reel->recorded->headers[i].name, name) == 0)
            return reel->recorded->headers[i].value;
    return NULL;
}
