/* The parts of a request: URLs, parsed once, and headers as lines that are sent unchanged. */
#include "base/memory.h"
#include "http/client_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- URLs ------------------------------------------------------------------------------------------------------- */

static char *origin_of(CURLU *parts)
{
    CURLU *bare = curl_url_dup(parts);
    char *origin = NULL;
    if (bare) {
        static const CURLUPart secret[] = {CURLUPART_USER,  CURLUPART_PASSWORD, CURLUPART_OPTIONS,
                                           CURLUPART_QUERY, CURLUPART_FRAGMENT, CURLUPART_PATH};
        for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
            curl_url_set(bare, secret[i], NULL, 0);
        curl_url_get(bare, CURLUPART_URL, &origin, CURLU_DEFAULT_PORT);
        curl_url_cleanup(bare);
    }
    size_t length = origin ? strlen(origin) : 0;
    if (length && origin[length - 1] == '/')
        origin[length - 1] = '\0';
    return origin;
}

/* The check of the host and the name server see the same name. */
static bool request_parts_name_host(struct http_url *url, struct status *st)
{
    char *given = NULL;
    curl_url_get(url->parts, CURLUPART_HOST, &given, CURLU_URLDECODE);
    char *name = given ? http_host_ascii(given, st) : NULL;
    bool set = name && (strcmp(name, given) == 0 || curl_url_set(url->parts, CURLUPART_HOST, name, 0) == CURLUE_OK);
    if (!set && st->code == OK)
        fail(st, INVALID_ARGUMENT, "the URL has no host that can be asked; give one like https://host:port/path");
    free(name);
    curl_free(given);
    return set;
}

static bool request_parts_parse(struct http_url *url, const char *text, unsigned flags, struct status *st)
{
    CURLUcode code = curl_url_set(url->parts, CURLUPART_URL, text, flags);
    if (code)
        return fail(st, INVALID_ARGUMENT, "the URL cannot be read: %s; give one like https://host:port/path",
                    curl_url_strerror(code));
    char *scheme = NULL;
    curl_url_get(url->parts, CURLUPART_SCHEME, &scheme, 0);
    bool known = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (!known)
        fail(st, INVALID_ARGUMENT, "the URL's scheme is '%s'; only http and https are served", scheme ? scheme : "");
    curl_free(scheme);
    return known && request_parts_name_host(url, st);
}

static char *request_parts_part_of(const struct http_url *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    curl_url_get(url->parts, part, &text, flags);
    return text;
}

/* FNV-1a */
static uint64_t request_parts_hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static bool request_parts_is_ascii(const char *text)
{
    while (*text && isascii((unsigned char)*text))
        text++;
    return !*text;
}

/* Takes `parts`, the base to which `text` is relative. */
static struct http_url *request_parts_read_url(CURLU *parts, const char *text, unsigned flags, struct status *st)
{
    struct http_url *url = xcalloc(1, sizeof *url);
    url->parts = xnonnull(parts);
    if (!request_parts_parse(url, text, flags, st)) {
        http_url_destroy(&url);
        return NULL;
    }
    curl_url_set(url->parts, CURLUPART_FRAGMENT, NULL, 0);
    url->origin = xnonnull(origin_of(url->parts));
    url->host = xnonnull(request_parts_part_of(url, CURLUPART_HOST, 0));
    char *path = request_parts_part_of(url, CURLUPART_PATH, 0), *query = request_parts_part_of(url, CURLUPART_QUERY, 0);
    char *port = request_parts_part_of(url, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT),
         *user = request_parts_part_of(url, CURLUPART_USER, 0);
    char *password = request_parts_part_of(url, CURLUPART_PASSWORD, 0);
    if (asprintf(&url->target, "%s%s%s", path ? path : "/", query ? "?" : "", query ? query : "") < 0 ||
        asprintf(&url->host_field, "%s%s%s", url->host, port ? ":" : "", port ? port : "") < 0)
        memory_exhausted();
    url->plain = !user && !password && request_parts_is_ascii(url->host);
    url->secure = strncmp(url->origin, "https:", 6) == 0;
    url->origin_hash = request_parts_hash_of(url->origin);
    curl_free(path);
    curl_free(query);
    curl_free(port);
    curl_free(user);
    curl_free(password);
    size_t length = strlen(url->host);
    if (url->host[0] == '[' && url->host[length - 1] == ']') {
        memmove(url->host, url->host + 1, length - 2);
        url->host[length - 2] = '\0';
    }
    return url;
}

struct http_url *http_url_parse(const char *text, struct status *st)
{
    return request_parts_read_url(curl_url(), text, 0, st);
}

struct http_url *http_url_follow(const struct http_url *from, const char *link, struct status *st)
{
    return request_parts_read_url(from ? curl_url_dup(from->parts) : curl_url(), link, CURLU_URLENCODE, st);
}

void http_url_destroy(struct http_url **url_pointer)
{
    struct http_url *url = *url_pointer;
    if (!url)
        return;
    *url_pointer = NULL;
    curl_url_cleanup(url->parts);
    if (url->target)
        explicit_bzero(url->target, strlen(url->target)); /* some put keys into a query */
    free(url->target);
    free(url->host_field);
    curl_free(url->origin);
    curl_free(url->host);
    free(url);
}

const char *http_url_origin(const struct http_url *url)
{
    return url->origin;
}

const char *http_url_host(const struct http_url *url)
{
    return url->host;
}

unsigned http_url_port(const struct http_url *url)
{
    char *port = request_parts_part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    unsigned number = port ? (unsigned)strtoul(port, NULL, 10) : 0;
    curl_free(port);
    return number;
}

