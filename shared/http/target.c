/* The target of a request: "/a%20b?key=v%2Fw", or a URL of it, as clients of a proxy send (RFC 9112 §3.2). */
#include "http/http1_chars.h"
#include "http/server_priv.h"

#include <string.h>
#include <strings.h>

/* The byte that "%2F" encodes; -1: not an escape. */
static int escaped(const char *at, const char *end)
{
    int high = end - at > 2 ? hex_value(at[1]) : -1, low = high >= 0 ? hex_value(at[2]) : -1;
    return low >= 0 ? high << 4 | low : -1;
}

/* In place. Refuses a NUL, which would hide the rest from C string comparisons. */
static bool decode_path(char *path)
{
    char *out = path;
    for (const char *at = path, *end = path + strlen(path); at < end; at++) {
        int byte = *at == '%' ? escaped(at, end) : (unsigned char)*at;
        if (byte <= 0)
            return false;
        at += *at == '%' ? 2 : 0;
        *out++ = (char)byte;
    }
    *out = '\0';
    return true;
}

/* As in forms: a plus is a space. Invalid escapes stay unchanged. */
static char *decode_parameter(char *out, const char *at, const char *end)
{
    for (; at < end; at++) {
        int byte = *at == '%' ? escaped(at, end) : -1;
        at += byte > 0 ? 2 : 0;
        *out++ = byte > 0 ? (char)byte : *at == '+' ? ' ' : *at;
    }
    *out++ = '\0';
    return out;
}

static bool decode_query(struct http_request *request, const char *query)
{
    size_t length = strlen(query);
    char *pairs = arena_alloc(&request->arena, 2 * length + 2), *out = pairs; /* "a&a": two NULs for each byte */
    if (!pairs)
        return false;
    for (const char *at = query, *end = query + length; at < end;) {
        const char *and = memchr(at, '&', (size_t)(end - at)), *stop = and? and : end;
        const char *is = memchr(at, '=', (size_t)(stop - at));
        if (stop > at) {
            out = decode_parameter(out, at, is ? is : stop);
            out = decode_parameter(out, is ? is + 1 : stop, stop);
        }
        at = stop + 1;
    }
    request->query = pairs;
    request->query_size = (size_t)(out - pairs);
    return true;
}

/* The path of the target; of an absolute one ("http://host:80/path") it keeps the authority. NULL: no memory. */
static char *target_read_authority(struct http_request *request, char *target)
{
    size_t scheme = strncasecmp(target, "http://", 7) == 0 ? 7 : strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
    if (!scheme)
        return target;
    size_t length = strcspn(target + scheme, "/?");
    request->authority = arena_strndup(&request->arena, target + scheme, length);
    return request->authority ? target + scheme + length : NULL;
}

bool target_read(struct http_request *request)
{
    char *target = http1_target(&request->reader), *path = target_read_authority(request, target);
    bool has_fragment = strchr(target, '#'); /* which is for the client alone */
    if (!path)
        return false;
    if (request->server->options.keeps_target && !(request->target = arena_strdup(&request->arena, *path ? path : "/")))
        return false;
    char *query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    request->path = *path || path == target ? path : "/";
    if ((*path && *path != '/' && strcmp(target, "*") != 0) || has_fragment)
        return false;
    if (strchr(path, '#') || (query && strchr(query, '#')))
        return false; /* a fragment stays with the client: readers would differ about the end of the path */
    return *request->path && decode_path(path) && (!query || decode_query(request, query));
}

const char *http_request_target(const struct http_request *request)
{
    return request->target;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
    if (!request->query)
        return NULL;
    for (const char *at = request->query, *end = at + request->query_size; at < end;) {
        const char *value = at + strlen(at) + 1;
        if (strcmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}
