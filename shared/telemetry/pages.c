#include "telemetry/pages.h"

#include <string.h>

#define METRICS_TEXT_MAX (32u << 20) /* bytes of one scrape */
#define TEXT             "text/plain; charset=utf-8"

static void reply_text(struct http_request *request, int http_status, const char *text)
{
    http_reply_header(request, "Cache-Control", "no-store");
    http_reply(request, http_status, TEXT, text, strlen(text));
}

static void metrics_asked(struct http_request *request, void *data)
{
    const struct pages *pages = data;
    struct buffer out;
    size_t length;
    buffer_init(&out, METRICS_TEXT_MAX);
    metrics_write(pages->metrics, &out);
    char *text = buffer_take(&out, &length);
    if (text)
        http_reply_take(request, 200, METRICS_CONTENT_TYPE, text, length);
    else
        http_reply_error(request, 500, "the metrics do not fit in %u bytes; lower the number of series",
                         METRICS_TEXT_MAX);
}

static void health_asked(struct http_request *request, void *data)
{
    reply_text(request, 200, "ok\n");
}

static void readiness_asked(struct http_request *request, void *data)
{
    const struct pages *pages = data;
    const char *reason = pages->not_ready ? pages->not_ready(pages->data) : NULL;
    reply_text(request, reason ? 503 : 200, reason ? reason : "ready\n");
}

void pages_serve(struct http_server *server, struct pages *pages)
{
    static const struct http_route routes[] = {
        {.method = "GET", .path = "/metrics", .handle = metrics_asked},
        {.method = "GET", .path = "/healthz", .handle = health_asked},
        {.method = "GET", .path = "/readyz", .handle = readiness_asked},
    };
    http_server_route(server, routes, sizeof routes / sizeof *routes, pages);
}
