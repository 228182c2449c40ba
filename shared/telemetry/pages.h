/* The pages that operators and their machines read: /metrics, /healthz, /readyz. */
#ifndef RENGA_TELEMETRY_PAGES_H
#define RENGA_TELEMETRY_PAGES_H

#include "http/server.h"
#include "telemetry/metrics.h"

struct pages {
    struct metrics *metrics;
    /* NULL if the process is ready, else the reason ("starting", "draining"). Runs in the server's loop. */
    const char *(*not_ready)(void *data);
    void *data;
};

/* Adds the routes. `pages` is borrowed as long as the server lives.
 *      /metrics  200, text exposition format
 *      /healthz  200 "ok": the process serves
 *      /readyz   200 "ready", or 503 with the reason */
void pages_serve(struct http_server *server, struct pages *pages);

#endif
