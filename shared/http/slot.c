/* A slot: the state of a running transfer, for both transports. */
#include "base/clock.h"
#include "http/cassette_priv.h"
#include "http/client_priv.h"

#include <string.h>

#define SLOTS_KEPT_MAX 512         /* free ones, of each transport */
#define CONTENT_KEPT   (64u << 10) /* bytes of a gathered body's memory that a free slot keeps */

/* The direct transport cannot do these. */
static const struct http_transport *transport_for(const struct http_client *client, const struct transfer *transfer)
{
    bool needs_curl = transfer->redirects_max || client->proxy[0] || !transfer->url->plain ||
                      (client->options.http2 && transfer->url->secure);
    return needs_curl ? &curl_transport : &direct_transport;
}

struct http_slot *slot_take(struct http_client *client, const struct transfer *transfer)
{
    const struct http_transport *transport = transport_for(client, transfer);
    struct http_slot *slot = client->slots[transport->kind];
    if (slot) {
        client->slots[transport->kind] = slot->next;
        client->slot_count[transport->kind]--;
        return slot;
    }
    slot = transport->create(client);
    slot->transport = transport;
    slot->client = client;
    buffer_init(&slot->content, SIZE_MAX);
    return slot;
}

static void slot_destroy(struct http_slot *slot)
{
    buffer_fini(&slot->content);
    slot->transport->destroy(slot);
}

void slot_give_back(struct http_slot *slot)
{
    struct http_client *client = slot->client;
    enum transport_kind kind = slot->transport->kind;
    slot->transport->rest(slot);
    slot->pool->running--;
    slot->transfer = NULL;
    if (client->slot_count[kind] == SLOTS_KEPT_MAX) {
        slot_destroy(slot);
        return;
    }
    if (slot->content.capacity > CONTENT_KEPT)
        buffer_fini(&slot->content);
    buffer_clear(&slot->content);
    slot->next = client->slots[kind];
    client->slots[kind] = slot;
    client->slot_count[kind]++;
}

void slots_destroy(struct http_client *client)
{
    for (size_t kind = 0; kind < sizeof client->slots / sizeof *client->slots; kind++)
        while (client->slots[kind]) {
            struct http_slot *slot = client->slots[kind];
            client->slots[kind] = slot->next;
            slot_destroy(slot);
        }
}

/* ---- reports of an answer --------------------------------------------------------------------------------------- */

bool slot_head_received(struct http_slot *slot, int http_status, bool has_length, uint64_t length)
{
    struct transfer *transfer = slot->transfer;
    transfer->http_status = http_status;
    recorder_headers(transfer);
    if (has_length && length > transfer->response_max && strcmp(transfer->method, "HEAD") != 0)
        slot->too_large = true; /* known before the first byte of the body */
    else if (transfer->headers_received)
        transfer->headers_received(transfer, http_status);
    return transfer->state == TRANSFER_RUNNING && !slot->too_large;
}

bool slot_piece_received(struct http_slot *slot, const char *bytes, size_t size)
{
    struct transfer *transfer = slot->transfer;
    transfer->active_ns = clock_now_ns();
    if (size > transfer->response_max - transfer->received) {
        slot->too_large = true;
        return false;
    }
    transfer->received += size;
    recorder_piece(transfer, bytes, size);
    if (transfer->body_received)
        transfer->body_received(transfer, bytes, size);
    else
        buffer_append(&slot->content, bytes, size);
    slot->too_large |= slot->content.failed;
    return transfer->state == TRANSFER_RUNNING && !slot->too_large;
}
