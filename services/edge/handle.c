/* Routes each request to its handler. */
#include "edge_priv.h"

#include "edge_metrics.h"
#include "edge_shared.h"
#include "errors.h"
#include "multiplex.h"
#include "origin.h"
#include "session.h"

#include <string.h>

const struct edge_peer *edge_find_peer(const struct edge *edge, const ProtobufCServiceDescriptor *service)
{
    for (size_t i = 0; i < edge->peer_count; i++)
        if (edge->peers[i].descriptor == service)
            return &edge->peers[i];
    return NULL;
}

static void handle_health(struct edge *edge, struct http_request *request)
{
    http_reply(request, 200, "text/plain; charset=utf-8", "ok\n", 3);
}

/* Paths of the edge itself. */
static const struct {
    const char *method, *path;
    void (*handle)(struct edge *edge, struct http_request *request);
} own[] = {
    {"GET", "/healthz", handle_health},          {"GET", "/v1/events:watch", multiplex_watch},
    {"GET", "/v1/session", session_show},        {"POST", "/v1/session", session_sign_in},
    {"DELETE", "/v1/session", session_sign_out}, {"GET", "/openapi.json", openapi_handle},
};

static bool handle_own(struct edge *edge, struct http_request *request, const char *method, struct edge_match *match)
{
    const char *target = http_request_target(request);
    size_t length = strcspn(target, "?");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strlen(own[i].path) != length || memcmp(own[i].path, target, length) != 0)
            continue;
        edge_metrics_name_path(request, own[i].path);
        if (strcmp(own[i].method, method) == 0) {
            own[i].handle(edge, request);
            return true;
        }
        size_t used = strlen(match->allow);
        if (used + strlen(own[i].method) + 8 < sizeof match->allow) {
            strcat(match->allow, used ? ", " : "");
            strcat(match->allow, own[i].method);
            strcat(match->allow, strcmp(own[i].method, "GET") == 0 ? ", HEAD" : "");
        }
    }
    return false;
}

static void handle_other(struct edge *edge, struct http_request *request, const struct edge_match *match)
{
    if (!match->allow[0]) {
        edge_fail_with(request, NOT_FOUND, "there is nothing at this path; /openapi.json lists the paths");
        return;
    }
    http_reply_header(request, "Allow", match->allow);
    if (origin_preflight(edge, request, match->allow))
        return;
    if (strcmp(http_request_method(request), "OPTIONS") == 0)
        http_reply(request, 204, NULL, NULL, 0);
    else
        edge_refuse(request, 405, "%.32s is not served at this path; use %s", http_request_method(request),
                    match->allow);
}

static bool handle_asset(struct edge *edge, struct http_request *request)
{
    const char *target = http_request_target(request), *method = http_request_method(request);
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!assets_has(edge->shared->assets, target, strcspn(target, "?")))
        return false;
    edge_metrics_name_path(request, "console");
    if (reads) {
        assets_reply(edge, edge->shared->assets, request);
        return true;
    }
    edge_reply_headers(edge, request);
    handle_other(edge, request, &(struct edge_match){.allow = "GET, HEAD"});
    return true;
}

void edge_handle(struct http_request *request, void *data)
{
    struct edge *edge = data;
    const char *method = http_request_method(request);
    struct edge_match match = {0};
    struct edge_path path;
    struct status st = {0};
    if (handle_asset(edge, request))
        return;
    edge_reply_headers(edge, request);
    if (handle_own(edge, request, strcmp(method, "HEAD") == 0 ? "GET" : method, &match))
        return;
    if (match.allow[0]) {
        handle_other(edge, request, &match);
        return;
    }
    if (!edge_path_read(http_request_target(request), http_request_arena(request), &path, &st)) {
        edge_fail(request, &st);
        return;
    }
    edge_route_match(&path, method, &match);
    if (!match.route) {
        handle_other(edge, request, &match);
        return;
    }
    edge_metrics_name_route(request, match.route);
    session_renew(edge, request);
    edge_call_begin(edge, request, &match);
}
