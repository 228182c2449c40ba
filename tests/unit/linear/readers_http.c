/* shared/http: messages, events, recorded exchanges, URLs and hosts. shared/redis: replies. */
#include "readers.h"

#include "http/address_text.h"
#include "http/cassette_priv.h"
#include "http/client.h"
#include "http/coding.h"
#include "http/hosts.h"
#include "http/http1.h"
#include "http/server_priv.h"
#include "http/sse.h"
#include "provider/ndjson.h"
#include "redis/replies.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define HEAD_MAX  (8u << 20)
#define EVENT_MAX ((size_t)8 << 20)
#define PIECE     997 /* bytes at a time */

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void http_read_target(struct http1 *reader)
{
    static struct http_server server;
    struct http_request request = {.server = &server, .reader = *reader};
    arena_init(&request.arena, NULL, 0, INPUT_MEMORY_MAX);
    if (target_read(&request))
        http_request_query(&request, "a");
    arena_fini(&request.arena);
    http1_field(reader, "content-type");
}

static void http_read_message(struct http1 *reader, const char *text, size_t length, size_t at_a_time)
{
    for (size_t at = 0; at < length;) {
        size_t taken, size = length - at < at_a_time ? length - at : at_a_time;
        enum http1_event event = http1_next(reader, text + at, size, &taken);
        if (event == HTTP1_HEAD && reader->is_request)
            http_read_target(reader);
        at += taken;
        if (event == HTTP1_END || event == HTTP1_INVALID || event == HTTP1_TOO_LARGE)
            return;
    }
}

static void http_read_request(struct input *in)
{
    struct http1 reader = {0};
    http1_begin_request(&reader, HEAD_MAX);
    http_read_message(&reader, in->text, in->length, in->length);
    http1_begin_request(&reader, HEAD_MAX);
    http_read_message(&reader, in->text, in->length, PIECE);
    http1_fini(&reader);
}

static void http_read_answer(struct input *in)
{
    struct http1 reader = {0};
    buffer_printf(&in->out, "HTTP/1.1 200 OK\r\n%s", in->text);
    http1_begin(&reader, false);
    http_read_message(&reader, buffer_text(&in->out), in->out.length, PIECE);
    http1_fini(&reader);
}

/* ---- in pieces --------------------------------------------------------------------------------------------------- */

/* The next bytes; NULL behind the last. */
static const char *next_piece(const struct input *in, size_t *at, size_t *size)
{
    const char *piece = in->text + *at;
    *size = in->length - *at < PIECE ? in->length - *at : PIECE;
    *at += *size;
    return *size ? piece : NULL;
}

static bool event_heard(void *owner, const struct sse_event *event)
{
    *(size_t *)owner += event->size;
    return true;
}

static bool line_heard(void *owner, const char *line, size_t size)
{
    *(size_t *)owner += size;
    return true;
}

static void read_events(struct input *in)
{
    struct sse sse;
    size_t heard = 0, at = 0, size;
    sse_init(&sse, EVENT_MAX, event_heard, &heard);
    for (const char *piece; (piece = next_piece(in, &at, &size));)
        sse_feed(&sse, piece, size, &in->st);
    sse_fini(&sse);
}

static void http_read_lines(struct input *in)
{
    struct ndjson ndjson;
    size_t heard = 0, at = 0, size;
    ndjson_init(&ndjson, EVENT_MAX, line_heard, &heard);
    for (const char *piece; (piece = next_piece(in, &at, &size));)
        ndjson_feed(&ndjson, piece, size, &in->st);
    ndjson_end(&ndjson);
    ndjson_fini(&ndjson);
}

static void read_replies(struct input *in)
{
    struct redis_replies *replies = redis_replies_create(EVENT_MAX, EVENT_MAX);
    struct redis_reply *reply;
    size_t at = 0, size;
    bool good = replies != NULL;
    for (const char *piece; good && (piece = next_piece(in, &at, &size));) {
        good = redis_replies_feed(replies, piece, size);
        while (good && (good = redis_replies_next(replies, &reply)) && reply)
            redis_reply_free(&reply);
    }
    redis_replies_destroy(&replies);
}

