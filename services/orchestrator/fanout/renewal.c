/* Renews certificates while an orchestrator runs. Each endpoint checks its files periodically; the first endpoint
 * also checks those of the listener. If certificate and key do not match yet, the next check reads them again. */
#include "remote_peer.h"

#include "base/log.h"
#include "base/memory.h"
#include "rpc/tls_files.h"

#include <stdlib.h>

#define LOOK_BEATS 4 /* heartbeats between two checks */

struct renewal {
    struct rpc_tls_files *listener, *connections; /* NULL: never read yet, or not over TLS */
    unsigned rest;
};

/* Reads files that are new or have changed; true if the certificates changed. */
static bool is_new(struct rpc_tls_files **files, const struct mail_tls *tls)
{
    struct status st = {0};
    if (*files)
        return rpc_tls_files_refresh(*files);
    if (!tls || !tls->certificate || !tls->key || !tls->authorities)
        return false;
    *files = rpc_tls_files_open(&(struct rpc_tls){tls->certificate, tls->key, tls->authorities, true}, &st);
    return *files != NULL; /* opening a connection reports the error */
}

static void renew_connections(struct fanout_endpoint *endpoint)
{
    struct status st = {0};
    for (unsigned i = 0; i < endpoint->route_count; i++) {
        struct route *route = &endpoint->routes[i];
        bool over_tls = route->connection && mail_is_tls(route->address);
        if (over_tls &&
            !mail_connection_renew(route->connection, route->address, endpoint->fanout->options.client, &st))
            log_warn("fanout.certificate", "loop %u keeps its old certificates: %s", endpoint->index, st.text);
    }
}

void renewal_look(struct fanout_endpoint *endpoint)
{
    const struct fanout_options *options = &endpoint->fanout->options;
    struct renewal *renewal = endpoint->renewal;
    if (renewal->rest) {
        renewal->rest--;
        return;
    }
    renewal->rest = LOOK_BEATS - 1;
    if (is_new(&renewal->connections, options->client))
        renew_connections(endpoint);
    if (endpoint->index == 0 && mail_is_tls(fanout_member_row(endpoint->fanout)->address) &&
        is_new(&renewal->listener, options->server))
        fanout_listener_renew(endpoint->fanout);
}

void renewal_open(struct fanout_endpoint *endpoint)
{
    endpoint->renewal = xcalloc(1, sizeof *endpoint->renewal);
}

void renewal_close(struct fanout_endpoint *endpoint)
{
    if (!endpoint->renewal)
        return;
    rpc_tls_files_close(&endpoint->renewal->listener);
    rpc_tls_files_close(&endpoint->renewal->connections);
    free(endpoint->renewal);
    endpoint->renewal = NULL;
}
