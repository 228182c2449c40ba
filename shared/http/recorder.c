/* The recorder: records one transfer. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "http/cassette_priv.h"
#include "http/client_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADER_VALUE_MAX 1024 /* bytes; one that is longer is left out */

struct recorder {
    int64_t last_ns; /* arrival time of the last piece */
    struct recorded recorded;
    size_t piece_capacity;
};

/* The recorded headers of an answer; a star at the end matches any rest. */
static const char *const kept_headers[] = {
    "content-type", "retry-after*",   "x-ratelimit-*",   "anthropic-ratelimit-*", "x-request-id",
    "request-id",   "x-should-retry", "apim-request-id", "x-ms-request-id",       "x-ms-region",
};

static bool is_kept(const char *name)
{
    for (size_t i = 0; i < sizeof kept_headers / sizeof *kept_headers; i++) {
        size_t length = strlen(kept_headers[i]);
        bool any = kept_headers[i][length - 1] == '*';
        if (any ? strncasecmp(name, kept_headers[i], length - 1) == 0 : strcasecmp(name, kept_headers[i]) == 0)
            return true;
    }
    return false;
}

static int64_t passed_ms(struct recorder *recorder)
{
    int64_t now_ns = clock_now_ns(), passed_ns = now_ns - recorder->last_ns;
    recorder->last_ns = now_ns;
    return passed_ns / NS_PER_MS;
}

void transfer_record(struct transfer *transfer, struct cassette *cassette)
{
    transfer->cassette = cassette;
}

void recorder_begin(struct transfer *transfer)
{
    struct recorder *recorder = xcalloc(1, sizeof *recorder);
    recorder->last_ns = clock_now_ns();
    buffer_init(&recorder->recorded.request, SIZE_MAX);
    buffer_init(&recorder->recorded.body, CASSETTE_BODY_MAX);
    transfer->recorder = recorder;
}

void recorder_headers(struct transfer *transfer)
{
    if (transfer->recorder)
        transfer->recorder->recorded.after_ms = passed_ms(transfer->recorder);
}

void recorder_piece(struct transfer *transfer, const char *bytes, size_t size)
{
    struct recorder *recorder = transfer->recorder;
    if (!recorder || !size)
        return;
    struct recorded *recorded = &recorder->recorded;
    if (recorded->piece_count == recorder->piece_capacity) {
        recorder->piece_capacity = recorder->piece_capacity ? 2 * recorder->piece_capacity : 8;
        recorded->pieces = xrealloc(recorded->pieces, recorder->piece_capacity * sizeof *recorded->pieces);
    }
    buffer_append(&recorded->body, bytes, size);
    recorded->pieces[recorded->piece_count++] = (struct recorded_piece){.size = size, .after_ms = passed_ms(recorder)};
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void keep_header(void *data, const char *name, const char *value)
{
    struct recorded *recorded = data;
    size_t length = strlen(value), i = 0;
    if (!is_kept(name) || length > HEADER_VALUE_MAX || !text_is_clean(value, length))
        return;
    while (i < recorded->header_count && strcasecmp(recorded->headers[i].name, name) != 0)
        i++;
    if (i == recorded->header_count) {
        recorded->headers = xrealloc(recorded->headers, (i + 1) * sizeof *recorded->headers);
        recorded->headers[recorded->header_count++] = (struct recorded_header){xstrdup(name), NULL};
    }
    free(recorded->headers[i].value); /* the last of several counts, as in transfer_header */
    recorded->headers[i].value = xstrdup(value);
}

static void recorder_redact(struct transfer *transfer, struct recorded *recorded)
{
    struct buffer body;
    buffer_init(&body, CASSETTE_BODY_MAX);
    cassette_redact(transfer->cassette, transfer->body, transfer->body ? transfer->body_size : 0, &recorded->request);
    cassette_redact(transfer->cassette, recorded->body.data, recorded->body.length, &body);
    buffer_fini(&recorded->body);
    recorded->body = body;
    /* Cuts the redacted body into pieces of the original sizes; the last piece takes the rest. */
    size_t left = recorded->body.length;
    if (!left)
        recorded->piece_count = 0;
    for (size_t i = 0; i < recorded->piece_count; i++) {
        struct recorded_piece *piece = &recorded->pieces[i];
        piece->size = piece->size < left && i + 1 < recorded->piece_count ? piece->size : left;
        left -= piece->size;
        if (!left)
            recorded->piece_count = i + 1;
    }
}

static void recorder_keep(struct transfer *transfer, struct recorded *recorded)
{
    recorded->method = xstrdup(transfer->method);
    recorded->path = xnonnull(http_url_path(transfer->url));
    recorded->end = transfer->end;
    recorded->status = transfer->status;
    recorded->answered = transfer->answered;
    recorded->stale = transfer->stale;
    recorded->http_status = transfer->http_status;
    if (transfer->http_status && transfer->slot)
        transfer->slot->transport->each_header(transfer->slot, keep_header, recorded);
    bool fits = !recorded->body.failed;
    if (fits)
        recorder_redact(transfer, recorded);
    if (fits && !recorded->body.failed && !recorded->request.failed)
        cassette_append(transfer->cassette, recorded);
    else
        cassette_drop(transfer->cassette, "its body is too large");
}

/* True if the server ended it, not the owner. */
static bool is_the_servers(enum transfer_end end)
{
    switch (end) {
    case TRANSFER_COMPLETE:
    case TRANSFER_UNCONNECTED:
    case TRANSFER_LATE:
    case TRANSFER_SILENT:
    case TRANSFER_CUT:
    case TRANSFER_MALFORMED:
        return true;
    default:
        return false;
    }
}

void recorder_end(struct transfer *transfer)
{
    struct recorder *recorder = transfer->recorder;
    if (!recorder)
        return;
    transfer->recorder = NULL;
    if (transfer->ran && is_the_servers(transfer->end))
        recorder_keep(transfer, &recorder->recorded);
    recorded_fini(&recorder->recorded);
    free(recorder);
}
