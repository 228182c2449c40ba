/* The transport that speaks HTTP/1.1 itself, over links.
 *
 *      begin --> an idle link? --yes--------------------> ask --> the head, and as much of the body as the socket takes
 *                   | no                                   ^            | ready to write: the rest
 *                   `--> link_open --> opened -------------'            | ready to read:
 *                                                                       v
 *      stop <-- the answer is whole, or will not be <------------- feed: http1 -> coding -> slot_piece_received
 *                                                                       ^  | paused: what was read is held, no more is
 *                                                                       `--' resume
 *
 * An answer may arrive before the request is sent: it counts, and the link is closed after it. A used link that ends
 * without a byte of an answer was most likely just closed by its peer. Then the owner gets `stale`, or the request is
 * sent once more on a new link (`may_repeat`). */
#include "base/clock.h"
#include "base/memory.h"
#include "http/coding.h"
#include "http/http1.h"
#include "http/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define BUFFERS_KEPT (8u << 10)  /* bytes of memory that a free slot keeps */
#define TLS_TOGETHER (16u << 10) /* bytes of head and body that go into one record */
#define PIECE_MAX    (16u << 10) /* bytes unpacked at a time */

struct direct {
    struct http_slot slot;
    struct link_user user;
    struct link *link;
    struct http1 reader;
    struct coding *coding; /* NULL: the body is not compressed */
    struct buffer unsent;  /* of the head (over TLS, of a small body too) */
    size_t unsent_at;      /* the offset of the unsent rest */
    size_t body_sent;
    struct buffer held; /* read while the transfer was paused */
    size_t held_at;
    bool sending;  /* not all of the request is out */
    bool repeated; /* it goes out for the second time */
    bool whole;    /* the answer is, and the link may serve another */
};

/* The result of feeding some bytes. */
enum feed_result { FEED_MORE, FEED_COMPLETE, FEED_FAILED, FEED_PAUSED, FEED_ENDED };

