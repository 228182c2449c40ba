/* A slot: an easy handle, set up once, that serves one transfer after the other. */
#include "base/clock.h"
#include "base/log.h"
#include "http/cassette_priv.h"
#include "http/client_priv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_KEPT_MAX   512         /* free ones */
#define CONTENT_KEPT     (64u << 10) /* bytes of a gathered body's memory that a free slot keeps */
#define LINES_KEPT       (4u << 10)
#define CONNECTION_AGE_S 60L /* an idle connection older than this is not used again */
#define NAMES_KEPT_S     60L /* as long as the usual load balancer's name lives */
#define KEEPALIVE_S      30L
#define ENCODINGS        "gzip, deflate"
#define HEADERS_OF_OURS  2 /* User-Agent and Accept-Encoding */
#define RECEIVE_BUFFER   (16L << 10)

/* ---- what curl calls -------------------------------------------------------------------------------------------- */

static bool is_redirect(const struct http_slot *slot, long http_status)
{
    return slot->transfer->redirects_max && http_status >= 300 && http_status < 400 && http_status != 304 &&
           transfer_header(slot->transfer, "Location");
}

static void headers_ended(struct http_slot *slot)
{
    struct transfer *transfer = slot->transfer;
    long http_status = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &http_status);
    if (http_status < 200 || is_redirect(slot, http_status))
        return;
    slot->headers_done = true;
    transfer->http_status = (int)http_status;
    tape_headers(transfer);
    curl_off_t length = -1;
    curl_easy_getinfo(slot->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length > 0 && (uint64_t)length > transfer->response_max && strcmp(transfer->method, "HEAD") != 0)
        slot->too_large = true; /* known before a byte of it has come */
    else if (transfer->headers_received)
        transfer->headers_received(transfer, transfer->http_status);
}

/* CURLOPT_HEADERFUNCTION: a line each time, an empty one at the end of each block. */
static size_t header_line(char *line, size_t size, size_t count, void *data)
{
    struct http_slot *slot = data;
    struct transfer *transfer = slot->transfer;
    size_t length = size * count;
    if (transfer->state == TRANSFER_ENDING)
        return CURL_WRITEFUNC_ERROR;
    const char *colon = memchr(line, ':', length);
    transfer->answered = true;
    slot->names_seen |= colon ? header_bit(line, (size_t)(colon - line)) : 0;
    slot->header_bytes += length;
    if (slot->header_bytes > TRANSFER_RESPONSE_HEADER_MAX) {
        slot->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (length <= 2 && !slot->headers_done && (line[0] == '\r' || line[0] == '\n')) {
        transfer->active_ns = clock_now_ns();
        headers_ended(slot);
    }
    return transfer->state == TRANSFER_ENDING || slot->too_large ? CURL_WRITEFUNC_ERROR : length;
}

/* CURLOPT_WRITEFUNCTION: decompressed. */
static size_t body_piece(char *bytes, size_t size, size_t count, void *data)
{
    struct http_slot *slot = data;
    struct transfer *transfer = slot->transfer;
    size_t length = size * count;
    if (transfer->state == TRANSFER_ENDING)
        return CURL_WRITEFUNC_ERROR;
    if (transfer->paused) {
        transfer->held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    transfer->active_ns = clock_now_ns();
    if (length > transfer->response_max - transfer->received) {
        slot->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    transfer->received += length;
    tape_piece(transfer, bytes, length);
    if (transfer->body_received)
        transfer->body_received(transfer, bytes, length);
    else
        buffer_append(&slot->content, bytes, length);
    slot->too_large |= slot->content.failed;
    return transfer->state == TRANSFER_ENDING || slot->too_large ? CURL_WRITEFUNC_ERROR : length;
}

/* CURLOPT_PREREQFUNCTION: each time a request is about to go out. curl sends it again by itself where a kept connection
 * died without an answer, of whatever method; the peer may have had the first. */
static int about_to_send(void *data, char *peer, char *local, int peer_port, int local_port)
{
    struct http_slot *slot = data;
    long redirects = 0;
    slot->connected = true;
    if (slot->sends++ && !slot->transfer->may_repeat) {
        curl_easy_getinfo(slot->easy, CURLINFO_REDIRECT_COUNT, &redirects);
        slot->repeated = redirects == slot->redirects;
        slot->redirects = redirects;
    }
    return slot->repeated ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* ---- from hand to hand ------------------------------------------------------------------------------------------ */

static CURL *easy_create(struct http_client *client, struct http_slot *slot)
{
    CURL *easy = curl_easy_init();
    if (!easy)
        fatal("http.memory", "no memory for an HTTP transfer");
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->error);
    curl_easy_setopt(easy, CURLOPT_SHARE, client->share);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* or a cancelled name lookup would be waited for */
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, client->proxy); /* "" also switches the environment's off */
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    if (client->proxy[0]) /* for its CONNECT; our own requests have it in their list */
        curl_easy_setopt(easy, CURLOPT_USERAGENT, client->user_agent);
    if (client->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     (long)(client->options.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, client->options.http2 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S / 3);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, CONNECTION_AGE_S);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, NAMES_KEPT_S);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, slot);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, client);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_send);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_line);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_piece);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    return easy;
}

