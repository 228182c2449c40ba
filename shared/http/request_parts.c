/* What a request is made of: URLs parsed once, headers as lines that curl sends as they stand. */
#include "base/log.h"
#include "http/client_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct curl_slist http_headers_end = {.data = (char[]){"Expect:"}};

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

static bool parse(struct http_url *url, const char *text, struct status *st)
{
    CURLUcode code = curl_url_set(url->parts, CURLUPART_URL, text, 0);
    if (code)
        return fail(st, INVALID_ARGUMENT, "the URL cannot be read: %s; give one like https://host:port/path",
                    curl_url_strerror(code));
    char *scheme = NULL;
    curl_url_get(url->parts, CURLUPART_SCHEME, &scheme, 0);
    bool known = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (!known)
        fail(st, INVALID_ARGUMENT, "the URL's scheme is '%s'; only http and https are served", scheme ? scheme : "");
    curl_free(scheme);
    return known;
}

struct http_url *http_url_parse(const char *text, struct status *st)
{
    struct http_url *url = calloc(1, sizeof *url);
    if (!url || !(url->parts = curl_url()))
        fatal("http.memory", "no memory for a URL");
    if (!parse(url, text, st)) {
        http_url_destroy(&url);
        return NULL;
    }
    curl_url_set(url->parts, CURLUPART_FRAGMENT, NULL, 0);
    url->origin = origin_of(url->parts);
    curl_url_get(url->parts, CURLUPART_HOST, &url->host, 0);
    if (!url->origin || !url->host)
        fatal("http.memory", "no memory for a URL");
    size_t length = strlen(url->host);
    if (url->host[0] == '[' && url->host[length - 1] == ']') {
        memmove(url->host, url->host + 1, length - 2);
        url->host[length - 2] = '\0';
    }
    return url;
}

void http_url_destroy(struct http_url **url_pointer)
{
    struct http_url *url = *url_pointer;
    if (!url)
        return;
    *url_pointer = NULL;
    curl_url_cleanup(url->parts);
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

char *http_url_path(const struct http_url *url)
{
    char *path = NULL, *copy;
    curl_url_get(url->parts, CURLUPART_PATH, &path, 0);
    copy = strdup(path ? path : "/");
    curl_free(path);
    if (!copy)
        fatal("http.memory", "no memory for a URL");
    return copy;
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
}

struct http_headers *http_headers_create(void)
{
    struct http_headers *headers = calloc(1, sizeof *headers);
    if (!headers)
        fatal("http.memory", "no memory for headers");
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
    size_t name_length = strlen(name), value_length = strlen(value);
    struct header_node *node = malloc(sizeof *node + name_length + value_length + 3);
    if (!node)
        fatal("http.memory", "no memory for a header");
    /* "Name;" is how curl is told of a header without a value. */
    memcpy(node->line, name, name_length);
    memcpy(node->line + name_length, value_length ? ": " : ";", value_length ? 3 : 2);
    if (value_length)
        memcpy(node->line + name_length + 2, value, value_length + 1);
    node->entry = (struct curl_slist){.data = node->line, .next = &http_headers_end};
    if (headers->last)
        headers->last->next = &node->entry;
    else
        headers->first = &node->entry;
    headers->last = &node->entry;
    return true;
}

void http_headers_destroy(struct http_headers **headers_pointer)
{
    struct http_headers *headers = *headers_pointer;
    if (!headers)
        return;
    *headers_pointer = NULL;
    for (struct curl_slist *entry = headers->first; entry && entry != &http_headers_end;) {
        struct curl_slist *next = entry->next;
        explicit_bzero(entry->data, strlen(entry->data)); /* most likely a key */
        free(entry);
        entry = next;
    }
    free(headers);
}
