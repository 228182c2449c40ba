/* The reader of answers: lines, heads, and how long a body is. The drawing is in http1.h. */
#include "http/http1.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAMES_KEPT (8u << 10) /* bytes of memory that stay from one answer to the next */

void http1_begin(struct http1 *reader, bool answers_head)
{
    struct buffer names = reader->names, begun = reader->begun;
    *reader = (struct http1){.names = names, .begun = begun, .answers_head = answers_head};
    if (names.capacity > NAMES_KEPT)
        buffer_fini(&reader->names);
    if (begun.capacity > NAMES_KEPT)
        buffer_fini(&reader->begun);
    reader->names.limit = reader->begun.limit = 2 * HTTP1_HEAD_MAX;
    buffer_clear(&reader->names);
    buffer_clear(&reader->begun);
}

void http1_fini(struct http1 *reader)
{
    buffer_fini(&reader->names);
    buffer_fini(&reader->begun);
}

static enum http1_event refuse(struct http1 *reader, const char *why)
{
    reader->state = HTTP1_REFUSED;
    reader->why = why;
    return HTTP1_INVALID;
}

static enum http1_event refuse_size(struct http1 *reader)
{
    reader->state = HTTP1_REFUSED;
    reader->why = "its head is too large";
    return HTTP1_TOO_LARGE;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* The next line, without its CRLF, in `*line`. HTTP1_HEAD stands for one that is whole. */
static enum http1_event take_line(struct http1 *reader, const char *bytes, size_t size, size_t *taken,
                                  const char **line, size_t *length)
{
    if (reader->line_is_whole) {
        buffer_clear(&reader->begun);
        reader->line_is_whole = false;
    }
    const char *end = memchr(bytes, '\n', size);
    size_t part = end ? (size_t)(end - bytes) + 1 : size;
    *taken = part;
    reader->head_bytes += part;
    if (reader->head_bytes > HTTP1_HEAD_MAX)
        return refuse_size(reader);
    *line = bytes;
    *length = part;
    if (!end || reader->begun.length) {
        buffer_append(&reader->begun, bytes, part);
        if (reader->begun.failed)
            return refuse_size(reader);
        *line = reader->begun.data;
        *length = reader->begun.length;
    }
    if (!end)
        return HTTP1_MORE;
    reader->line_is_whole = true;
    if (*length < 2 || (*line)[*length - 2] != '\r')
        return refuse(reader, "a line of its head does not end with CRLF");
    *length -= 2;
    if (memchr(*line, '\r', *length) || memchr(*line, '\0', *length))
        return refuse(reader, "a CR or NUL stands within a line of its head");
    return HTTP1_HEAD;
}

/* ---- the status line -------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200" and, behind a space, anything; some leave the space out where no reason follows. */
static enum http1_event read_status(struct http1 *reader, const char *line, size_t length)
{
    if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || !is_digit(line[7]) || line[8] != ' ')
        return refuse(reader, "its first line is not that of HTTP/1.1");
    if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11]) || (length > 12 && line[12] != ' '))
        return refuse(reader, "its status is not a number of three digits");
    reader->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
    if (reader->status < 100 || reader->status > 599)
        return refuse(reader, "its status is not one of HTTP");
    reader->minor_0 = line[7] == '0';
    reader->has_length = reader->chunked = reader->closes = reader->stays = false;
    reader->names_seen = 0;
    buffer_clear(&reader->names);
    reader->state = HTTP1_FIELDS;
    return HTTP1_MORE;
}

