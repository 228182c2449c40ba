/* The life of a transfer: its slot and pool, its timeouts, its end. */
#include "base/clock.h"
#include "http/cassette_priv.h"
#include "http/client_priv.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static void time_is_up(struct timer *timer);
static void end_deferred(struct work *work);
static void resume_deferred(struct work *work);

void transfer_init(struct transfer *transfer, const struct http_url *url, void (*finished)(struct transfer *transfer))
{
    memset(transfer, 0, sizeof *transfer);
    transfer->method = "GET";
    transfer->url = url;
    transfer->finished = finished;
    transfer->timeout_ms = TRANSFER_TIMEOUT_DEFAULT_MS;
    transfer->connect_timeout_ms = TRANSFER_CONNECT_TIMEOUT_DEFAULT_MS;
    transfer->response_max = TRANSFER_RESPONSE_DEFAULT_MAX;
    transfer->content = "";
    transfer->timer.expired = time_is_up;
    transfer->ending.run = end_deferred;
    transfer->resuming.run = resume_deferred;
}

bool transfer_run(struct transfer *transfer, struct connection_pool *pool)
{
    struct http_slot *slot = slot_take(transfer->client, transfer);
    struct header_marks marks;
    transfer->slot = slot;
    slot->transfer = transfer;
    slot->pool = pool;
    slot->connected = slot->forbidden = slot->too_large = false;
    slot->content.limit = transfer->response_max < SIZE_MAX ? transfer->response_max : SIZE_MAX - 1;
    pool->running++;
    if (!transfer_mark_headers(transfer, &marks)) {
        transfer_fail(transfer, TRANSFER_INVALID, INVALID_ARGUMENT,
                      "a header of the request to %s cannot be sent: its name is no token or its value has more than "
                      "one line",
                      transfer_peer_name(transfer));
        return false;
    }
    transfer->active_ns = clock_now_ns();
    if (transfer->idle_timeout_ms)
        transfer_watch_time(transfer);
    slot->transport->begin(slot);
    return true;
}

/* ---- its end ---------------------------------------------------------------------------------------------------- */

/* Says how the transfer ends; transfer_conclude does it. */
void transfer_fail(struct transfer *transfer, enum transfer_end end, enum status_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status_set(&transfer->status, code, format, arguments);
    va_end(arguments);
    transfer->end = end;
    transfer_move(transfer, TRANSFER_ENDING);
}

static void transfer_let_go(struct http_client *client, struct http_slot *slot, struct player *player)
{
    if (slot)
        slot_give_back(slot);
    player_destroy(player);
    if (client->queue.first)
        loop_defer(client->loop, &client->dispatch);
}

void transfer_keep(struct transfer *transfer, struct transfer_keep *keep)
{
    assert(transfer->state == TRANSFER_IDLE && !transfer->client->kept);
    transfer->client->kept = true;
    *keep = (struct transfer_keep){.client = transfer->client, .slot = transfer->slot, .player = transfer->player};
}

void transfer_keep_end(struct transfer_keep *keep)
{
    transfer_let_go(keep->client, keep->slot, keep->player);
    *keep = (struct transfer_keep){0};
}

void transfer_conclude(struct transfer *transfer)
{
    struct http_client *client = transfer->client;
    struct http_slot *slot = transfer->slot;
    struct player *player = transfer->player;
    if (transfer->state != TRANSFER_ENDING)
        transfer_move(transfer, TRANSFER_ENDING);
    loop_undefer(client->loop, &transfer->ending);
    loop_undefer(client->loop, &transfer->resuming);
    loop_disarm(client->loop, &transfer->timer);
    if (slot)
        slot->transport->stop(slot); /* first of all: the peer is to notice */
    if (slot && slot->content.length) {
        transfer->content = buffer_text(&slot->content);
        transfer->content_size = slot->content.length;
    }
    if (player)
        player_stop(transfer);
    recorder_end(transfer);
    transfer_move(transfer, TRANSFER_IDLE);
    bool outer = client->kept; /* of a `finished` that this one runs within */
    client->kept = false;
    transfer->finished(transfer); /* which may free it, or start it again with another slot */
    bool kept = client->kept;
    client->kept = outer;
    if (!kept)
        transfer_let_go(client, slot, player);
}