bool http_url_has_user(const struct http_url *url)
{
    char *user = request_parts_part_of(url, CURLUPART_USER, 0),
         *password = request_parts_part_of(url, CURLUPART_PASSWORD, 0);
    bool has = user || password;
    curl_free(user);
    curl_free(password);
    return has;
}

char *http_url_text(const struct http_url *url)
{
    static const CURLUPart secret[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS};
    CURLU *bare = xnonnull(curl_url_dup(url->parts));
    char *text = NULL;
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        curl_url_set(bare, secret[i], NULL, 0);
    curl_url_get(bare, CURLUPART_URL, &text, CURLU_NO_DEFAULT_PORT);
    char *copy = xstrdup(xnonnull(text));
    curl_free(text);
    curl_url_cleanup(bare);
    return copy;
}

char *http_url_path(const struct http_url *url)
{
    return xnonnull(strndup(url->target, strcspn(url->target, "?")));
}

/* ---- headers ---------------------------------------------------------------------------------------------------- */

/* RFC 9110 §5.1 and §5.5: a token, and a value that cannot end its line. */
bool http_header_is_valid(const char *name, const char *value)
{
    if (!*name || name[strspn(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")])
        return false;
    return value[strcspn(value, "\r\n")] == '\0';
}

void http_header_mark(struct header_marks *marks, const char *name)
{
    marks->user_agent |= strcasecmp(name, "User-Agent") == 0;
    marks->accept_encoding |= strcasecmp(name, "Accept-Encoding") == 0;
    marks->host |= strcasecmp(name, "Host") == 0;
    marks->content_length |= strcasecmp(name, "Content-Length") == 0;
}

bool transfer_mark_headers(const struct transfer *transfer, struct header_marks *marks)
{
    *marks = transfer->headers ? transfer->headers->marks : (struct header_marks){0};
    for (size_t i = 0; i < transfer->extra_count; i++) {
        if (!http_header_is_valid(transfer->extra[i].name, transfer->extra[i].value))
            return false;
        http_header_mark(marks, transfer->extra[i].name);
    }
    return true;
}

static void request_parts_add_line(struct buffer *lines, const char *name, const char *value)
{
    buffer_print(lines, name);
    buffer_append(lines, ": ", 2);
    buffer_print(lines, value);
    buffer_append(lines, "\r\n", 2);
}

static void request_parts_wipe(struct buffer *lines)
{
    if (lines->data)
        explicit_bzero(lines->data, lines->length); /* most likely a key */
    buffer_fini(lines);
}

struct http_headers *http_headers_create(void)
{
    struct http_headers *headers = xcalloc(1, sizeof *headers);
    buffer_init(&headers->lines, SIZE_MAX);
    return headers;
}

bool http_headers_add(struct http_headers *headers, const char *name, const char *value, struct status *st)
{
    if (!http_header_is_valid(name, value))
        return fail(st, INVALID_ARGUMENT,
                    "the header '%.64s' cannot be sent: its name is no token or its value has "
                    "more than one line",
                    name);
    http_header_mark(&headers->marks, name);
    /* Into new memory, so that the old memory, which may hold a key, can be wiped. */
    struct buffer lines;
    buffer_init(&lines, SIZE_MAX);
    buffer_append(&lines, headers->lines.data ? headers->lines.data : "", headers->lines.length);
    request_parts_add_line(&lines, name, value);
    if (lines.failed)
        memory_exhausted();
    request_parts_wipe(&headers->lines);
    headers->lines = lines;
    return true;
}

void http_headers_destroy(struct http_headers **headers_pointer)
{
    struct http_headers *headers = *headers_pointer;
    if (!headers)
        return;
    *headers_pointer = NULL;
    request_parts_wipe(&headers->lines);
    free(headers);
}

/* ---- the head of a request -------------------------------------------------------------------------------------- */

static bool request_parts_is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

void request_write_head(const struct transfer *transfer, struct buffer *head)
{
    const struct http_url *url = transfer->url;
    struct header_marks marks;
    transfer_mark_headers(transfer, &marks);
    buffer_print(head, transfer->method);
    buffer_put(head, ' ');
    buffer_print(head, url->target);
    buffer_append(head, " HTTP/1.1\r\n", 11);
    if (!marks.host)
        request_parts_add_line(head, "Host", url->host_field);
    for (size_t i = 0; i < transfer->extra_count; i++)
        request_parts_add_line(head, transfer->extra[i].name, transfer->extra[i].value);
    if (!marks.user_agent)
        request_parts_add_line(head, "User-Agent", transfer->client->user_agent);
    if (transfer->decompress && !marks.accept_encoding)
        request_parts_add_line(head, "Accept-Encoding", ENCODINGS);
    if (transfer->headers)
        buffer_append(head, transfer->headers->lines.data ? transfer->headers->lines.data : "",
                      transfer->headers->lines.length);
    if (!marks.content_length) {
        /* RFC 9110 §8.6: methods that expect a body send Content-Length 0 without one. */
        static const char *const with_body[] = {"POST", "PUT", "PATCH"};
        if (transfer->body ||
            request_parts_is_one_of(transfer->method, with_body, sizeof with_body / sizeof *with_body)) {
            char digits[24], *at = digits + sizeof digits - 1;
            size_t size = transfer->body ? transfer->body_size : 0;
            *at = '\0';
            do
                *--at = (char)('0' + size % 10);
            while (size /= 10);
            request_parts_add_line(head, "Content-Length", at);
        }
    }
    buffer_append(head, "\r\n", 2);
    if (head->failed)
        memory_exhausted();
}