/* What speaks something else may never end its first line. */
static bool begins_well(const char *line, size_t length)
{
    return memcmp(line, "HTTP/1.", length < 7 ? length : 7) == 0;
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

static const bool is_token[256] = {
    ['!'] = true,         ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true,         ['\''] = true,
    ['*'] = true,         ['+'] = true, ['-'] = true, ['.'] = true, ['0' ... '9'] = true, ['^'] = true,
    ['A' ... 'Z'] = true, ['_'] = true, ['`'] = true, ['|'] = true, ['~'] = true,         ['a' ... 'z'] = true,
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct field {
    const char *name, *value;
    size_t name_length, value_length;
};

static bool split_field(const char *line, size_t length, struct field *field)
{
    size_t colon = 0;
    while (colon < length && is_token[(unsigned char)line[colon]])
        colon++;
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

static bool is_named(const struct field *field, const char *name, size_t length)
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
    if (!field->value_length || (reader->has_length && reader->length != length))
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
        reader->closes |= is_named(&option, "close", 5);
        reader->stays |= is_named(&option, "keep-alive", 10);
    }
}

/* Those that say where the answer ends, and what becomes of the connection. */
static enum http1_event heed(struct http1 *reader, const struct field *field)
{
    if (is_named(field, "content-length", 14) && !read_length(reader, field))
        return refuse(reader, "its Content-Length is no number, or there are several");
    if (is_named(field, "transfer-encoding", 17)) {
        if (reader->chunked || field->value_length != 7 || strncasecmp(field->value, "chunked", 7) != 0)
            return refuse(reader, "its Transfer-Encoding is not chunked alone");
        reader->chunked = true;
    }
    if (is_named(field, "connection", 10))
        read_connection(reader, field);
    return HTTP1_MORE;
}

static enum http1_event read_field(struct http1 *reader, const char *line, size_t length)
{
    struct field field;
    if (is_blank(line[0]))
        return refuse(reader, "a field of its head is folded");
    if (!split_field(line, length, &field))
        return refuse(reader, "a line of its head is no field");
    if (reader->state == HTTP1_TRAILERS)
        return HTTP1_MORE;
    reader->names_seen |= http1_name_bit(field.name, field.name_length);
    buffer_append(&reader->names, field.name, field.name_length);
    buffer_put(&reader->names, '\0');
    buffer_append(&reader->names, field.value, field.value_length);
    buffer_put(&reader->names, '\0');
    return reader->names.failed ? refuse_size(reader) : heed(reader, &field);
}

const char *http1_field(const struct http1 *reader, const char *name)
{
    if (!(reader->names_seen & http1_name_bit(name, strlen(name))))
        return NULL;
    const char *found = NULL, *end = reader->names.data + reader->names.length;
    for (const char *at = reader->names.data; at < end;) {
        const char *value = at + strlen(at) + 1;
        if (strcasecmp(at, name) == 0)
            found = value;
        at = value + strlen(value) + 1;
    }
    return found;
}

/* ---- the end of a head ------------------------------------------------------------------------------------------ */

static enum http1_event end_informational(struct http1 *reader)
{
    if (reader->status == 101)
        return refuse(reader, "it changes the protocol, which nobody asked for");
    if (++reader->informational > HTTP1_INFORMATIONAL_MAX)
        return refuse(reader, "too many informational answers came before it");
    reader->state = HTTP1_STATUS;
    return HTTP1_MORE;
}

/* RFC 9112 §6.3 */
static enum http1_event end_head(struct http1 *reader)
{
    if (reader->chunked && (reader->has_length || reader->minor_0))
        return refuse(reader, "it has a Transfer-Encoding, and what excludes one");
    if (reader->status < 200)
        return end_informational(reader);
    bool empty = reader->answers_head || reader->status == 204 || reader->status == 304;
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

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "1a2b", and behind it extensions that nobody reads. */
static enum http1_event read_chunk_size(struct http1 *reader, const char *line, size_t length)
{
    uint64_t size = 0;
    size_t digits = 0;
    for (int value; digits < length && (value = hex_value(line[digits])) >= 0; digits++) {
        if (size >> 56)
            return refuse(reader, "a chunk of it is larger than can be");
        size = size << 4 | (uint64_t)value;
    }
    size_t rest = digits;
    while (rest < length && is_blank(line[rest]))
        rest++;
    if (!digits || (rest < length && line[rest] != ';'))
        return refuse(reader, "the size of a chunk is no number");
    reader->left = size;
    reader->state = size ? HTTP1_CHUNK_DATA : HTTP1_TRAILERS;
    return HTTP1_MORE;
}

static enum http1_event read_chunk_end(struct http1 *reader, size_t length)
{
    if (length)
        return refuse(reader, "a chunk of it is longer than its size");
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

static enum http1_event read_line(struct http1 *reader, const char *line, size_t length)
{
    switch (reader->state) {
    case HTTP1_STATUS:
        return read_status(reader, line, length);
    case HTTP1_FIELDS:
        return length ? read_field(reader, line, length) : end_head(reader);
    case HTTP1_CHUNK_SIZE:
        return read_chunk_size(reader, line, length);
    case HTTP1_CHUNK_END:
        return read_chunk_end(reader, length);
    default:
        if (length)
            return read_field(reader, line, length);
        reader->state = HTTP1_DONE;
        return HTTP1_END;
    }
}

static enum http1_event next_line(struct http1 *reader, const char *bytes, size_t size, size_t *taken)
{
    const char *line;
    size_t length, head_bytes = reader->head_bytes;
    bool of_chunk = reader->state == HTTP1_CHUNK_SIZE || reader->state == HTTP1_CHUNK_END;
    enum http1_event event = take_line(reader, bytes, size, taken, &line, &length);
    if (of_chunk) { /* as many as there are chunks: each is bounded by itself */
        reader->head_bytes = head_bytes;
        if ((event == HTTP1_HEAD || event == HTTP1_MORE) && length > HTTP1_CHUNK_LINE_MAX)
            return refuse(reader, "the size of a chunk is longer than can be");
    }
    if (event == HTTP1_MORE && reader->state == HTTP1_STATUS && !begins_well(line, length))
        return refuse(reader, "its first line is not that of HTTP/1.1");
    return event == HTTP1_HEAD ? read_line(reader, line, length) : event;
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
        return size ? next_line(reader, bytes, size, taken) : HTTP1_MORE;
    }
}