static void http_decode_chunks(const char *name, const char *bytes, size_t size)
{
    char out[4096];
    size_t taken, made;
    struct coding *coding = coding_create(name);
    enum coding_event event = CODING_PIECE;
    for (size_t at = 0; event == CODING_PIECE || (event == CODING_MORE && at < size); at += taken)
        event = coding_next(coding, bytes + at, size - at, &taken, out, sizeof out, &made);
    coding_is_whole(coding);
    coding_destroy(&coding);
}

/* The text as a body that pretends to be packed, and packed. */
static void read_packed(struct input *in)
{
    uLongf size = compressBound(in->length);
    Bytef *packed = malloc(size);
    compress(packed, &size, (const Bytef *)in->text, in->length);
    http_decode_chunks("deflate", (const char *)packed, size);
    http_decode_chunks("deflate", in->text, in->length);
    http_decode_chunks("gzip", in->text, in->length);
    free(packed);
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

static void http_read_exchange(struct input *in)
{
    struct recorded recorded;
    if (recorded_read(&recorded, in->text, in->length, &in->st))
        recorded_fini(&recorded);
}

static void http_read_url(struct input *in)
{
    struct http_url *url = http_url_parse(in->text, &in->st);
    http_url_destroy(&url);
}

static void http_read_host(struct input *in)
{
    host_is_valid(in->text);
    host_is_allowed(in->text, "127.0.0.1:80", "a.example, *.example");
    host_is_allowed("a", "127.0.0.1:80", in->text);
    free(http_host_ascii(in->text, &in->st));
}

static void http_read_address(struct input *in)
{
    struct sockaddr_storage address;
    socklen_t size;
    address_parse(in->text, &address, &size, &in->st);
}

static const struct generator exchanges[] = {
    {"pieces", 0, .begin = "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"pieces\":[{\"text\":\"\"}",
     .unit = ",{\"after_ms\":1,\"text\":\"a\"}", .end = "]}"},
    {"headers", 0, .begin = "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"headers\":{\"a\":\"b\"",
     .unit = ",\"a\1\":\"b\"", .end = "}}"},
    {.name = NULL},
};

static const struct generator replies_of_redis[] = {
    {"numbers", 0, .unit = ":1\r\n"},
    {"empty strings", 0, .unit = "$0\r\n\r\n"},
    {"a line that does not end", 0, .begin = "+", .unit = "a"},
    {"lists in lists", 0, .unit = "*1\r\n"},
    {"empty lists", 0, .unit = "*0\r\n"},
    {.name = NULL},
};

static const struct generator urls[] = {
    {"a long path", 0, .begin = "https://a/", .unit = "a"},
    {"folders of a path", 0, .begin = "https://a/", .unit = "a/../"},
    {"a long query", 0, .begin = "https://a/?", .unit = "a=\1&"},
    {"a long host", 0, .begin = "https://", .unit = "a."},
    {"letters of a host", 0, .begin = "https://", .unit = "あ"},
    {"users of a host", 0, .begin = "https://", .unit = "a:b@"},
    {"escapes of a host", 0, .begin = "https://", .unit = "%61"},
    {"a long port", 0, .begin = "https://a:", .unit = "1"},
    {.name = NULL},
};

const struct reader readers_http[] = {
    {"request of HTTP", http_read_request, .sets = HOSTILE_HEAD | HOSTILE_STREAM},
    {"answer of HTTP", http_read_answer, .sets = HOSTILE_HEAD | HOSTILE_STREAM},
    {"body that is packed", read_packed, .sets = HOSTILE_BYTES | HOSTILE_STREAM},
    {"server-sent events", read_events, .sets = HOSTILE_STREAM},
    {"lines of JSON", http_read_lines, .sets = HOSTILE_STREAM},
    {"recorded exchange", http_read_exchange, .sets = HOSTILE_JSON, .own = exchanges},
    {"replies of Redis", read_replies, .sets = HOSTILE_STREAM, .own = replies_of_redis},
    {"URL", http_read_url, .sets = HOSTILE_FIELD, .own = urls},
    {"host", http_read_host, .sets = HOSTILE_FIELD},
    {"address", http_read_address, .sets = HOSTILE_FIELD},
    {.name = NULL},
};
