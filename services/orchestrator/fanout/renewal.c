/* Certificates are replaced while an orchestrator runs, long before they end: each station looks at its files now and
 * then, the first one also at those of the port. Files that do not hold together, half replaced, wait for the next
 * look. */
#include "far.h"

#include "base/log.h"
#include "rpc/tls_files.h"

#include <stdlib.h>

#define LOOK_BEATS 4 /* beats between two looks */

struct renewal {
    struct rpc_tls_files *port, *lines; /* NULL: never read yet, or not over TLS */
    unsigned rest;
};

/* Reads what was never read, or has changed; true where there is something new. */
static bool is_new(struct rpc_tls_files **files, const struct mail_tls *tls)
{
    struct status st = {0};
    if (*files)
        return rpc_tls_files_refresh(*files);
    if (!tls || !tls->certificate || !tls->key || !tls->authorities)
        return false;
    *files = rpc_tls_files_open(&(struct rpc_tls){tls->certificate, tls->key, tls->authorities, true}, &st);
    return *files != NULL; /* else whoever opens a line says why */
}

static void renew_lines(struct station *station)
{
    struct status st = {0};
    for (unsigned i = 0; i < station->route_count; i++) {
        struct route *route = &station->routes[i];
        bool over_tls = route->line && mail_is_tls(route->address);
        if (over_tls && !line_renew(route->line, route->address, station->fanout->options.client, &st))
            log_warn("fanout.certificate", "loop %u keeps its old certificates: %s", station->index, st.text);
    }
}

void renewal_look(struct station *station)
{
    const struct fanout_options *options = &station->fanout->options;
    struct renewal *renewal = station->renewal;
    if (renewal->rest) {
        renewal->rest--;
        return;
    }
    renewal->rest = LOOK_BEATS - 1;
    if (is_new(&renewal->lines, options->client))
        renew_lines(station);
    if (station->index == 0 && mail_is_tls(fanout_port(station->fanout)->address) &&
        is_new(&renewal->port, options->server))
        port_renew(station->fanout);
}

void renewal_open(struct station *station)
{
    station->renewal = calloc(1, sizeof *station->renewal);
    if (!station->renewal)
        fatal("orchestrator.memory", "no memory for the certificates of loop %u", station->index);
}

void renewal_close(struct station *station)
{
    if (!station->renewal)
        return;
    rpc_tls_files_close(&station->renewal->port);
    rpc_tls_files_close(&station->renewal->lines);
    free(station->renewal);
    station->renewal = NULL;
}
