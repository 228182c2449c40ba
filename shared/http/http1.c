/* The reader of answers and requests: lines, heads, and how long a body is. The drawing is in http1.h. */
#include "http/http1.h"

#include "http/http1_chars.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAMES_KEPT  (8u << 10) /* bytes of memory that stay from one answer to the next */
#define NAMES_FIRST 1023       /* bytes that a request's head gets at once, if so many arrived */
#define NO_HTTP     "its first line is not that of HTTP/1.1"

static void http1_begin_state(struct http1 *reader, enum http1_state state, size_t head_max)
{
    struct buffer names = reader->names, begun = reader->begun;
    *reader = (struct http1){.state = state, .names = names, .begun = begun, .head_max = head_max};
    if (names.capacity > NAMES_KEPT)
        buffer_fini(&reader->names);
    if (begun.capacity > NAMES_KEPT)
        buffer_fini(&reader->begun);
    reader->names.limit = 2 * head_max;
    reader->begun.limit = 2 * head_max + HTTP1_CHUNK_LINE_MAX;
    buffer_clear(&reader->names);
    buffer_clear(&reader->begun);
}

void http1_begin(struct http1 *reader, bool answers_head)
{
    http1_begin_state(reader, HTTP1_STATUS, HTTP1_HEAD_MAX);
    reader->answers_head = answers_head;
}

void http1_begin_request(struct http1 *reader, size_t head_max)
{
    http1_begin_state(reader, HTTP1_REQUEST, head_max);
    reader->is_request = true;
}

void http1_fini(struct http1 *reader)
{
    buffer_fini(&reader->names);
    buffer_fini(&reader->begun);
}

static enum http1_event http1_refuse(struct http1 *reader, const char *why)
{
    reader->state = HTTP1_REFUSED;
    reader->why = why;
    reader->refusal = 400;
    return HTTP1_INVALID;
}

static enum http1_event http1_refuse_size(struct http1 *reader)
{
    reader->refusal = reader->state == HTTP1_REQUEST ? 414 : 431;
    reader->state = HTTP1_REFUSED;
    reader->why = "its head is too large";
    return HTTP1_TOO_LARGE;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool has_cr_or_nul(const char *line, size_t length)
{
    return memchr(line, '\r', length) || memchr(line, '\0', length);
}

/* The next line, without its CRLF, in `*line`. HTTP1_HEAD means that the line is complete. */
static enum http1_event http1_take_line(struct http1 *reader, const char *bytes, size_t size, size_t *taken,
                                        const char **line, size_t *length)
{
    if (reader->line_is_whole) {
        buffer_clear(&reader->begun);
        reader->line_is_whole = false;
    }
    const char *end = memchr(bytes, '\n', size);
    size_t part = end ? (size_t)(end - bytes) + 1 : size;
    *taken = part;
    if (reader->state == HTTP1_CHUNK_SIZE || reader->state == HTTP1_CHUNK_END) {
        if (reader->begun.length + part > HTTP1_CHUNK_LINE_MAX) /* as many as there are chunks: each is bounded */
            return http1_refuse(reader, "the size of a chunk is longer than can be");
    } else if ((reader->head_bytes += part) > reader->head_max) {
        return http1_refuse_size(reader);
    }
    *line = bytes;
    *length = part;
    if (!end || reader->begun.length) {
        buffer_append(&reader->begun, bytes, part);
        if (reader->begun.failed)
            return http1_refuse_size(reader);
        *line = reader->begun.data;
        *length = reader->begun.length;
    }
    if (!end)
        return HTTP1_MORE;
    reader->line_is_whole = true;
    if (*length < 2 || (*line)[*length - 2] != '\r')
        return http1_refuse(reader, "a line of its head does not end with CRLF");
    *length -= 2;
    if (reader->is_request ? has_control(*line, *length) : has_cr_or_nul(*line, *length))
        return http1_refuse(reader, "a control character stands within a line of its head");
    return HTTP1_HEAD;
}

/* ---- the first line --------------------------------------------------------------------------------------------- */

/* "HTTP/1.1 200", a space and a reason; some servers leave out the space when there is no reason. */
static enum http1_event http1_read_status(struct http1 *reader, const char *line, size_t length)
{
    if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || !is_digit(line[7]) || line[8] != ' ')
        return http1_refuse(reader, NO_HTTP);
    if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11]) || (length > 12 && line[12] != ' '))
        return http1_refuse(reader, "its status is not a number of three digits");
    reader->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
    if (reader->status < 100 || reader->status > 599)
        return http1_refuse(reader, "its status is not one of HTTP");
    reader->minor_0 = line[7] == '0';
    reader->has_length = reader->chunked = reader->closes = reader->stays = false;
    reader->names_seen = 0;
    buffer_clear(&reader->names);
    reader->state = HTTP1_FIELDS;
    return HTTP1_MORE;
}

