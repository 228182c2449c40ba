#include "origin.h"

#include "edge_metrics.h"
#include "errors.h"

#include <string.h>
#include <strings.h>

#define CORS_HEADERS                                                                                                   \
    "authorization, content-type, idempotency-key, last-event-id, x-request-id, x-request-timeout, if-none-match, "    \
    "traceparent"
#define CORS_EXPOSED "x-request-id, retry-after, etag, location"
#define CORS_MAX_AGE "7200" /* Chromium's most */

/* "http://" and the Host of the request, or edge.origin. */
static bool origin_is_own(const struct edge *edge, const struct http_request *request, const char *origin)
{
    static const char scheme[] = "http://";
    const char *host = http_request_header(request, "host");
    if (edge->settings.origin)
        return strcasecmp(origin, edge->settings.origin) == 0;
    return host && strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

static bool origin_is_listed(const struct edge *edge, const char *origin)
{
    for (size_t i = 0; i < edge->settings.cors_count; i++)
        if (strcmp(edge->settings.cors[i], origin) == 0)
            return true;
    return false;
}

static bool origin_is_read(const struct http_request *request)
{
    const char *method = http_request_method(request);
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
}

static bool origin_fits(const struct edge *edge, const struct http_request *request, struct status *st)
{
    const char *origin = http_request_header(request, "origin");
    const char *site = http_request_header(request, "sec-fetch-site");
    bool listed = origin && !edge->auth && origin_is_listed(edge, origin); /* without keys, a listed origin may call */
    if (listed)
        return true;
    if (origin && !origin_is_own(edge, request, origin))
        return fail(st, PERMISSION_DENIED,
                    "the request comes from a page of '%.120s', not of this server; pages elsewhere send a key as "
                    "'Authorization: Bearer KEY' and stand in edge.cors",
                    origin);
    if (!origin && site && strcasecmp(site, "same-origin") != 0 &&
        !(strcasecmp(site, "none") == 0 && origin_is_read(request)))
        return fail(st, PERMISSION_DENIED, "the request comes from a page of another site (Sec-Fetch-Site: %.32s)",
                    site);
    return true;
}

bool origin_may(const struct edge *edge, const struct http_request *request, struct status *st)
{
    if (origin_fits(edge, request, st))
        return true;
    edge_metrics_origin_refused(edge->metrics);
    return false;
}

bool origin_may_with_cookie(const struct edge *edge, const struct http_request *request, struct status *st)
{
    if (!origin_is_read(request) && !http_request_header(request, "origin") &&
        !http_request_header(request, "sec-fetch-site"))
        return fail(st, PERMISSION_DENIED,
                    "a change under a session comes from the console, and names it as its Origin; programs send a key "
                    "as 'Authorization: Bearer KEY'");
    return origin_may(edge, request, st);
}

void origin_allow(const struct edge *edge, struct http_request *request)
{
    const char *origin = http_request_header(request, "origin");
    if (!edge->settings.cors_count)
        return;
    http_reply_header(request, "Vary", "Origin");
    if (!origin || !origin_is_listed(edge, origin))
        return;
    http_reply_header(request, "Access-Control-Allow-Origin", origin);
    http_reply_header(request, "Access-Control-Expose-Headers", CORS_EXPOSED);
}

bool origin_preflight(const struct edge *edge, struct http_request *request, const char *allow)
{
    const char *origin = http_request_header(request, "origin");
    if (strcmp(http_request_method(request), "OPTIONS") != 0 || !origin ||
        !http_request_header(request, "access-control-request-method"))
        return false;
    if (!origin_is_listed(edge, origin)) {
        edge_fail_with(request, PERMISSION_DENIED, "pages of '%.120s' may not call; edge.cors lists those that may",
                       origin);
        return true;
    }
    http_reply_header(request, "Access-Control-Allow-Methods", allow);
    http_reply_header(request, "Access-Control-Allow-Headers", CORS_HEADERS);
    http_reply_header(request, "Access-Control-Max-Age", CORS_MAX_AGE);
    http_reply(request, 204, NULL, NULL, 0);
    return true;
}
