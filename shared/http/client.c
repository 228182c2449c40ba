/* The client: where a transfer waits, and which lane it takes. */
#include "base/clock.h"
#include "base/log.h"
#include "http/cassette_priv.h"
#include "http/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LANES_DEFAULT_MAX 32
#define QUEUE_DEFAULT_MAX 1024

static void list_add(struct transfer_list *list, struct transfer *transfer)
{
    transfer->next = NULL;
    transfer->previous = list->last;
    if (list->last)
        list->last->next = transfer;
    else
        list->first = transfer;
    list->last = transfer;
    list->count++;
}

static void list_remove(struct transfer_list *list, struct transfer *transfer)
{
    if (transfer->previous)
        transfer->previous->next = transfer->next;
    else
        list->first = transfer->next;
    if (transfer->next)
        transfer->next->previous = transfer->previous;
    else
        list->last = transfer->previous;
    list->count--;
}

static char *copied(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        fatal("http.memory", "no memory for an HTTP client");
    return copy;
}

static void dispatch(struct work *work)
{
    client_dispatch(OWNER_OF(work, struct http_client, dispatch));
}

struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options)
{
    struct http_client *client = calloc(1, sizeof *client);
    if (!client)
        fatal("http.memory", "no memory for an HTTP client");
    client->loop = loop;
    client->options = *options;
    if (!client->options.lanes_max)
        client->options.lanes_max = LANES_DEFAULT_MAX;
    if (!client->options.queue_max)
        client->options.queue_max = QUEUE_DEFAULT_MAX;
    client->proxy = copied(options->proxy ? options->proxy : "");
    client->ca_file = copied(options->ca_file);
    client->user_agent = copied(options->user_agent ? options->user_agent : "renga/" RENGA_VERSION);
    buffer_init(&client->head, SIZE_MAX);
    client->dispatch.run = dispatch;
    return client;
}

static void cancel_all(struct transfer_list *list)
{
    while (list->first) {
        struct transfer *transfer = list->first;
        if (transfer->state != TRANSFER_ENDING)
            transfer_fail(transfer, TRANSFER_CANCELLED, CANCELLED, "the HTTP client was closed");
        transfer_conclude(transfer);
    }
}

void http_client_destroy(struct http_client **client_pointer)
{
    struct http_client *client = *client_pointer;
    if (!client)
        return;
    assert(loop_current() == client->loop);
    *client_pointer = NULL;
    cancel_all(&client->queue);
    cancel_all(&client->running);
    loop_undefer(client->loop, &client->dispatch);
    slots_destroy(client);
    links_close_idle(client);
    loop_disarm(client->loop, &client->idle_timer);
    while (client->lanes) {
        struct lane *lane = client->lanes;
        client->lanes = lane->next;
        multi_destroy(&lane->transfers);
        multi_destroy(&lane->openings);
        free(lane);
    }
    if (client->share)
        curl_share_cleanup(client->share);
    for (int fd = 0; fd < client->socket_room; fd++)
        free(client->sockets[fd]);
    free(client->sockets);
    free(client->proxy);
    free(client->ca_file);
    free(client->user_agent);
    buffer_fini(&client->head);
    free(client->input);
    free(client);
}

