/* The name of the cookie has the port. Browsers send cookies to all ports of a host, so two consoles would share it.
 */
#include "session.h"

#include "edge_shared.h"
#include "errors.h"
#include "header_list.h"
#include "origin.h"
#include "rpc/auth.h"
#include "json/pull.h"
#include "json/writer.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#define COOKIE_NAME_MAX 64
#define COOKIE_MAX      (SESSION_ID_SIZE + 256)
#define METHOD_NAME_MAX 160
#define KEY_TEXT_MAX    1024

static bool session_is_secure(const struct edge *edge)
{
    return edge->settings.origin && strncmp(edge->settings.origin, "https://", 8) == 0;
}

static void session_cookie_name(const struct edge *edge, char name[COOKIE_NAME_MAX])
{
    snprintf(name, COOKIE_NAME_MAX, "%srenga_session_%d", session_is_secure(edge) ? "__Host-" : "",
             http_server_port(edge->server));
}

static const char *session_cookie(const struct edge *edge, const struct http_request *request, size_t *length)
{
    char name[COOKIE_NAME_MAX];
    session_cookie_name(edge, name);
    return header_list_cookie(http_request_header(request, "cookie"), name, length);
}

bool session_of(const struct edge *edge, const struct http_request *request, char authorization[SESSION_KEY_SIZE])
{
    size_t length;
    const char *id = session_cookie(edge, request, &length);
    return id && sessions_find(edge->shared->sessions, id, length, authorization);
}

/* The principal of the key, if the key may call a method of the table. */
static const struct rpc_principal *session_principal(const struct edge *edge, const char *authorization,
                                                     struct status *st)
{
    char method[METHOD_NAME_MAX];
    for (size_t i = 0; i < edge_route_count; i++) {
        status_clear(st);
        snprintf(method, sizeof method, "%s/%s", edge_routes[i].service->name, edge_routes[i].method);
        const struct rpc_principal *principal =
            rpc_auth_check(edge->auth, authorization, strlen(authorization), method, st);
        if (principal || st->code != PERMISSION_DENIED)
            return principal;
    }
    fail(st, PERMISSION_DENIED, "the key may call no method that is served here; ask the operator to allow one");
    return NULL;
}

static void session_reply(struct edge *edge, struct http_request *request, const struct rpc_principal *principal)
{
    struct json_writer writer;
    json_writer_init(&writer, &edge->out);
    json_write_object(&writer, NULL);
    json_write_bool(&writer, "signedIn", principal != NULL);
    json_write_bool(&writer, "needsKey", edge->auth != NULL);
    json_write_string(&writer, "tenant", principal ? principal->tenant : "");
    json_write_string(&writer, "client", principal ? principal->name : "");
    json_write_end(&writer);
    edge_reply_json(edge, request, 200, &edge->out);
}

void session_show(struct edge *edge, struct http_request *request)
{
    static const struct rpc_principal anyone = {.name = "", .tenant = ""};
    char authorization[SESSION_KEY_SIZE];
    struct status st = {0};
    const struct rpc_principal *principal = edge->auth ? NULL : &anyone;
    if (edge->auth && session_of(edge, request, authorization))
        principal = session_principal(edge, authorization, &st);
    if (principal && edge->auth)
        session_renew(edge, request);
    session_reply(edge, request, principal);
}

static void session_set_cookie(const struct edge *edge, struct http_request *request, const char *id, int64_t age_s)
{
    char name[COOKIE_NAME_MAX], cookie[COOKIE_MAX];
    session_cookie_name(edge, name);
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s", name, id,
             (long long)age_s, session_is_secure(edge) ? "; Secure" : "");
    http_reply_header(request, "Set-Cookie", cookie);
}

void session_renew(const struct edge *edge, struct http_request *request)
{
    size_t length;
    char renewed[SESSION_ID_SIZE];
    const char *id = session_cookie(edge, request, &length);
    if (id && sessions_renew(edge->shared->sessions, id, length, renewed))
        session_set_cookie(edge, request, renewed, edge->settings.session_max_ms / 1000);
}

/* The key of {"key": "…"}, as an Authorization header has it. */
static bool session_read_key(struct http_request *request, char authorization[SESSION_KEY_SIZE], struct status *st)
{
    size_t size;
    const char *body = http_request_body(request, &size), *key = NULL;
    struct json_pull in;
    struct json_scope fields;
    json_pull_init(&in, body, size, NULL, http_request_arena(request), st);
    for (bool more = json_pull_object(&in, &fields); more && json_pull_next(&in, &fields);)
        if (json_pull_at(&in, "key"))
            key = json_pull_text(&in);
        else
            json_pull_wrong(&in, NULL, "is not known here; send {\"key\": \"…\"}");
    if (!json_pull_end(&in))
        return false;
    if (!key || !*key || strlen(key) > KEY_TEXT_MAX || strpbrk(key, "\r\n"))
        return fail_field(st, "key", "must be the text of a key, of at most %d bytes", KEY_TEXT_MAX);
    snprintf(authorization, SESSION_KEY_SIZE, "Bearer %s", key);
    return true;
}

/* A page of another origin must neither sign a browser in nor out. */
static bool session_may_change(struct edge *edge, struct http_request *request)
{
    struct status st = {0};
    if (origin_may(edge, request, &st))
        return true;
    edge_fail(request, &st);
    return false;
}

void session_sign_in(struct edge *edge, struct http_request *request)
{
    char authorization[SESSION_KEY_SIZE], id[SESSION_ID_SIZE];
    struct status st = {0};
    const struct rpc_principal *principal = NULL;
    size_t length;
    if (!session_may_change(edge, request))
        return;
    if (!edge_body_is_json(request)) {
        edge_refuse(request, 415, "the body must have the Content-Type " EDGE_TYPE_JSON);
        return;
    }
    if (!edge->auth) {
        session_show(edge, request);
        return;
    }
    const char *before = session_cookie(edge, request, &length);
    if (session_read_key(request, authorization, &st))
        principal = session_principal(edge, authorization, &st);
    if (principal && !sessions_begin(edge->shared->sessions, authorization, id)) {
        fail(&st, UNAVAILABLE, "no session could be made");
        principal = NULL;
    }
    OPENSSL_cleanse(authorization, sizeof authorization);
    if (!principal) {
        edge_fail(request, &st);
        return;
    }
    if (before)
        sessions_end(edge->shared->sessions, before, length);
    session_set_cookie(edge, request, id, edge->settings.session_max_ms / 1000);
    session_reply(edge, request, principal);
}

void session_sign_out(struct edge *edge, struct http_request *request)
{
    size_t length;
    if (!session_may_change(edge, request))
        return;
    const char *id = session_cookie(edge, request, &length);
    if (id)
        sessions_end(edge->shared->sessions, id, length);
    session_set_cookie(edge, request, "", 0);
    http_reply_header(request, "Clear-Site-Data", "\"cookies\", \"storage\"");
    session_reply(edge, request, NULL);
}
