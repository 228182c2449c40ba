/* The head of an answer. */
#include "base/clock.h"
#include "http/http1_chars.h"
#include "http/server_priv.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- the first line --------------------------------------------------------------------------------------------- */

#define LINE(status, reason)                                                                                           \
    {                                                                                                                  \
        status, "HTTP/1.1 " #status " " reason "\r\n", sizeof "HTTP/1.1 " #status " " reason "\r\n" - 1                \
    }

/* The usual ones first. */
static const struct {
    int status;
    const char *line;
    size_t length;
} lines[] = {
    LINE(200, "OK"),
    LINE(429, "Too Many Requests"),
    LINE(400, "Bad Request"),
    LINE(401, "Unauthorized"),
    LINE(404, "Not Found"),
    LINE(500, "Internal Server Error"),
    LINE(502, "Bad Gateway"),
    LINE(503, "Service Unavailable"),
    LINE(504, "Gateway Timeout"),
    LINE(201, "Created"),
    LINE(202, "Accepted"),
    LINE(204, "No Content"),
    LINE(206, "Partial Content"),
    LINE(301, "Moved Permanently"),
    LINE(302, "Found"),
    LINE(303, "See Other"),
    LINE(304, "Not Modified"),
    LINE(307, "Temporary Redirect"),
    LINE(308, "Permanent Redirect"),
    LINE(402, "Payment Required"),
    LINE(403, "Forbidden"),
    LINE(405, "Method Not Allowed"),
    LINE(406, "Not Acceptable"),
    LINE(408, "Request Timeout"),
    LINE(409, "Conflict"),
    LINE(410, "Gone"),
    LINE(411, "Length Required"),
    LINE(412, "Precondition Failed"),
    LINE(413, "Content Too Large"),
    LINE(414, "URI Too Long"),
    LINE(415, "Unsupported Media Type"),
    LINE(416, "Range Not Satisfiable"),
    LINE(417, "Expectation Failed"),
    LINE(422, "Unprocessable Content"),
    LINE(424, "Failed Dependency"),
    LINE(428, "Precondition Required"),
    LINE(431, "Request Header Fields Too Large"),
    LINE(499, "Client Closed Request"),
    LINE(501, "Not Implemented"),
    LINE(505, "HTTP Version Not Supported"),
    LINE(507, "Insufficient Storage"),
};

static void write_first_line(struct buffer *out, int http_status)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].status == http_status) {
            buffer_append(out, lines[i].line, lines[i].length);
            return;
        }
    buffer_printf(out, "HTTP/1.1 %d \r\n", http_status);
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

static const char *const framing[] = {"content-length", "transfer-encoding", "connection", "date"};

bool http_reply_header(struct http_request *request, const char *name, const char *value)
{
    size_t length = strlen(name);
    if (!length || token_length(name, length) != length || value[strcspn(value, "\r\n")])
        return false;
    for (size_t i = 0; i < sizeof framing / sizeof *framing; i++)
        if (strcasecmp(name, framing[i]) == 0)
            return false;
    size_t name_length = strlen(name), value_length = strlen(value), size = name_length + value_length + 4;
    struct reply_header *header = arena_alloc(&request->arena, sizeof *header + size);
    if (!header)
        return false;
    *header = (struct reply_header){.size = size};
    memcpy(header->line, name, name_length);
    memcpy(header->line + name_length, ": ", 2);
    memcpy(header->line + name_length + 2, value, value_length);
    memcpy(header->line + size - 2, "\r\n", 2);
    *request->headers_end = header;
    request->headers_end = &header->next;
    return true;
}

static void write_date(struct http_server *server, struct buffer *out)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now_s = clock_wall_ns() / NS_PER_SEC;
    if (server->date_s != now_s) {
        struct tm now;
        gmtime_r(&now_s, &now);
        snprintf(server->date, sizeof server->date, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", days + 3 * now.tm_wday,
                 (unsigned)now.tm_mday % 100, months + 3 * now.tm_mon, (unsigned)(now.tm_year + 1900) % 10000,
                 (unsigned)now.tm_hour % 100, (unsigned)now.tm_min % 100, (unsigned)now.tm_sec % 100);
        server->date_s = now_s;
    }
    buffer_append(out, "Date: ", 6);
    buffer_append(out, server->date, sizeof server->date - 1);
    buffer_append(out, "\r\n", 2);
}

static void reply_head_write_field(struct buffer *out, const char *name, size_t name_length, const char *value)
{
    buffer_append(out, name, name_length);
    buffer_append(out, value, strlen(value));
    buffer_append(out, "\r\n", 2);
}

static void write_length(struct buffer *out, size_t size)
{
    char digits[24], *at = digits + sizeof digits - 1;
    *at = '\0';
    do
        *--at = (char)('0' + size % 10);
    while (size /= 10);
    reply_head_write_field(out, "Content-Length: ", 16, at);
}

/* HTTP/1.0 has no chunks: there a stream ends with its connection. */
void reply_write_head(struct http_request *request, struct buffer *out, int http_status, const char *content_type,
                      size_t size)
{
    bool is_stream = size == SIZE_MAX, has_none = http_status < 200 || http_status == 204;
    request->bodyless = has_none || http_status == 304 || strcmp(http_request_method(request), "HEAD") == 0;
    request->chunked = is_stream && !has_none && !request->reader.minor_0;
    request->closes = request->refused || request->server->stopping || !request->reader.keeps ||
                      (is_stream && request->reader.minor_0);
    const struct http_server_options *options = &request->server->options;
    if (options->answering)
        options->answering(request, http_status, size, options->answering_data);
    write_first_line(out, http_status);
    write_date(request->server, out);
    if (content_type)
        reply_head_write_field(out, "Content-Type: ", 14, content_type);
    for (const struct reply_header *header = request->headers; header; header = header->next)
        buffer_append(out, header->line, header->size);
    if (request->chunked)
        buffer_append(out, "Transfer-Encoding: chunked\r\n", 28);
    else if (!is_stream && !has_none)
        write_length(out, size);
    if (request->closes)
        buffer_append(out, "Connection: close\r\n", 19);
    else if (request->reader.minor_0)
        buffer_append(out, "Connection: keep-alive\r\n", 24);
    buffer_append(out, "\r\n", 2);
}