void http_client_stats(const struct http_client *client, struct http_client_stats *stats)
{
    *stats = (struct http_client_stats){
        .running = client->running.count,
        .queued = client->queue.count,
        .lanes = client->lane_count,
        .connections_opened = client->connections_opened,
        .refused = client->refused,
    };
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

static struct lane *lane_create(struct http_client *client, const struct transfer *transfer)
{
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        fatal("http.memory", "no memory for HTTP transfers");
    lane->client = client;
    lane->address_allowed = transfer->address_allowed;
    client->lane_count++;
    return lane;
}

/* The first lane with room among those whose connections passed the same judge. */
static struct lane *lane_for(struct http_client *client, const struct transfer *transfer)
{
    struct lane **end = &client->lanes;
    unsigned count = 0;
    for (; *end; end = &(*end)->next) {
        if ((*end)->address_allowed != transfer->address_allowed)
            continue;
        if ((*end)->running < LANE_TRANSFERS)
            return *end;
        count++;
    }
    if (count == client->options.lanes_max)
        return NULL;
    return *end = lane_create(client, transfer);
}

void client_dispatch(struct http_client *client)
{
    struct transfer *transfer = client->queue.first;
    while (transfer) {
        struct transfer *next = transfer->next;
        bool waits = transfer->state == TRANSFER_QUEUED;
        struct lane *lane = waits && !transfer->reel ? lane_for(client, transfer) : NULL;
        if (waits && transfer->reel) {
            transfer_move(transfer, TRANSFER_RUNNING);
            loop_defer(client->loop, &transfer->resuming);
        } else if (lane) {
            transfer_move(transfer, TRANSFER_RUNNING);
            if (!transfer_run(transfer, lane))
                loop_defer(client->loop, &transfer->ending);
        } else if (waits && !transfer->address_allowed) {
            return; /* those behind it want the same lanes */
        }
        transfer = next;
    }
}

/* ---- the lists follow the states -------------------------------------------------------------------------------- */

/* From the row's state to the column's. */
static const bool moves[TRANSFER_STATES][TRANSFER_STATES] = {
    [TRANSFER_IDLE] = {[TRANSFER_QUEUED] = true, [TRANSFER_ENDING] = true},
    [TRANSFER_QUEUED] = {[TRANSFER_RUNNING] = true, [TRANSFER_ENDING] = true},
    [TRANSFER_RUNNING] = {[TRANSFER_ENDING] = true},
    [TRANSFER_ENDING] = {[TRANSFER_IDLE] = true},
};

/* A transfer that is ending stays in the list of what it was until it is idle. */
static struct transfer_list *list_of(struct transfer *transfer, enum transfer_state state)
{
    switch (state) {
    case TRANSFER_QUEUED:
        return &transfer->client->queue;
    case TRANSFER_RUNNING:
        return &transfer->client->running;
    case TRANSFER_ENDING:
        return transfer->ran ? &transfer->client->running : &transfer->client->queue;
    default:
        return NULL;
    }
}

void transfer_move(struct transfer *transfer, enum transfer_state state)
{
    bool allowed = moves[transfer->state][state];
    assert(allowed);
    (void)allowed;
    struct transfer_list *from = list_of(transfer, transfer->state), *to = list_of(transfer, state);
    transfer->state = state;
    transfer->ran |= state == TRANSFER_RUNNING;
    if (from == to)
        return;
    if (from)
        list_remove(from, transfer);
    if (to)
        list_add(to, transfer);
}

void client_admit(struct http_client *client, struct transfer *transfer, struct reel *reel)
{
    assert(loop_current() == client->loop);
    assert(transfer->state == TRANSFER_IDLE && transfer->finished && transfer->url);
    transfer->client = client;
    transfer->slot = NULL;
    transfer->tape = NULL;
    transfer->reel = reel;
    status_clear(&transfer->status);
    transfer->end = TRANSFER_COMPLETE;
    transfer->http_status = 0;
    transfer->content = "";
    transfer->content_size = transfer->received = 0;
    transfer->answered = transfer->stale = transfer->paused = transfer->held = transfer->ran = false;
    transfer->active_ns = clock_now_ns();
    transfer->deadline_ns = transfer->timeout_ms ? transfer->active_ns + transfer->timeout_ms * NS_PER_MS : TIME_NEVER;

    unsigned admitted_max = client->options.lanes_max * LANE_TRANSFERS + client->options.queue_max;
    if (client->running.count + client->queue.count >= admitted_max) {
        client->refused++;
        transfer_fail(transfer, TRANSFER_REFUSED, RESOURCE_EXHAUSTED,
                      "%u requests to HTTP servers are under way and %u wait; try again later", client->running.count,
                      client->queue.count);
        loop_defer(client->loop, &transfer->ending);
        return;
    }
    if (transfer->cassette && !reel)
        tape_begin(transfer);
    transfer_move(transfer, TRANSFER_QUEUED);
    transfer_watch_time(transfer);
    loop_defer(client->loop, &client->dispatch);
}

void transfer_start(struct http_client *client, struct transfer *transfer)
{
    client_admit(client, transfer, NULL);
}