static size_t visible_length(const char *bytes, size_t size)
{
    size_t length = 0;
    while (length < size && (unsigned char)bytes[length] > ' ' && bytes[length] != 0x7f)
        length++;
    return length;
}

/* "GET /path HTTP/1.1"; some clients send an empty line before it, after a body (RFC 9112 §2.2). */
static enum http1_event read_request(struct http1 *reader, const char *line, size_t length)
{
    if (!length)
        return HTTP1_MORE;
    size_t method = token_length(line, length);
    if (!method || method == length || line[method] != ' ')
        return http1_refuse(reader, "its first line does not begin with a method and a space");
    const char *target = line + method + 1;
    size_t target_length = visible_length(target, length - method - 1);
    const char *version = target + target_length + 1;
    if (!target_length || method + target_length + 10 != length || version[-1] != ' ' ||
        memcmp(version, "HTTP/", 5) != 0 || !is_digit(version[5]) || version[6] != '.' || !is_digit(version[7]))
        return http1_refuse(reader, "its first line does not end with a target, a space and the version of HTTP");
    if (version[5] != '1') {
        enum http1_event event = http1_refuse(reader, "its version of HTTP is none that is spoken here");
        reader->refusal = 505;
        return event;
    }
    reader->minor_0 = version[7] == '0';
    buffer_append(&reader->names, line, method);
    buffer_put(&reader->names, '\0');
    reader->target_at = reader->names.length;
    buffer_append(&reader->names, target, target_length);
    buffer_put(&reader->names, '\0');
    reader->fields_at = reader->names.length;
    reader->state = HTTP1_FIELDS;
    return HTTP1_MORE;
}

/* A peer with another protocol may never end its first line. */
static bool begins_well(const struct http1 *reader, const char *line, size_t length)
{
    if (reader->is_request)
        return is_token(line[0]) || line[0] == '\r';
    return memcmp(line, "HTTP/1.", length < 7 ? length : 7) == 0;
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

struct field {
    const char *name, *value;
    size_t name_length, value_length;
};

static bool split_field(const char *line, size_t length, struct field *field)
{
    size_t colon = token_length(line, length);
    if (!colon || colon == length || line[colon] != ':')
        return false;
    size_t begin = colon + 1, end = length;
    while (begin < end && is_blank(line[begin]))
        begin++;
    while (end > begin && is_blank(line[end - 1]))
        end--;
    *field = (struct field){line, line + begin, colon, end - begin};
    return true;
}

static bool http1_is_named(const struct field *field, const char *name, size_t length)
{
    return field->name_length == length && strncasecmp(field->name, name, length) == 0;
}

static bool read_length(struct http1 *reader, const struct field *field)
{
    uint64_t length = 0;
    for (size_t i = 0; i < field->value_length; i++) {
        if (!is_digit(field->value[i]) || length > (UINT64_MAX - 9) / 10)
            return false;
        length = length * 10 + (uint64_t)(field->value[i] - '0');
    }
    if (!field->value_length || (reader->has_length && (reader->is_request || reader->length != length)))
        return false;
    reader->has_length = true;
    reader->length = length;
    return true;
}

/* The options of Connection, apart by commas. */
static void read_connection(struct http1 *reader, const struct field *field)
{
    const char *at = field->value, *end = at + field->value_length;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        struct field option = {.name = at};
        while (option.name < stop && is_blank(*option.name))
            option.name++;
        at = comma ? comma + 1 : end;
        while (stop > option.name && is_blank(stop[-1]))
            stop--;
        option.name_length = (size_t)(stop - option.name);
        reader->closes |= http1_is_named(&option, "close", 5);
        reader->stays |= http1_is_named(&option, "keep-alive", 10);
    }
}

