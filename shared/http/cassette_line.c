/* An exchange as a line of JSON, and back. */
#include "base/memory.h"
#include "base/text.h"
#include "http/cassette_priv.h"
#include "json/reader.h"
#include "json/writer.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES  (6 * CASSETTE_BODY_MAX) /* a byte takes up to six as JSON */
#define LINE_VALUES_MAX ((size_t)1 << 20)
#define DELAY_MAX_MS    INT64_C(3600000)

static const struct {
    const char *name;
    enum transfer_end end;
} ends[] = {
    {"complete", TRANSFER_COMPLETE}, {"unconnected", TRANSFER_UNCONNECTED},
    {"late", TRANSFER_LATE},         {"silent", TRANSFER_SILENT},
    {"cut", TRANSFER_CUT},           {"garbled", TRANSFER_MALFORMED},
};
#define END_COUNT (sizeof ends / sizeof *ends)

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

static void cassette_line_write_base64(struct json_writer *writer, const char *key, const char *bytes, size_t size)
{
    char *text = xmalloc((size + 2) / 3 * 4 + 1);
    int length = EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)bytes, (int)size);
    json_write_text(writer, key, text, (size_t)length);
    free(text);
}

static void cassette_line_write_bytes(struct json_writer *writer, const char *key, const char *base64_key,
                                      const char *bytes, size_t size)
{
    if (text_is_clean(bytes, size))
        json_write_text(writer, key, bytes, size);
    else
        cassette_line_write_base64(writer, base64_key, bytes, size);
}

static bool append_base64(struct json_reader *in, const cJSON *item, struct buffer *out)
{
    size_t length = strlen(item->valuestring), padding = 0;
    while (padding < 2 && padding < length && item->valuestring[length - 1 - padding] == '=')
        padding++;
    char *room = buffer_reserve(out, length / 4 * 3 + 3);
    int size = room ? EVP_DecodeBlock((unsigned char *)room, (unsigned char *)item->valuestring, (int)length) : -1;
    if (size < 0 || length % 4 || (size_t)size < padding)
        return json_reader_fail(in, item, "is no base64");
    out->length += (size_t)size - padding;
    return true;
}