static struct direct *direct_of(struct http_slot *slot)
{
    return (struct direct *)(void *)slot;
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static void direct_wipe(struct buffer *buffer)
{
    if (buffer->length)
        explicit_bzero(buffer->data, buffer->length); /* it may contain keys */
    if (buffer->capacity > BUFFERS_KEPT)
        buffer_fini(buffer);
    buffer_clear(buffer);
}

static void note_sent(struct direct *direct, size_t head_left, size_t sent)
{
    size_t of_head = sent < head_left ? sent : head_left;
    direct->unsent_at += of_head;
    direct->body_sent += sent - of_head;
}

/* Sends as much as possible of `head` and the body after it. A link that fails to send may still have an answer to
 * read. */
static void direct_send_some(struct direct *direct, struct buffer *head)
{
    const struct transfer *transfer = direct->slot.transfer;
    size_t body_size = transfer->body ? transfer->body_size : 0;
    direct->sending = true;
    while (direct->unsent_at < head->length || direct->body_sent < body_size) {
        struct iovec pieces[2];
        int count = 0;
        size_t head_left = head->length - direct->unsent_at;
        if (head_left)
            pieces[count++] = (struct iovec){head->data + direct->unsent_at, head_left};
        if (direct->body_sent < body_size)
            pieces[count++] =
                (struct iovec){(char *)(uintptr_t)transfer->body + direct->body_sent, body_size - direct->body_sent};
        ssize_t sent = link_send(direct->link, pieces, count);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            link_await(direct->link, errno == EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
            if (errno != EAGAIN)
                link_lose(direct->link);
            return;
        }
        note_sent(direct, head_left, (size_t)sent);
    }
    direct->sending = false;
    link_await(direct->link, EPOLLIN);
}

/* Over TLS, bytes must stay in place until they are written, so they are in the slot. Otherwise only the unsent rest
 * is. */
static void direct_ask(struct direct *direct)
{
    struct transfer *transfer = direct->slot.transfer;
    bool secure = link_is_secure(direct->link);
    struct buffer *head = secure ? &direct->unsent : &direct->slot.client->head;
    direct->slot.connected = true;
    direct->unsent_at = direct->body_sent = 0;
    direct_wipe(head);
    request_write_head(transfer, head);
    if (secure && transfer->body && head->length + transfer->body_size <= TLS_TOGETHER) {
        buffer_append(head, transfer->body, transfer->body_size);
        direct->body_sent = transfer->body_size;
    }
    direct_send_some(direct, head);
    if (direct->sending && !secure) {
        buffer_append(&direct->unsent, head->data + direct->unsent_at, head->length - direct->unsent_at);
        direct->unsent_at = 0;
    }
    if (head->failed || direct->unsent.failed)
        memory_exhausted();
}

static void direct_begin(struct http_slot *slot)
{
    struct direct *direct = direct_of(slot);
    struct transfer *transfer = slot->transfer;
    http1_begin(&direct->reader, strcmp(transfer->method, "HEAD") == 0);
    direct->link = direct->repeated ? NULL : link_take(slot->client, transfer, &direct->user);
    if (direct->link) {
        direct_ask(direct);
        return;
    }
    slot->connected = false;
    direct->link = link_open(slot->pool, transfer, &direct->user);
    if (!direct->link)
        transfer_fail_no_memory(slot);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

static enum feed_result fail_malformed(struct direct *direct, const char *why)
{
    transfer_fail_malformed(&direct->slot, why);
    return FEED_FAILED;
}

/* The reason for reporting no more to the transfer. */
static enum feed_result direct_stopped(struct direct *direct)
{
    if (direct->slot.transfer->state != TRANSFER_RUNNING)
        return FEED_ENDED;
    transfer_fail_too_large(&direct->slot, false);
    return FEED_FAILED;
}

static enum feed_result direct_head_received(struct direct *direct)
{
    const struct http1 *reader = &direct->reader;
    const char *coding = direct->slot.transfer->decompress ? http1_field(reader, "content-encoding") : NULL;
    if (coding && coding_is_needed(coding) && reader->state != HTTP1_DONE) {
        direct->coding = coding_create(coding);
        if (!direct->coding)
            return fail_malformed(direct, "its content coding is none that was asked for");
    }
    return slot_head_received(&direct->slot, reader->status, reader->has_length, reader->length)
               ? FEED_MORE
               : direct_stopped(direct);
}

/* Unpacks the decoder's remaining input and the given bytes. */
static enum feed_result direct_unpack(struct direct *direct, const char *bytes, size_t size, size_t *used)
{
    struct transfer *transfer = direct->slot.transfer;
    char piece[PIECE_MAX];
    for (size_t taken, made;; *used += taken) {
        if (transfer->paused)
            return FEED_PAUSED;
        switch (coding_next(direct->coding, bytes + *used, size - *used, &taken, piece, sizeof piece, &made)) {
        case CODING_MORE:
            *used = size;
            return FEED_MORE;
        case CODING_BROKEN:
            return fail_malformed(direct, "its content cannot be decompressed");
        case CODING_PIECE:
            if (made && !slot_piece_received(&direct->slot, piece, made))
                return direct_stopped(direct);
        }
    }
}

static enum feed_result direct_body_received(struct direct *direct, const char *bytes, size_t size, size_t *used)
{
    *used = 0;
    if (direct->coding)
        return direct_unpack(direct, bytes, size, used);
    if (direct->slot.transfer->paused)
        return FEED_PAUSED;
    *used = size;
    return slot_piece_received(&direct->slot, bytes, size) ? FEED_MORE : direct_stopped(direct);
}

static enum feed_result answer_ended(struct direct *direct, bool link_is_clean)
{
    if (direct->coding && !coding_is_whole(direct->coding))
        return fail_malformed(direct, "its compressed content ends too early");
    direct->whole = link_is_clean && direct->reader.keeps && !direct->sending;
    return FEED_COMPLETE;
}

static enum feed_result direct_feed(struct direct *direct, const char *bytes, size_t size)
{
    enum feed_result fed = FEED_MORE;
    while (fed == FEED_MORE) {
        size_t taken, used = 0;
        switch (http1_next(&direct->reader, bytes, size, &taken)) {
        case HTTP1_MORE:
            if (taken == size)
                return FEED_MORE;
            break;
        case HTTP1_HEAD:
            fed = direct_head_received(direct);
            break;
        case HTTP1_BODY:
            fed = direct_body_received(direct, bytes, taken, &used);
            if (fed == FEED_PAUSED) {
                http1_give_back(&direct->reader, taken - used);
                taken = used;
            }
            break;
        case HTTP1_END:
            return answer_ended(direct, size == taken);
        case HTTP1_TOO_LARGE:
            transfer_fail_too_large(&direct->slot, true);
            return FEED_FAILED;
        case HTTP1_INVALID:
            return fail_malformed(direct, direct->reader.why);
        }
        bytes += taken;
        size -= taken;
    }
    if (fed == FEED_PAUSED) {
        /* `bytes` may point into the held bytes. */
        direct->slot.transfer->held = true;
        if (direct->held.length)
            direct->held_at = direct->held.length - size;
        else
            buffer_append(&direct->held, bytes, size);
        if (direct->held.failed)
            memory_exhausted();
    }
    return fed;
}

/* ---- events of the link ----------------------------------------------------------------------------------------- */

static void direct_settle(struct direct *direct, enum feed_result fed)
{
    if (fed == FEED_COMPLETE || fed == FEED_FAILED)
        transfer_conclude(direct->slot.transfer);
}

static void link_ended(struct direct *direct, ssize_t got, int error)
{
    struct transfer *transfer = direct->slot.transfer;
    bool stale = !transfer->answered && link_was_used(direct->link);
    if (got == 0 && http1_ends_here(&direct->reader)) {
        direct_settle(direct, answer_ended(direct, false));
        return;
    }
    if (stale && transfer->may_repeat && !direct->repeated) {
        link_close(&direct->link);
        direct->repeated = true;
        direct_begin(&direct->slot);
        return;
    }
    transfer_fail_cut(&direct->slot, stale, got == 0 ? "the connection was closed" : strerror(error));
    transfer_conclude(transfer);
}

static void direct_receive(struct direct *direct, uint32_t events)
{
    struct transfer *transfer = direct->slot.transfer;
    struct http_client *client = direct->slot.client;
    ssize_t got = link_receive(direct->link, client->input, INPUT_SIZE);
    int error = errno;
    if (got > 0) {
        transfer->answered = true;
        transfer->active_ns = clock_now_ns();
        direct_settle(direct, direct_feed(direct, client->input, (size_t)got));
    } else if (got == 0 || (error != EAGAIN && error != EINTR) || events & (EPOLLHUP | EPOLLERR)) {
        link_ended(direct, got, error == EAGAIN ? EPIPE : error);
    }
}

static void direct_ready(struct link_user *user, uint32_t events)
{
    struct direct *direct = CONTAINER_OF(user, struct direct, user);
    struct transfer *transfer = direct->slot.transfer;
    if (transfer->state != TRANSFER_RUNNING) /* its end is due */
        return;
    if (events & EPOLLOUT && direct->sending)
        direct_send_some(direct, &direct->unsent);
    if (!(events & ~(uint32_t)EPOLLOUT))
        return;
    if (transfer->paused || transfer->held) { /* held bytes come first, even when the transfer has resumed */
        transfer->held = true;
        link_await(direct->link, direct->sending ? EPOLLOUT : 0);
    } else {
        direct_receive(direct, events);
    }
}

static void direct_opened(struct link_user *user, CURLcode result, bool forbidden, const char *detail)
{
    struct direct *direct = CONTAINER_OF(user, struct direct, user);
    struct transfer *transfer = direct->slot.transfer;
    if (transfer->state != TRANSFER_RUNNING)
        return;
    if (result == CURLE_OK) {
        direct_ask(direct);
        return;
    }
    direct->slot.forbidden = forbidden;
    transfer_fail_unconnected(&direct->slot, result,
                              transfer_public_detail(transfer, detail, curl_easy_strerror(result)));
    transfer_conclude(transfer);
}

static void direct_resume(struct http_slot *slot)
{
    struct direct *direct = direct_of(slot);
    struct transfer *transfer = slot->transfer;
    enum feed_result fed = FEED_MORE;
    size_t used = 0;
    transfer->held = false;
    if (direct->coding)
        fed = direct_unpack(direct, "", 0, &used);
    if (fed == FEED_MORE) /* needed also without bytes: the unpacked bytes may have completed the answer */
        fed = direct_feed(direct, buffer_text(&direct->held) + direct->held_at, direct->held.length - direct->held_at);
    if (fed == FEED_PAUSED)
        transfer->held = true;
    direct_settle(direct, fed);
    if (fed != FEED_MORE)
        return;
    direct_wipe(&direct->held);
    direct->held_at = 0;
    link_await(direct->link, direct->sending ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static struct http_slot *direct_create(struct http_client *client)
{
    struct direct *direct = xcalloc(1, sizeof *direct);
    if (!client->input)
        client->input = xmalloc(INPUT_SIZE);
    direct->user = (struct link_user){direct_opened, direct_ready};
    buffer_init(&direct->unsent, SIZE_MAX);
    buffer_init(&direct->held, SIZE_MAX);
    return &direct->slot;
}

static void direct_destroy(struct http_slot *slot)
{
    struct direct *direct = direct_of(slot);
    http1_fini(&direct->reader);
    buffer_fini(&direct->unsent);
    buffer_fini(&direct->held);
    free(direct);
}

static void direct_stop(struct http_slot *slot)
{
    struct direct *direct = direct_of(slot);
    if (direct->link && direct->whole)
        link_keep(&direct->link);
    link_close(&direct->link);
    coding_destroy(&direct->coding);
}

static void direct_rest(struct http_slot *slot)
{
    struct direct *direct = direct_of(slot);
    direct_wipe(&direct->unsent);
    direct_wipe(&direct->held);
    direct->unsent_at = direct->held_at = 0;
    direct->sending = direct->repeated = direct->whole = false;
}

static const char *direct_header(struct http_slot *slot, const char *name)
{
    return http1_field(&direct_of(slot)->reader, name);
}

static void direct_each_header(struct http_slot *slot, void (*heard)(void *data, const char *name, const char *value),
                               void *data)
{
    const struct buffer *names = &direct_of(slot)->reader.names;
    const char *end = names->data + names->length;
    for (const char *at = names->data; at && at < end;) {
        const char *value = at + strlen(at) + 1;
        heard(data, at, value);
        at = value + strlen(value) + 1;
    }
}

const struct http_transport direct_transport = {TRANSPORT_DIRECT, direct_create, direct_destroy,
                                                direct_begin,     direct_stop,   direct_rest,
                                                direct_resume,    direct_header, direct_each_header};