/* The fields that decide the end of the message and the fate of the connection. */
static enum http1_event heed(struct http1 *reader, const struct field *field)
{
    if (http1_is_named(field, "content-length", 14) && !read_length(reader, field))
        return http1_refuse(reader, "its Content-Length is no number, or there are several");
    if (http1_is_named(field, "transfer-encoding", 17)) {
        if (reader->chunked || field->value_length != 7 || strncasecmp(field->value, "chunked", 7) != 0)
            return http1_refuse(reader, "its Transfer-Encoding is not chunked alone");
        reader->chunked = true;
    }
    if (http1_is_named(field, "connection", 10))
        read_connection(reader, field);
    reader->hosts += http1_is_named(field, "host", 4);
    return HTTP1_MORE;
}

static enum http1_event http1_read_field(struct http1 *reader, const char *line, size_t length)
{
    struct field field;
    if (is_blank(line[0]))
        return http1_refuse(reader, "a field of its head is folded");
    if (!split_field(line, length, &field))
        return http1_refuse(reader, "a line of its head is no field");
    if (reader->state == HTTP1_TRAILERS)
        return HTTP1_MORE;
    uint64_t bit = http1_name_bit(field.name, field.name_length);
    if (reader->is_request && (reader->names_seen & bit) && http1_is_second(reader, field.name, field.name_length))
        return http1_refuse(reader,
                            "a field that has one value, such as Authorization or Content-Type, stands in it twice");
    reader->repeats |= (reader->names_seen & bit) != 0;
    reader->names_seen |= bit;
    buffer_append(&reader->names, field.name, field.name_length);
    buffer_put(&reader->names, '\0');
    buffer_append(&reader->names, field.value, field.value_length);
    buffer_put(&reader->names, '\0');
    return reader->names.failed ? http1_refuse_size(reader) : heed(reader, &field);
}

/* ---- the end of a head ------------------------------------------------------------------------------------------ */

static enum http1_event end_informational(struct http1 *reader)
{
    if (reader->status == 101)
        return http1_refuse(reader, "it changes the protocol, which nobody asked for");
    if (++reader->informational > HTTP1_INFORMATIONAL_MAX)
        return http1_refuse(reader, "too many informational answers came before it");
    reader->state = HTTP1_STATUS;
    return HTTP1_MORE;
}

