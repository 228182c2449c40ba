/* The transport through curl, for features that only curl has: redirects, proxies, credentials in a URL, international
 * names and HTTP/2. A slot has an easy handle, set up once. */
#include "base/clock.h"
#include "base/memory.h"
#include "http/client_priv.h"
#include "http/http1.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINES_KEPT       (4u << 10)
#define CONNECTIONS_KEPT 256L /* idle ones of a pool; more than run at once, for many hosts */
#define RECEIVE_BUFFER   (16L << 10)

struct easy_slot {
    struct http_slot slot;
    struct easy_job job;
    struct buffer lines;        /* of the request's headers, each with a NUL behind it */
    struct curl_slist *entries; /* pointing into `lines` */
    size_t entry_room;
    size_t header_bytes;
    uint64_t names_seen; /* http1_name_bit of each received header */
    unsigned sends;      /* number of times that the request was sent */
    long redirects;      /* redirects before the last send */
    bool headers_done;   /* of the final answer */
    bool repeated;
};

static struct easy_slot *easy_of(struct http_slot *slot)
{
    return (struct easy_slot *)(void *)slot;
}

/* ---- curl's callbacks ------------------------------------------------------------------------------------------- */

static bool easy_is_redirect(const struct easy_slot *own, long http_status)
{
    const struct transfer *transfer = own->slot.transfer;
    return transfer->redirects_max && http_status >= 300 && http_status < 400 && http_status != 304 &&
           transfer_header(transfer, "Location");
}

