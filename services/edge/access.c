/* Authentication: keys, and the requests that are refused before their body is read. */
#include "edge_priv.h"

#include "assets.h"
#include "base/budget.h"
#include "errors.h"
#include "http/http1_chars.h"
#include "origin.h"
#include "rpc/auth.h"
#include "session.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FORWARDED       "renga-forwarded-bin" /* rpc/forwarded.h */
#define METHOD_NAME_MAX 160
#define BEARER          "Bearer "
#define ANY_METHOD      "renga.v1.Edge/Any"
#define SMALL_BODY_MAX  4096 /* bytes of a body from a client that is not authenticated yet */
#define ARENA_MAX       ((size_t)256 << 10)
#define PARAMETER_MAX   32   /* bytes of a name that is compared, more than key_parameters have */
#define STORAGE_SIZE    1024 /* bytes of it that need no heap: of most paths all */

/* Parameters that clients use for keys. They end in logs, histories and the Referer of the next page. */
static const char *const key_parameters[] = {"key",          "api_key",       "apikey", "api-key", "access_token",
                                             "access-token", "authorization", "bearer", "token",   "auth"};

/* The name of a parameter, decoded and cut to PARAMETER_MAX. Ends at "=", "&" or the end of the query. */
static void access_read_name(const char *at, char name[PARAMETER_MAX])
{
    const char *end = at + strcspn(at, "=&");
    size_t size = 0;
    while (at < end && size < PARAMETER_MAX - 1) {
        int low = *at == '%' && hex_value(at[1]) >= 0 ? hex_value(at[2]) : -1;
        name[size++] = low >= 0 ? (char)(hex_value(at[1]) << 4 | low) : *at;
        at += low >= 0 ? 3 : 1;
    }
    name[size] = '\0';
}

static bool access_key_in_url(const char *query, struct status *st)
{
    char name[PARAMETER_MAX];
    for (const char *at = query, *next; at; at = next ? next + 1 : NULL) {
        next = strchr(at, '&');
        access_read_name(at, name);
        for (size_t i = 0; i < sizeof key_parameters / sizeof key_parameters[0]; i++)
            if (strcasecmp(name, key_parameters[i]) == 0)
                return !fail_field(st, key_parameters[i],
                                   "must not stand in a URL, where logs and histories keep it; send the key as "
                                   "'Authorization: Bearer KEY', and replace it");
    }
    return false;
}

/* Paths that need no key: the console's files, and signing in. */
static bool access_is_public(const char *path, size_t length)
{
    static const char *const public[] = {"/v1/session", "/openapi.json", "/healthz", "/favicon.ico", "/index.html"};
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
        if (strlen(public[i]) == length && memcmp(public[i], path, length) == 0)
            return true;
    return assets_is_page(path, length) || (length > 8 && memcmp(path, "/assets/", 8) == 0);
}

const struct rpc_principal *edge_principal(const struct edge *edge, const struct http_request *request,
                                           const char *method, struct status *st)
{
    static const struct rpc_principal anyone = {.name = "", .tenant = ""};
    char session[SESSION_KEY_SIZE];
    const char *header = http_request_header(request, "authorization");
    if ((!header || !edge->auth) && !origin_may(edge, request, st))
        return NULL;
    if (!edge->auth)
        return &anyone;
    if (!header && session_of(edge, request, session)) {
        header = session;
    }
    const struct rpc_principal *principal = NULL;
    if (!header || strncasecmp(header, BEARER, sizeof BEARER - 1) != 0)
        fail(st, UNAUTHENTICATED, "the request has no key; send it as 'Authorization: Bearer KEY'");
    else if (header != session || origin_may_with_cookie(edge, request, st))
        principal = rpc_auth_check(edge->auth, header, strlen(header), method, st);
    if (header == session)
        OPENSSL_cleanse(session, sizeof session);
    return principal;
}

/* A client without a key, or with an unknown key, always gets UNAUTHENTICATED. A known key without access to the
 * method gets PERMISSION_DENIED. Only a client with a known key learns that a path does not exist. */
static bool access_to_path(const struct edge *edge, const struct http_request *request, struct arena *arena,
                           uint64_t *owner, struct status *st)
{
    char method[METHOD_NAME_MAX] = ANY_METHOD;
    struct edge_path path;
    struct edge_match match = {0};
    struct status why = {0};
    bool readable = edge_path_read(http_request_target(request), arena, &path, &why);
    if (readable)
        edge_route_match(&path, http_request_method(request), &match);
    if (match.route)
        snprintf(method, sizeof method, "%s/%s", match.route->service->name, match.route->method);
    const struct rpc_principal *principal = edge_principal(edge, request, method, st);
    if (principal)
        *owner = budget_owner(principal->tenant, principal->name);
    else if (!match.route && st->code == PERMISSION_DENIED)
        status_clear(st);
    return st->code == OK;
}

static bool access_body_is_small(const struct http_request *request, struct status *st)
{
    const char *length = http_request_header(request, "content-length");
    if (http_request_header(request, "transfer-encoding") || (length && strtoul(length, NULL, 10) > SMALL_BODY_MAX))
        return fail(st, INVALID_ARGUMENT, "a body here has a Content-Length of at most %d bytes", SMALL_BODY_MAX);
    return true;
}

bool edge_admits(const struct http_request *request, uint64_t *owner, struct status *st, void *data)
{
    const struct edge *edge = data;
    const char *target = http_request_target(request), *query = strchr(target, '?');
    struct arena arena;
    char storage[STORAGE_SIZE];
    if (http_request_header(request, FORWARDED))
        return fail(st, INVALID_ARGUMENT,
                    "the header " FORWARDED " is not for this door: nobody calls here on behalf of others");
    arena_init(&arena, storage, sizeof storage, ARENA_MAX);
    bool admitted;
    if (access_key_in_url(query ? query + 1 : NULL, st))
        admitted = false;
    else if (strcmp(http_request_method(request), "OPTIONS") == 0 || access_is_public(target, strcspn(target, "?")))
        admitted = access_body_is_small(request, st);
    else
        admitted = access_to_path(edge, request, &arena, owner, st);
    arena_fini(&arena);
    return admitted;
}

void edge_refuse_head(struct http_request *request, const struct status *st, void *data)
{
    edge_reply_headers(data, request);
    edge_fail(request, st);
}

void edge_refuse_raw(struct http_request *request, int http_status, const char *text)
{
    http_reply_header(request, "Cache-Control", "no-store");
    http_reply_header(request, "X-Content-Type-Options", "nosniff");
    edge_refuse(request, http_status, "%s", text);
}
