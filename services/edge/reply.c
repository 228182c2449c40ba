/* Answers that are no errors, and the headers of all. */
#include "edge_priv.h"

#include "assets.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/trace.h"
#include "errors.h"
#include "gzip.h"
#include "loop/jobs.h"
#include "origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_ID_MAX  128                 /* bytes of a client's own */
#define PACK_MIN        ((size_t)1 << 10)   /* a smaller answer is one packet in any case */
#define PACK_INLINE_MAX ((size_t)64 << 10)  /* packed in the loop, in less than a millisecond */
#define TAG_MAX         ((size_t)256 << 10) /* larger answers have no ETag */
#define OPENAPI_PATH    "/openapi.json"
#define TAG_SIZE        40
#define TAG_BYTES       12

static bool reply_id_is_valid(const char *id)
{
    size_t length = strlen(id);
    for (size_t i = 0; i < length; i++)
        if (id[i] <= ' ' || id[i] > '~')
            return false;
    return length > 0 && length <= REQUEST_ID_MAX;
}

static void reply_name_request(struct http_request *request)
{
    const char *given = http_request_header(request, "x-request-id");
    const uint64_t number[2] = {random_u64(), random_u64()};
    char id[2 * sizeof number + 1];
    trace_hex((const uint8_t *)number, sizeof number, id);
    http_reply_header(request, "X-Request-Id", given && reply_id_is_valid(given) ? given : id);
}

void edge_reply_headers(const struct edge *edge, struct http_request *request)
{
    const char *target = http_request_target(request);
    bool is_document = strncmp(target, OPENAPI_PATH, sizeof OPENAPI_PATH - 1) == 0;
    reply_name_request(request);
    http_reply_header(request, "Cache-Control", is_document ? "no-cache" : "no-store"); /* it has an ETag and no data */
    http_reply_header(request, "X-Content-Type-Options", "nosniff");
    origin_allow(edge, request);
}

/* ---- packed ------------------------------------------------------------------------------------------------------ */

/* An answer that a worker packs. */
struct packing {
    struct job job;
    struct edge *edge;
    struct http_request *request;
    int http_status;
    char *bytes, *packed;
    size_t size, packed_size;
};

static void reply_take(struct http_request *request, int http_status, char *bytes, size_t size, char *packed,
                       size_t packed_size)
{
    http_reply_header(request, "Vary", "Accept-Encoding");
    if (packed) {
        http_reply_header(request, "Content-Encoding", "gzip");
        free(bytes);
    }
    http_reply_take(request, http_status, EDGE_TYPE_JSON, packed ? packed : bytes, packed ? packed_size : size);
}

static void reply_pack(struct job *job)
{
    struct packing *packing = CONTAINER_OF(job, struct packing, job);
    packing->packed = gzip_pack(packing->bytes, packing->size, GZIP_FAST, &packing->packed_size);
}

static void reply_packed(struct job *job)
{
    struct packing *packing = CONTAINER_OF(job, struct packing, job);
    struct edge *edge = packing->edge;
    reply_take(packing->request, packing->http_status, packing->bytes, packing->size, packing->packed,
               packing->packed_size);
    free(packing);
    edge->calls--;
    edge_check_drained(edge);
}

static void reply_start_packing(struct edge *edge, struct http_request *request, int http_status, char *bytes,
                                size_t size)
{
    struct packing *packing = calloc(1, sizeof *packing);
    if (!packing) {
        reply_take(request, http_status, bytes, size, NULL, 0);
        return;
    }
    packing->job = (struct job){.loop = edge->loop, .run = reply_pack, .ended = reply_packed};
    packing->edge = edge;
    packing->request = request;
    packing->http_status = http_status;
    packing->bytes = bytes;
    packing->size = size;
    edge->calls++;
    job_start(&packing->job, size);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* A weak ETag of the answer; true if the client has it already. */
static bool reply_tag(struct http_request *request, const char *bytes, size_t size)
{
    const char *method = http_request_method(request);
    uint8_t digest[SHA256_SIZE];
    char digits[2 * TAG_BYTES + 1], tag[TAG_SIZE];
    if (size > TAG_MAX || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
        return false;
    sha256_of(bytes, size, digest);
    trace_hex(digest, TAG_BYTES, digits);
    snprintf(tag, sizeof tag, "W/\"%s\"", digits);
    http_reply_header(request, "ETag", tag);
    return assets_is_known(request, tag);
}

void edge_reply_json(struct edge *edge, struct http_request *request, int http_status, struct buffer *out)
{
    size_t size, packed_size;
    char *bytes = buffer_take(out, &size), *packed;
    buffer_clear(out);
    if (!bytes) {
        edge_fail_with(request, RESOURCE_EXHAUSTED, "the answer as JSON has more than %zu bytes", out->limit);
    } else if (http_status == 200 && reply_tag(request, bytes, size)) {
        free(bytes);
        http_reply(request, 304, NULL, NULL, 0);
    } else if (size < PACK_MIN || !assets_takes_gzip(request)) {
        http_reply_take(request, http_status, EDGE_TYPE_JSON, bytes, size);
    } else if (size <= PACK_INLINE_MAX) {
        packed = gzip_pack(bytes, size, GZIP_FAST, &packed_size);
        reply_take(request, http_status, bytes, size, packed, packed_size);
    } else {
        reply_start_packing(edge, request, http_status, bytes, size);
    }
}