/* RFC 9112 §6.3 */
static enum http1_event end_head(struct http1 *reader)
{
    if (reader->chunked && (reader->has_length || reader->minor_0))
        return http1_refuse(reader, "it has a Transfer-Encoding, and what excludes one");
    if (reader->is_request && reader->hosts != 1 && (reader->hosts || !reader->minor_0))
        return http1_refuse(reader, "it has no Host, or several");
    if (!reader->is_request && reader->status < 200)
        return end_informational(reader);
    if (reader->is_request && reader->repeats) {
        http1_join_lists(reader);
        if (reader->names.failed)
            return http1_refuse_size(reader);
    }
    bool empty = reader->is_request ? !reader->chunked && !reader->has_length
                                    : reader->answers_head || reader->status == 204 || reader->status == 304;
    reader->keeps = !reader->closes && (!reader->minor_0 || reader->stays);
    if (empty) {
        reader->state = HTTP1_DONE;
    } else if (reader->chunked) {
        reader->state = HTTP1_CHUNK_SIZE;
    } else if (reader->has_length) {
        reader->left = reader->length;
        reader->state = reader->left ? HTTP1_LENGTH : HTTP1_DONE;
    } else {
        reader->state = HTTP1_UNTIL_CLOSE;
        reader->keeps = false;
    }
    return HTTP1_HEAD;
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

/* "1a2b" and extensions, which are ignored. */
static enum http1_event read_chunk_size(struct http1 *reader, const char *line, size_t length)
{
    uint64_t size = 0;
    size_t digits = 0;
    for (int value; digits < length && (value = hex_value(line[digits])) >= 0; digits++) {
        if (size >> 56)
            return http1_refuse(reader, "a chunk of it is larger than can be");
        size = size << 4 | (uint64_t)value;
    }
    size_t rest = digits;
    while (!reader->is_request && rest < length && is_blank(line[rest])) /* some servers pad with them */
        rest++;
    if (!digits || (rest < length && line[rest] != ';'))
        return http1_refuse(reader, "the size of a chunk is no number");
    reader->left = size;
    reader->state = size ? HTTP1_CHUNK_DATA : HTTP1_TRAILERS;
    return HTTP1_MORE;
}

static enum http1_event read_chunk_end(struct http1 *reader, size_t length)
{
    if (length)
        return http1_refuse(reader, "a chunk of it is longer than its size");
    reader->state = HTTP1_CHUNK_SIZE;
    return HTTP1_MORE;
}

static enum http1_event take_body(struct http1 *reader, size_t size, size_t *taken)
{
    if (!size)
        return HTTP1_MORE;
    if (reader->state == HTTP1_UNTIL_CLOSE) {
        *taken = size;
        return HTTP1_BODY;
    }
    *taken = size < reader->left ? size : (size_t)reader->left;
    reader->left -= *taken;
    if (!reader->left)
        reader->state = reader->state == HTTP1_LENGTH ? HTTP1_DONE : HTTP1_CHUNK_END;
    return HTTP1_BODY;
}

void http1_give_back(struct http1 *reader, size_t size)
{
    if (!size || reader->state == HTTP1_UNTIL_CLOSE)
        return;
    reader->left += size;
    if (reader->state == HTTP1_DONE)
        reader->state = HTTP1_LENGTH;
    else if (reader->state == HTTP1_CHUNK_END)
        reader->state = HTTP1_CHUNK_DATA;
}

bool http1_ends_here(struct http1 *reader)
{
    if (reader->state != HTTP1_UNTIL_CLOSE)
        return false;
    reader->state = HTTP1_DONE;
    return true;
}

/* ---- step by step ----------------------------------------------------------------------------------------------- */

static enum http1_event http1_read_line(struct http1 *reader, const char *line, size_t length)
{
    switch (reader->state) {
    case HTTP1_STATUS:
        return http1_read_status(reader, line, length);
    case HTTP1_REQUEST:
        return read_request(reader, line, length);
    case HTTP1_FIELDS:
        return length ? http1_read_field(reader, line, length) : end_head(reader);
    case HTTP1_CHUNK_SIZE:
        return read_chunk_size(reader, line, length);
    case HTTP1_CHUNK_END:
        return read_chunk_end(reader, length);
    default:
        if (length)
            return http1_read_field(reader, line, length);
        reader->state = HTTP1_DONE;
        return HTTP1_END;
    }
}

static enum http1_event http1_next_line(struct http1 *reader, const char *bytes, size_t size, size_t *taken)
{
    const char *line;
    size_t length;
    bool is_first = reader->state == HTTP1_STATUS || reader->state == HTTP1_REQUEST;
    if (is_first && (reader->line_is_whole || !reader->begun.length) && !begins_well(reader, bytes, size))
        return http1_refuse(reader, NO_HTTP);
    if (reader->state == HTTP1_REQUEST)
        buffer_reserve(&reader->names, size < NAMES_FIRST ? size : NAMES_FIRST);
    enum http1_event event = http1_take_line(reader, bytes, size, taken, &line, &length);
    if (event == HTTP1_MORE && is_first && !begins_well(reader, line, length))
        return http1_refuse(reader, NO_HTTP);
    return event == HTTP1_HEAD ? http1_read_line(reader, line, length) : event;
}

enum http1_event http1_next(struct http1 *reader, const char *bytes, size_t size, size_t *taken)
{
    *taken = 0;
    switch (reader->state) {
    case HTTP1_DONE:
        return HTTP1_END;
    case HTTP1_REFUSED:
        return HTTP1_INVALID;
    case HTTP1_LENGTH:
    case HTTP1_CHUNK_DATA:
    case HTTP1_UNTIL_CLOSE:
        return take_body(reader, size, taken);
    default:
        return size ? http1_next_line(reader, bytes, size, taken) : HTTP1_MORE;
    }
}