static void end_deferred(struct work *work)
{
    transfer_conclude(CONTAINER_OF(work, struct transfer, ending));
}

void transfer_cancel(struct transfer *transfer)
{
    if (transfer->state != TRANSFER_QUEUED && transfer->state != TRANSFER_RUNNING)
        return;
    assert(loop_current() == transfer->client->loop);
    transfer_fail(transfer, TRANSFER_CANCELLED, CANCELLED, "the request to %s was cancelled",
                  transfer_peer_name(transfer));
    loop_defer(transfer->client->loop, &transfer->ending);
}

/* ---- its time --------------------------------------------------------------------------------------------------- */

/* One timer for both bounds. Received bytes only note the time; whether it was silence is seen on expiry. */
void transfer_watch_time(struct transfer *transfer)
{
    int64_t at_ns = transfer->deadline_ns;
    if (transfer->idle_timeout_ms && transfer->state == TRANSFER_RUNNING) {
        int64_t silent_ns = transfer->active_ns + transfer->idle_timeout_ms * NS_PER_MS;
        if (silent_ns < at_ns)
            at_ns = silent_ns;
    }
    loop_arm(transfer->client->loop, &transfer->timer, at_ns);
}

static const char *transfer_progress(const struct transfer *transfer)
{
    if (transfer->state == TRANSFER_QUEUED)
        return "it was still waiting for others";
    if (transfer->received)
        return "part of the body had come";
    if (transfer->answered)
        return "headers had come, but no body";
    return transfer->player || transfer->slot->connected ? "no answer had come" : "there was no connection yet";
}

static void time_is_up(struct timer *timer)
{
    struct transfer *transfer = CONTAINER_OF(timer, struct transfer, timer);
    int64_t now_ns = clock_now_ns();
    if (transfer->paused)
        transfer->active_ns = now_ns;
    if (now_ns >= transfer->deadline_ns) {
        transfer_fail(transfer, TRANSFER_LATE, DEADLINE_EXCEEDED, "the request to %s took longer than %lld ms: %s",
                      transfer_peer_name(transfer), (long long)transfer->timeout_ms, transfer_progress(transfer));
    } else if (transfer->idle_timeout_ms && transfer->state == TRANSFER_RUNNING &&
               now_ns - transfer->active_ns >= transfer->idle_timeout_ms * NS_PER_MS) {
        transfer_fail(transfer, TRANSFER_SILENT, DEADLINE_EXCEEDED, "%s was silent for %lld ms: %s",
                      transfer_peer_name(transfer), (long long)transfer->idle_timeout_ms, transfer_progress(transfer));
    } else {
        transfer_watch_time(transfer);
        return;
    }
    end_deferred(&transfer->ending);
}

/* ---- back-pressure ---------------------------------------------------------------------------------------------- */

void transfer_pause(struct transfer *transfer)
{
    transfer->paused = true;
}

void transfer_resume(struct transfer *transfer)
{
    if (!transfer->paused)
        return;
    transfer->paused = false;
    if (transfer->state != TRANSFER_RUNNING)
        return;
    transfer->active_ns = clock_now_ns();
    if (transfer->held)
        loop_defer(transfer->client->loop, &transfer->resuming);
}

static void resume_deferred(struct work *work)
{
    struct transfer *transfer = CONTAINER_OF(work, struct transfer, resuming);
    if (transfer->player)
        player_resume(transfer);
    else if (!transfer->paused && transfer->state == TRANSFER_RUNNING)
        transfer->slot->transport->resume(transfer->slot);
}

const char *transfer_header(const struct transfer *transfer, const char *name)
{
    if (transfer->player)
        return player_header(transfer, name);
    return transfer->slot && transfer->answered ? transfer->slot->transport->header(transfer->slot, name) : NULL;
}
