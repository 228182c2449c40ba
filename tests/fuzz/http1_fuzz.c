/* libFuzzer on messages of HTTP/1: one says the same however its bytes are split, and whatever part of a piece of the
 * body is given back; its packed content is unpacked to the same. The first byte is how many bytes come at a time (0:
 * all at once); the second's highest bit whether it is a request, its lowest whether it answers a HEAD, the rest how
 * much of a piece is given back. */
#include "http/coding.h"
#include "http/http1.h"
#include "http/server_priv.h"

#include <string.h>

#include "fuzz.h"

#define UNPACKED_MAX     ((size_t)1 << 20)
#define REQUEST_HEAD_MAX 512
#define TARGET_ARENA_MAX (64u << 10)

enum kind { ANSWER, ANSWER_TO_HEAD, REQUEST };

struct reading {
    struct http1 reader;
    enum http1_event last;
    struct buffer body, unpacked;
    struct coding *coding;
    bool broken;
    size_t left;
};

static void unpack(struct reading *reading, const char *bytes, size_t size)
{
    char piece[512];
    for (size_t taken, made; reading->coding && !reading->broken && reading->unpacked.length < UNPACKED_MAX;) {
        enum coding_event event = coding_next(reading->coding, bytes, size, &taken, piece, sizeof piece, &made);
        must(taken <= size && made <= sizeof piece);
        buffer_append(&reading->unpacked, piece, made);
        bytes += taken;
        size -= taken;
        reading->broken = event == CODING_BROKEN;
        if (event == CODING_MORE)
            return;
    }
}

/* It is decoded in place, so two readings are the same afterwards where they were before. */
static void read_target(const struct http1 *reader)
{
    static struct http_server server;
    struct http_request request = {.server = &server, .reader = *reader};
    must(*http1_method(reader) && *http1_target(reader) && !strpbrk(http1_target(reader), "\r\n \t"));
    size_t length = strlen(http1_target(reader));
    arena_init(&request.arena, NULL, 0, TARGET_ARENA_MAX);
    if (target_read(&request)) {
        const char *value = http_request_query(&request, "d");
        must((*request.path == '/' || *request.path == '*') && strlen(request.path) <= length);
        must(!value || strlen(value) < length);
    }
    arena_fini(&request.arena);
}

static void head_came(struct reading *reading)
{
    const struct http1 *reader = &reading->reader;
    const char *name = http1_field(reader, "content-encoding");
    if (reader->is_request)
        read_target(reader);
    else
        must(reader->status >= 200 && reader->status <= 599 && !reading->coding);
    if (name && coding_is_needed(name))
        reading->coding = coding_create(name);
}

static void feed(struct reading *reading, const char *bytes, size_t size, size_t give_back)
{
    do {
        size_t taken;
        reading->last = http1_next(&reading->reader, bytes, size, &taken);
        must(taken <= size);
        if (reading->last == HTTP1_HEAD)
            head_came(reading);
        if (reading->last == HTTP1_BODY) {
            size_t back = give_back < taken ? give_back : 0;
            must(taken > 0);
            http1_give_back(&reading->reader, back);
            taken -= back;
            buffer_append(&reading->body, bytes, taken);
            unpack(reading, bytes, taken);
        }
        bytes += taken;
        size -= taken;
    } while (reading->last == HTTP1_HEAD || reading->last == HTTP1_BODY || (reading->last == HTTP1_MORE && size));
    reading->left = size;
}

static void read_message(struct reading *reading, const char *bytes, size_t size, size_t at_a_time, enum kind kind,
                         size_t give_back)
{
    size_t head_max = kind == REQUEST ? REQUEST_HEAD_MAX : HTTP1_HEAD_MAX;
    memset(reading, 0, sizeof *reading);
    buffer_init(&reading->body, SIZE_MAX);
    buffer_init(&reading->unpacked, SIZE_MAX);
    if (kind == REQUEST)
        http1_begin_request(&reading->reader, head_max);
    else
        http1_begin(&reading->reader, kind == ANSWER_TO_HEAD);
    size_t at = 0;
    do {
        size_t piece = at_a_time && at_a_time < size - at ? at_a_time : size - at;
        feed(reading, bytes + at, piece, give_back);
        at += piece;
    } while (at < size && reading->last == HTTP1_MORE);
    reading->left += size - at;
    must(reading->reader.names.length <= 2 * head_max &&
         reading->reader.begun.length <= head_max + HTTP1_CHUNK_LINE_MAX);
    must(kind != REQUEST || (reading->last == HTTP1_END) <=
                                (reading->reader.hosts == !reading->reader.minor_0 || reading->reader.hosts == 1));
    must((reading->last == HTTP1_INVALID) == (reading->reader.why != NULL && reading->last != HTTP1_TOO_LARGE));
}

static bool same(const struct buffer *one, const struct buffer *other)
{
    return one->length == other->length && (!one->length || memcmp(one->data, other->data, one->length) == 0);
}

static void forget(struct reading *reading)
{
    http1_fini(&reading->reader);
    coding_destroy(&reading->coding);
    buffer_fini(&reading->body);
    buffer_fini(&reading->unpacked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole, split;
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    enum kind kind = data[1] & 0x80 ? REQUEST : data[1] & 1 ? ANSWER_TO_HEAD : ANSWER;
    read_message(&whole, bytes, size - 2, 0, kind, 0);
    read_message(&split, bytes, size - 2, data[0], kind, (data[1] & 0x7f) >> 1);
    must(whole.last == split.last && whole.reader.status == split.reader.status);
    must(whole.reader.refusal == split.reader.refusal);
    must(same(&whole.body, &split.body) && same(&whole.reader.names, &split.reader.names));
    if (whole.last == HTTP1_END)
        must(whole.left == split.left && whole.reader.keeps == split.reader.keeps);
    if (!whole.broken && !split.broken && whole.unpacked.length < UNPACKED_MAX && split.unpacked.length < UNPACKED_MAX)
        must(same(&whole.unpacked, &split.unpacked));
    forget(&whole);
    forget(&split);
    return 0;
}