/* One of the two fields. */
static bool cassette_line_append_bytes(struct json_reader *in, const cJSON *object, const char *key,
                                       const char *base64_key, struct buffer *out)
{
    const cJSON *encoded = cJSON_GetObjectItemCaseSensitive(object, base64_key);
    if (cJSON_IsString(encoded))
        return append_base64(in, encoded, out);
    buffer_print(out, json_string_or(in, object, key, ""));
    return !in->failed;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static const char *name_of(enum transfer_end end)
{
    for (size_t i = 0; i < END_COUNT; i++)
        if (ends[i].end == end)
            return ends[i].name;
    return NULL;
}

static void cassette_line_write_answer(struct json_writer *writer, const struct recorded *recorded)
{
    json_write_int(writer, "status", recorded->http_status);
    json_write_int(writer, "after_ms", recorded->after_ms);
    json_write_object(writer, "headers");
    for (size_t i = 0; i < recorded->header_count; i++)
        json_write_string(writer, recorded->headers[i].name, recorded->headers[i].value);
    json_write_end(writer);
    json_write_array(writer, "pieces");
    size_t at = 0;
    for (size_t i = 0; i < recorded->piece_count; i++) {
        json_write_object(writer, NULL);
        json_write_int(writer, "after_ms", recorded->pieces[i].after_ms);
        cassette_line_write_bytes(writer, "text", "base64", recorded->body.length ? recorded->body.data + at : "",
                                  recorded->pieces[i].size);
        json_write_end(writer);
        at += recorded->pieces[i].size;
    }
    json_write_end(writer);
}

bool recorded_write(const struct recorded *recorded, struct buffer *line)
{
    struct json_writer writer;
    line->limit = line->limit < LINE_MAX_BYTES ? line->limit : LINE_MAX_BYTES;
    json_writer_init(&writer, line);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "method", recorded->method);
    json_write_string(&writer, "path", recorded->path);
    if (recorded->request.length)
        cassette_line_write_bytes(&writer, "request", "request_base64", recorded->request.data,
                                  recorded->request.length);
    json_write_string(&writer, "end", name_of(recorded->end));
    if (recorded->end != TRANSFER_COMPLETE) {
        json_write_string(&writer, "code", status_code_name((int)recorded->status.code));
        json_write_string(&writer, "error", recorded->status.text);
    }
    if (recorded->answered && !recorded->http_status)
        json_write_bool(&writer, "answered", true);
    if (recorded->stale)
        json_write_bool(&writer, "stale", true);
    if (recorded->http_status)
        cassette_line_write_answer(&writer, recorded);
    json_write_end(&writer);
    bool whole = json_writer_done(&writer);
    buffer_put(line, '\n');
    return whole && !line->failed;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static char *cassette_line_copied(const char *text)
{
    char *copy = xstrdup(text);
    return copy;
}

static bool cassette_line_read_end(struct json_reader *in, const cJSON *root, struct recorded *recorded)
{
    const char *name = json_string(in, root, "end");
    size_t i = 0;
    while (i < END_COUNT && strcmp(ends[i].name, name) != 0)
        i++;
    if (i == END_COUNT)
        return json_reader_fail(in, cJSON_GetObjectItemCaseSensitive(root, "end"), "is no end there is");
    recorded->end = ends[i].end;
    recorded->stale = json_boolean_or(in, root, "stale", false);
    if (recorded->end == TRANSFER_COMPLETE)
        return true;
    int code = status_code_parse(json_string(in, root, "code"));
    if (code <= OK)
        return json_reader_fail(in, cJSON_GetObjectItemCaseSensitive(root, "code"), "is no code of a failure");
    fail(&recorded->status, (enum status_code)code, "%s", json_string_or(in, root, "error", "recorded as failed"));
    return true;
}

static bool read_headers(struct json_reader *in, const cJSON *headers, struct recorded *recorded)
{
    size_t count = (size_t)(headers ? cJSON_GetArraySize(headers) : 0);
    recorded->headers = xcalloc(count + 1, sizeof *recorded->headers);
    const cJSON *header;
    cJSON_ArrayForEach(header, headers)
    {
        if (!cJSON_IsString(header))
            return json_reader_fail(in, header, "must be a string");
        recorded->headers[recorded->header_count++] =
            (struct recorded_header){cassette_line_copied(header->string), cassette_line_copied(header->valuestring)};
    }
    return true;
}

static bool cassette_line_read_pieces(struct json_reader *in, const cJSON *pieces, struct recorded *recorded)
{
    size_t count = (size_t)(pieces ? cJSON_GetArraySize(pieces) : 0);
    recorded->pieces = xcalloc(count + 1, sizeof *recorded->pieces);
    const cJSON *piece;
    cJSON_ArrayForEach(piece, pieces)
    {
        struct recorded_piece *own = &recorded->pieces[recorded->piece_count++];
        size_t before = recorded->body.length;
        if (!cJSON_IsObject(piece))
            return json_reader_fail(in, piece, "must be an object");
        own->after_ms = json_integer_or(in, piece, "after_ms", 0, DELAY_MAX_MS, 0);
        if (!cassette_line_append_bytes(in, piece, "text", "base64", &recorded->body))
            return false;
        if (recorded->body.failed)
            return json_reader_fail(in, piece, "makes the body larger than %zu bytes", CASSETTE_BODY_MAX);
        own->size = recorded->body.length - before;
    }
    return true;
}

static bool read_exchange(struct json_reader *in, const cJSON *root, struct recorded *recorded)
{
    recorded->method = cassette_line_copied(json_string(in, root, "method"));
    recorded->path = cassette_line_copied(json_string(in, root, "path"));
    if (in->failed || !cassette_line_append_bytes(in, root, "request", "request_base64", &recorded->request))
        return false;
    recorded_hash(recorded->request.data, recorded->request.length, recorded->request_hash);
    buffer_fini(&recorded->request); /* its hash is enough */
    if (!cassette_line_read_end(in, root, recorded))
        return false;
    recorded->http_status = (int)json_integer_or(in, root, "status", 0, 599, 0);
    recorded->answered = recorded->http_status || json_boolean_or(in, root, "answered", false);
    recorded->after_ms = json_integer_or(in, root, "after_ms", 0, DELAY_MAX_MS, 0);
    return read_headers(in, json_object_or_null(in, root, "headers"), recorded) &&
           cassette_line_read_pieces(in, json_array_or_null(in, root, "pieces"), recorded) && !in->failed;
}

bool recorded_read(struct recorded *recorded, const char *line, size_t length, struct status *st)
{
    static const struct json_limits limits = {.bytes = LINE_MAX_BYTES, .values = LINE_VALUES_MAX};
    memset(recorded, 0, sizeof *recorded);
    buffer_init(&recorded->request, LINE_MAX_BYTES);
    buffer_init(&recorded->body, CASSETTE_BODY_MAX);
    cJSON *root = json_parse(line, length, &limits, st);
    if (!root)
        return false;
    struct json_reader in = json_reader_of(root, st);
    bool good = cJSON_IsObject(root) ? read_exchange(&in, root, recorded)
                                     : fail(st, INVALID_ARGUMENT, "an exchange is an object");
    cJSON_Delete(root);
    if (!good)
        recorded_fini(recorded);
    return good;
}