static void headers_ended(struct easy_slot *own)
{
    long http_status = 0;
    curl_off_t length = -1;
    curl_easy_getinfo(own->job.easy, CURLINFO_RESPONSE_CODE, &http_status);
    if (http_status < 200 || easy_is_redirect(own, http_status))
        return;
    own->headers_done = true;
    curl_easy_getinfo(own->job.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    slot_head_received(&own->slot, (int)http_status, length > 0, (uint64_t)length);
}

static bool easy_goes_on(const struct easy_slot *own)
{
    return own->slot.transfer->state == TRANSFER_RUNNING && !own->slot.too_large;
}

/* CURLOPT_HEADERFUNCTION: a line each time, an empty one at the end of each block. */
static size_t header_line(char *line, size_t size, size_t count, void *data)
{
    struct easy_slot *own = data;
    struct transfer *transfer = own->slot.transfer;
    size_t length = size * count;
    if (transfer->state == TRANSFER_ENDING)
        return CURL_WRITEFUNC_ERROR;
    const char *colon = memchr(line, ':', length);
    transfer->answered = true;
    own->names_seen |= colon ? http1_name_bit(line, (size_t)(colon - line)) : 0;
    own->header_bytes += length;
    own->slot.too_large |= own->header_bytes > TRANSFER_RESPONSE_HEADER_MAX;
    if (easy_goes_on(own) && length <= 2 && !own->headers_done && (line[0] == '\r' || line[0] == '\n')) {
        transfer->active_ns = clock_now_ns();
        headers_ended(own);
    }
    return easy_goes_on(own) ? length : CURL_WRITEFUNC_ERROR;
}

/* CURLOPT_WRITEFUNCTION: decompressed. */
static size_t body_piece(char *bytes, size_t size, size_t count, void *data)
{
    struct easy_slot *own = data;
    struct transfer *transfer = own->slot.transfer;
    if (transfer->state == TRANSFER_ENDING)
        return CURL_WRITEFUNC_ERROR;
    if (transfer->paused) {
        transfer->held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    return slot_piece_received(&own->slot, bytes, size * count) ? size * count : CURL_WRITEFUNC_ERROR;
}

/* CURLOPT_PREREQFUNCTION: runs before each request is sent. When a kept connection died without an answer, curl sends
 * the request again, with any method; the peer may have received the first. */
static int about_to_send(void *data, char *peer, char *local, int peer_port, int local_port)
{
    struct easy_slot *own = data;
    long redirects = 0;
    own->slot.connected = true;
    if (own->sends++ && !own->slot.transfer->may_repeat) {
        curl_easy_getinfo(own->job.easy, CURLINFO_REDIRECT_COUNT, &redirects);
        own->repeated = redirects == own->redirects;
        own->redirects = redirects;
    }
    return own->repeated ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void easy_fail(struct easy_slot *own, CURLcode result)
{
    struct http_slot *slot = &own->slot;
    const char *detail = own->job.error[0] ? own->job.error : curl_easy_strerror(result);
    if (slot->transfer->state == TRANSFER_ENDING || (result == CURLE_OK && !slot->too_large))
        return;
    slot->forbidden = own->job.forbidden;
    detail = transfer_public_detail(slot->transfer, detail, curl_easy_strerror(result));
    switch (slot->too_large ? CURLE_FILESIZE_EXCEEDED : result) {
    case CURLE_FILESIZE_EXCEEDED:
        transfer_fail_too_large(slot, own->header_bytes > TRANSFER_RESPONSE_HEADER_MAX);
        return;
    case CURLE_TOO_MANY_REDIRECTS:
        transfer_fail(slot->transfer, TRANSFER_FORBIDDEN, FAILED_PRECONDITION, "%s redirects more than %u times",
                      transfer_peer_name(slot->transfer), slot->transfer->redirects_max);
        return;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        transfer_fail_malformed(slot, detail);
        return;
    default:
        if (curl_failed_to_connect(result))
            transfer_fail_unconnected(slot, result, detail);
        else
            transfer_fail_cut(slot, own->repeated, detail);
    }
}

static void transfer_done(struct easy_job *job, CURLcode result)
{
    struct easy_slot *own = CONTAINER_OF(job, struct easy_slot, job);
    easy_fail(own, result);
    transfer_conclude(own->slot.transfer);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static struct http_slot *create(struct http_client *client)
{
    struct easy_slot *own = xcalloc(1, sizeof *own);
    buffer_init(&own->lines, SIZE_MAX);
    own->job.done = transfer_done;
    CURL *easy = easy_create(client, &own->job);
    bool http2 = client->options.http2;
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    if (client->proxy[0]) /* for its CONNECT; our own requests have it in their list */
        curl_easy_setopt(easy, CURLOPT_USERAGENT, client->user_agent);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, http2 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, LINK_IDLE_S);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_send);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, own);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_line);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, own);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_piece);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, own);
    return &own->slot;
}

static void easy_destroy(struct http_slot *slot)
{
    struct easy_slot *own = easy_of(slot);
    curl_easy_cleanup(own->job.easy);
    buffer_fini(&own->lines);
    free(own->entries);
    free(own);
}

static void easy_stop(struct http_slot *slot)
{
    if (slot->transfer->end != TRANSFER_COMPLETE) /* or its headers could not be read any more */
        multi_remove(&easy_of(slot)->job);
}

static void easy_rest(struct http_slot *slot)
{
    struct easy_slot *own = easy_of(slot);
    multi_remove(&own->job);
    if (own->lines.length)
        explicit_bzero(own->lines.data, own->lines.length); /* it may contain keys */
    if (own->lines.capacity > LINES_KEPT)
        buffer_fini(&own->lines);
    buffer_clear(&own->lines);
}

