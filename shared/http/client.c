/* The client: the queues of its transfers, and the choice of a pool. */
#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "http/cassette_priv.h"
#include "http/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define POOLS_DEFAULT_MAX 32
#define QUEUE_DEFAULT_MAX 1024

static char *client_copied(const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;
    return copy;
}

static void dispatch(struct work *work)
{
    client_dispatch(CONTAINER_OF(work, struct http_client, dispatch));
}

struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options)
{
    struct http_client *client = xcalloc(1, sizeof *client);
    client->loop = loop;
    client->options = *options;
    if (!client->options.pools_max)
        client->options.pools_max = POOLS_DEFAULT_MAX;
    if (!client->options.queue_max)
        client->options.queue_max = QUEUE_DEFAULT_MAX;
    client->proxy = client_copied(options->proxy ? options->proxy : "");
    client->ca_file = client_copied(options->ca_file);
    client->user_agent = client_copied(options->user_agent ? options->user_agent : "renga/" RENGA_VERSION);
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
    while (client->pools) {
        struct connection_pool *pool = client->pools;
        client->pools = pool->next;
        multi_destroy(&pool->transfers);
        multi_destroy(&pool->openings);
        free(pool);
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
        .pools = client->pool_count,
        .connections_opened = client->connections_opened,
        .refused = client->refused,
    };
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

static struct connection_pool *pool_create(struct http_client *client, const struct transfer *transfer)
{
    struct connection_pool *pool = xcalloc(1, sizeof *pool);
    pool->client = client;
    pool->address_allowed = transfer->address_allowed;
    client->pool_count++;
    return pool;
}

/* The first pool with room whose connections passed the same address filter. */
static struct connection_pool *pool_for(struct http_client *client, const struct transfer *transfer)
{
    struct connection_pool **end = &client->pools;
    unsigned count = 0;
    for (; *end; end = &(*end)->next) {
        if ((*end)->address_allowed != transfer->address_allowed)
            continue;
        if ((*end)->running < POOL_TRANSFERS)
            return *end;
        count++;
    }
    if (count == client->options.pools_max)
        return NULL;
    return *end = pool_create(client, transfer);
}

void client_dispatch(struct http_client *client)
{
    struct transfer *transfer = client->queue.first;
    while (transfer) {
        struct transfer *next = transfer->next;
        bool waits = transfer->state == TRANSFER_QUEUED;
        struct connection_pool *pool = waits && !transfer->player ? pool_for(client, transfer) : NULL;
        if (waits && transfer->player) {
            transfer_move(transfer, TRANSFER_RUNNING);
            loop_defer(client->loop, &transfer->resuming);
        } else if (pool) {
            transfer_move(transfer, TRANSFER_RUNNING);
            if (!transfer_run(transfer, pool))
                loop_defer(client->loop, &transfer->ending);
        } else if (waits && !transfer->address_allowed) {
            return; /* those behind it need the same pools */
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

/* A transfer in the state "ending" stays in the list of its previous state until it is idle. */
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
    if (from) {
        LIST_REMOVE(from->first, from->last, transfer);
        from->count--;
    }
    if (to) {
        LIST_APPEND(to->first, to->last, transfer);
        to->count++;
    }
}

void client_admit(struct http_client *client, struct transfer *transfer, struct player *player)
{
    assert(loop_current() == client->loop);
    assert(transfer->state == TRANSFER_IDLE && transfer->finished && transfer->url);
    transfer->client = client;
    transfer->slot = NULL;
    transfer->recorder = NULL;
    transfer->player = player;
    status_clear(&transfer->status);
    transfer->end = TRANSFER_COMPLETE;
    transfer->http_status = 0;
    transfer->content = "";
    transfer->content_size = transfer->received = 0;
    transfer->answered = transfer->stale = transfer->paused = transfer->held = transfer->ran = false;
    transfer->active_ns = clock_now_ns();
    transfer->deadline_ns = transfer->timeout_ms ? transfer->active_ns + transfer->timeout_ms * NS_PER_MS : TIME_NEVER;

    unsigned admitted_max = client->options.pools_max * POOL_TRANSFERS + client->options.queue_max;
    if (client->running.count + client->queue.count >= admitted_max) {
        client->refused++;
        transfer_fail(transfer, TRANSFER_REFUSED, RESOURCE_EXHAUSTED,
                      "%u requests to HTTP servers are under way and %u wait; try again later", client->running.count,
                      client->queue.count);
        loop_defer(client->loop, &transfer->ending);
        return;
    }
    if (transfer->cassette && !player)
        recorder_begin(transfer);
    transfer_move(transfer, TRANSFER_QUEUED);
    transfer_watch_time(transfer);
    loop_defer(client->loop, &client->dispatch);
}

void transfer_start(struct http_client *client, struct transfer *transfer)
{
    client_admit(client, transfer, NULL);
}