struct http_slot *slot_take(struct http_client *client)
{
    struct http_slot *slot = client->slots;
    if (slot) {
        client->slots = slot->next;
        client->slot_count--;
        return slot;
    }
    slot = calloc(1, sizeof *slot);
    if (!slot)
        fatal("http.memory", "no memory for an HTTP transfer");
    buffer_init(&slot->content, SIZE_MAX);
    buffer_init(&slot->lines, SIZE_MAX);
    slot->easy = easy_create(client, slot);
    return slot;
}

void slot_destroy(struct http_slot *slot)
{
    curl_easy_cleanup(slot->easy);
    buffer_fini(&slot->content);
    buffer_fini(&slot->lines);
    free(slot->entries);
    free(slot);
}

static void empty(struct buffer *buffer, size_t keep)
{
    if (buffer->capacity > keep)
        buffer_fini(buffer);
    buffer_clear(buffer);
}

void slot_give_back(struct http_client *client, struct http_slot *slot)
{
    slot->transfer = NULL;
    if (client->slot_count == SLOTS_KEPT_MAX) {
        slot_destroy(slot);
        return;
    }
    if (slot->lines.length)
        explicit_bzero(slot->lines.data, slot->lines.length); /* keys may stand there */
    empty(&slot->lines, LINES_KEPT);
    empty(&slot->content, CONTENT_KEPT);
    slot->next = client->slots;
    client->slots = slot;
    client->slot_count++;
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

/* One of curl's lists, pointing at a line. */
static void add_entry(struct http_slot *slot, size_t *count, char *line)
{
    slot->entries[*count].data = line;
    slot->entries[*count].next = &slot->entries[*count + 1];
    ++*count;
}

static void add_line(struct http_slot *slot, size_t *count, const struct http_header *header)
{
    char *line = slot->lines.data + slot->lines.length;
    buffer_print(&slot->lines, header->name);
    buffer_print(&slot->lines, *header->value ? ": " : ";");
    buffer_append(&slot->lines, header->value, strlen(header->value) + 1);
    add_entry(slot, count, line);
}

/* Room for the lines of the transfer's own headers; false where one of them cannot be sent. What they have is noted. */
static bool make_room(struct http_slot *slot, const struct transfer *transfer, struct header_marks *marks)
{
    size_t count = transfer->extra_count + HEADERS_OF_OURS, room = 1;
    for (size_t i = 0; i < transfer->extra_count; i++) {
        if (!http_header_is_valid(transfer->extra[i].name, transfer->extra[i].value))
            return false;
        http_header_mark(marks, transfer->extra[i].name);
        room += strlen(transfer->extra[i].name) + strlen(transfer->extra[i].value) + 3;
    }
    if (count > slot->entry_room) {
        free(slot->entries);
        slot->entries = malloc(count * sizeof *slot->entries);
        slot->entry_room = slot->entries ? count : 0;
    }
    /* Once, so that the lines stay where they are. */
    if (!slot->entries || !buffer_reserve(&slot->lines, room))
        fatal("http.memory", "no memory for headers");
    return true;
}

/* The transfer's own headers, ours, and those it shares. Ours stand in the list because curl prints its own options
 * twice, character by character. NULL where one cannot be sent. */
static struct curl_slist *header_list(struct http_slot *slot, const struct transfer *transfer)
{
    static char accept_encoding[] = "Accept-Encoding: " ENCODINGS;
    struct curl_slist *shared =
        transfer->headers && transfer->headers->first ? transfer->headers->first : &http_headers_end;
    struct header_marks marks = transfer->headers ? transfer->headers->marks : (struct header_marks){0};
    size_t count = 0;
    if (!make_room(slot, transfer, &marks))
        return NULL;
    for (size_t i = 0; i < transfer->extra_count; i++)
        add_line(slot, &count, &transfer->extra[i]);
    if (!marks.user_agent)
        add_entry(slot, &count, transfer->client->user_agent_line);
    if (transfer->decompress && !marks.accept_encoding)
        add_entry(slot, &count, accept_encoding);
    if (!count)
        return shared;
    slot->entries[count - 1].next = shared;
    return slot->entries;
}

static void set_method(CURL *easy, const struct transfer *transfer)
{
    bool post = strcmp(transfer->method, "POST") == 0, get = strcmp(transfer->method, "GET") == 0;
    bool head = strcmp(transfer->method, "HEAD") == 0;
    curl_easy_setopt(easy, CURLOPT_NOBODY, head ? 1L : 0L);
    if (transfer->body || post) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body ? transfer->body : "");
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(transfer->body ? transfer->body_size : 0));
    } else if (!head) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    bool plain = head || (transfer->body ? post : post || get);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, plain ? NULL : transfer->method);
}

bool slot_prepare(struct http_slot *slot, struct transfer *transfer)
{
    CURL *easy = slot->easy;
    slot->transfer = transfer;
    slot->header_bytes = 0;
    slot->names_seen = 0;
    slot->sends = 0;
    slot->redirects = 0;
    slot->headers_done = slot->too_large = slot->repeated = slot->forbidden = slot->connected = false;
    slot->error[0] = '\0';
    slot->content.limit = transfer->response_max < SIZE_MAX ? transfer->response_max : SIZE_MAX - 1;
    struct curl_slist *headers = header_list(slot, transfer);
    if (!headers)
        return false;
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_CURLU, transfer->url->parts);
    set_method(easy, transfer);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)transfer->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, transfer->redirects_max ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)transfer->redirects_max);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, transfer->decompress ? ENCODINGS : NULL);
    return true;
}