static void easy_resume(struct http_slot *slot)
{
    struct easy_slot *own = easy_of(slot);
    struct multi *multi = own->job.multi;
    slot->transfer->held = false;
    curl_easy_pause(own->job.easy, CURLPAUSE_CONT);
    multi_collect(multi);
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static void easy_add_line(struct easy_slot *own, size_t *count, const char *text, size_t length)
{
    own->entries[*count].data = own->lines.data + own->lines.length;
    own->entries[*count].next = &own->entries[*count + 1];
    ++*count;
    buffer_append(&own->lines, text, length);
    buffer_put(&own->lines, '\0');
}

static void write_headers(struct easy_slot *own)
{
    struct buffer head;
    buffer_init(&head, SIZE_MAX);
    request_write_head(own->slot.transfer, &head);
    size_t lines = 2;
    for (size_t i = 0; i < head.length; i++)
        lines += head.data[i] == '\n';
    if (lines > own->entry_room) {
        free(own->entries);
        own->entries = malloc(lines * sizeof *own->entries);
        own->entry_room = lines;
    }
    /* Reserves once, so that the lines do not move. */
    if (!own->entries || !buffer_reserve(&own->lines, head.length + sizeof "Expect:"))
        memory_exhausted();
    buffer_text(&head);
    /* The list holds all lines except the request line, Host and the body's fields, which curl writes by itself. For
     * curl, "Name;" is a header without a value, and "Name:" removes one. */
    size_t count = 0;
    struct header_marks marks = {0};
    transfer_mark_headers(own->slot.transfer, &marks);
    const char *end = head.data + head.length - 2; /* the empty line */
    for (const char *line = strchr(head.data, '\n') + 1, *next; line < end; line = next) {
        size_t length = (size_t)(strchr(line, '\r') - line);
        next = line + length + 2;
        if ((strncasecmp(line, "Host:", 5) == 0 && !marks.host) || strncasecmp(line, "Content-Length:", 15) == 0)
            continue;
        easy_add_line(own, &count, line, length);
        char *name_end = strchr(own->entries[count - 1].data, ':');
        if (strcmp(name_end, ": ") == 0)
            memcpy(name_end, ";", 2);
    }
    easy_add_line(own, &count, "Expect:", 7);
    own->entries[count - 1].next = NULL;
    explicit_bzero(head.data, head.length);
    buffer_fini(&head);
}

static void easy_begin(struct http_slot *slot)
{
    struct easy_slot *own = easy_of(slot);
    struct transfer *transfer = slot->transfer;
    CURL *easy = own->job.easy;
    own->job.address_allowed = transfer->address_allowed;
    own->header_bytes = 0;
    own->names_seen = 0;
    own->sends = 0;
    own->redirects = 0;
    own->headers_done = own->repeated = false;
    write_headers(own);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, own->entries);
    curl_easy_setopt(easy, CURLOPT_URL, NULL); /* or it would return the URL of the previous transfer */
    curl_easy_setopt(easy, CURLOPT_CURLU, transfer->url->parts);
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
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)transfer->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, transfer->redirects_max ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)transfer->redirects_max);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, transfer->decompress ? ENCODINGS : NULL);
    if (!slot->pool->transfers)
        slot->pool->transfers = multi_create(slot->client, CONNECTIONS_KEPT);
    if (!multi_add(slot->pool->transfers, &own->job))
        transfer_fail_no_memory(slot);
}

/* ---- the answer's headers --------------------------------------------------------------------------------------- */

static const char *easy_header(struct http_slot *slot, const char *name)
{
    struct easy_slot *own = easy_of(slot);
    struct curl_header *found;
    if (!(own->names_seen & http1_name_bit(name, strlen(name))))
        return NULL;
    /* -1: of the last answer, the redirects before it left out */
    if (curl_easy_header(own->job.easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    size_t last = found->amount - 1;
    if (last && curl_easy_header(own->job.easy, name, last, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

static void easy_each_header(struct http_slot *slot, void (*heard)(void *data, const char *name, const char *value),
                             void *data)
{
    struct curl_header *found = NULL;
    while ((found = curl_easy_nextheader(easy_of(slot)->job.easy, CURLH_HEADER, -1, found)))
        heard(data, found->name, found->value);
}

const struct http_transport curl_transport = {TRANSPORT_CURL, create,      easy_destroy, easy_begin,      easy_stop,
                                              easy_rest,      easy_resume, easy_header,  easy_each_header};
