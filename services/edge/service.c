/* The service: an instance for each loop, created, drained and destroyed here. */
#include "edge.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "daemon/service.h"
#include "edge_metrics.h"
#include "edge_priv.h"
#include "edge_shared.h"
#include "http/hosts.h"
#include "stream.h"
#include "stream_quota.h"
#include "telemetry/metrics.h"
#include "writing.h"

#include <stdlib.h>
#include <string.h>

#define BODY_FACTOR        2    /* a body may be larger than the message it becomes: escapes, names, base64 */
#define BODY_WEIGHT        2    /* the body, and the message that it becomes */
#define LINGER_MS          5000 /* so that the edge closes a slow reader before the server does */
#define CALL_LIMIT_MS      ((int64_t)24 * 3600000) /* of a stream; also of a call if rpc.call_max is not set */
#define SESSION_SECRET_MIN 32                      /* bytes */
#define NOWHERE            "off"

/* ---- its making -------------------------------------------------------------------------------------------------- */

static void edge_read_settings(struct edge_settings *settings, const struct config *config)
{
    const char *listen = config_string(config, "edge.listen");
    bool listens = listen && *listen && strcmp(listen, NOWHERE) != 0;
    *settings = (struct edge_settings){
        .listen = listens ? listen : NULL,
        .hosts = config_string(config, "edge.hosts"),
        .origin = config_string(config, "edge.origin"),
        .message_max = (size_t)config_size(config, "rpc.message_max"),
        .timeout_ms = config_duration_ms(config, "edge.timeout"),
        .call_max_ms = CALL_LIMIT_MS,
        .heartbeat_ms = config_duration_ms(config, "edge.heartbeat"),
        .reader_ms = config_duration_ms(config, "edge.reader_timeout"),
        .session_idle_ms = config_duration_ms(config, "edge.session_idle"),
        .session_max_ms = config_duration_ms(config, "edge.session_max"),
        .streams_per_client = (unsigned)config_integer(config, "edge.streams_per_client"),
        .is_loopback = listens && host_is_loopback(listen),
    };
    const char *key = config_string(config, "edge.session_key");
    settings->session_key = key && *key ? key : NULL;
    settings->cors = config_list(config, "edge.cors", &settings->cors_count);
}

/* A service that cannot be reached answers with the reason; the others work. */
static void edge_find_ways(struct edge *edge, const struct service_context *context)
{
    for (size_t i = 0; i < edge_route_count; i++) {
        const ProtobufCServiceDescriptor *service = edge_routes[i].service;
        if (edge_find_peer(edge, service) || edge->peer_count == EDGE_SERVICES_MAX)
            continue;
        struct edge_peer *peer = &edge->peers[edge->peer_count++];
        peer->descriptor = service;
        peer->stub = service_peer(context, service, &peer->why);
        if (!peer->stub)
            peer->why.code = UNIMPLEMENTED;
    }
}

static void edge_report_drained(struct work *work)
{
    struct edge *edge = CONTAINER_OF(work, struct edge, report);
    void (*drained)(void *data) = edge->drained;
    edge->drained = NULL;
    if (drained)
        drained(edge->drained_data);
}

/* Each process has one: all loops share its sessions and files. */
static struct edge_shared *edge_join_shared(const struct edge *edge, const struct service_context *context)
{
    const struct edge *first = context->instances ? (const struct edge *)context->instances[0] : NULL;
    struct edge_shared *shared = first ? first->shared : xcalloc(1, sizeof *shared);
    if (!shared->users++) {
        shared->sessions =
            sessions_create(edge->settings.session_idle_ms, edge->settings.session_max_ms, edge->settings.session_key);
        shared->assets = assets_create();
        shared->quota = stream_quota_create(edge->settings.streams_per_client);
        shared->metrics = context->metrics;
        edge_metrics_show_sessions(context->metrics, shared->sessions);
    }
    return shared;
}

static void edge_leave_shared(struct edge_shared *shared)
{
    if (!shared || --shared->users)
        return;
    if (shared->metrics)
        metrics_uncollect(shared->metrics, shared->sessions);
    sessions_destroy(&shared->sessions);
    stream_quota_destroy(&shared->quota);
    assets_destroy(&shared->assets);
    free(shared);
}

static void edge_destroy(ProtobufCService *service)
{
    struct edge *edge = (struct edge *)service;
    edge_leave_shared(edge->shared);
    http_server_destroy(&edge->server);
    loop_undefer(edge->loop, &edge->report);
    buffer_fini(&edge->out);
    edge_metrics_destroy(&edge->metrics);
    free(edge);
}

static ProtobufCService *edge_create(const struct service_context *context, struct status *st)
{
    struct edge *edge = xcalloc(1, sizeof *edge);
    edge->loop = context->loop;
    edge->auth = context->auth;
    edge->schema = context->schema;
    edge->answers = context->answers;
    edge->report.run = edge_report_drained;
    edge_read_settings(&edge->settings, context->config);
    if (edge->settings.session_key && strlen(edge->settings.session_key) < SESSION_SECRET_MIN) {
        fail(st, INVALID_ARGUMENT, "edge.session_key must have at least %d bytes; make it by 'openssl rand -hex 32'",
             SESSION_SECRET_MIN);
        free(edge);
        return NULL;
    }
    buffer_init(&edge->out, WRITE_MAX);
    if (edge->settings.listen) {
        edge->metrics = edge_metrics_create(context->metrics, edge->loop);
        edge->shared = edge_join_shared(edge, context);
        edge_find_ways(edge, context);
    }
    return &edge->base;
}

/* ---- the port ---------------------------------------------------------------------------------------------------- */

static bool edge_may_listen(const struct edge *edge, const struct config *config, struct status *st)
{
    return edge->auth || edge->settings.is_loopback || config_boolean(config, "edge.keyless") ||
           fail(st, FAILED_PRECONDITION,
                "edge.listen is %s, which others reach, and there are no keys: set rpc.keys, listen on 127.0.0.1, or "
                "say edge.keyless=true",
                edge->settings.listen);
}

static void edge_answering(const struct http_request *request, int http_status, size_t size, void *data)
{
    const struct edge *edge = data;
    edge_metrics_answered(edge->metrics, request, http_status, size);
}

static bool edge_listen(struct edge *edge, const struct service_context *context, struct status *st)
{
    static const struct http_route everything[] = {{NULL, "/", true, edge_handle}, {NULL, "*", false, edge_handle}};
    const struct edge *first = (const struct edge *)context->instances[0];
    const struct config *config = context->config;
    unsigned connections = (unsigned)config_integer(config, "edge.connections");
    unsigned per_address = (unsigned)config_integer(config, "edge.connections_per_address");
    struct http_server_options options = {
        .listen = edge->settings.listen,
        .shares = first == edge ? NULL : first->server,
        .body_max = BODY_FACTOR * edge->settings.message_max,
        .budget = context->budget,
        .body_weight = BODY_WEIGHT,
        .idle_ms = edge->settings.reader_ms + LINGER_MS,
        .read_ms = config_duration_ms(config, "edge.read_timeout"),
        .connections_max = (connections + context->loop_count - 1) / context->loop_count,
        .connections_per_address = per_address ? per_address : HTTP_CONNECTIONS_UNBOUND,
        .keyless = true, /* a request with a session needs no key, so the Host is always checked */
        .hosts = edge->settings.hosts,
        .keeps_target = true,
        .refuse = edge_refuse_raw,
        .answering = edge_answering,
        .answering_data = edge,
    };
    edge->server = http_server_create(edge->loop, &options, st);
    if (!edge->server)
        return false;
    http_server_set_access(edge->server,
                           &(struct http_access){.admits = edge_admits, .refuse = edge_refuse_head, .data = edge});
    http_server_route(edge->server, everything, sizeof everything / sizeof everything[0], edge);
    if (first == edge)
        log_info("edge.listening", "the console, HTTP and JSON on http://%.*s:%d/, port %d",
                 (int)(strrchr(options.listen, ':') - options.listen), options.listen, http_server_port(edge->server),
                 http_server_port(edge->server));
    return true;
}

/* Another program may listen at the default address; a process with other services runs without the edge. */
static bool edge_may_be_absent(const struct config *config)
{
    return config_boolean(config, "edge.optional") && strcmp(config_source(config, "edge.listen"), "default") == 0;
}

static bool edge_serve(ProtobufCService *service, const struct service_context *context, struct status *st)
{
    struct edge *edge = (struct edge *)service;
    const struct edge *first = (const struct edge *)context->instances[0];
    if (!edge->settings.listen || (first != edge && !first->server))
        return true;
    if (!edge_may_listen(edge, context->config, st))
        return false;
    if (edge_listen(edge, context, st))
        return true;
    if (st->code != UNAVAILABLE)
        return false;
    if (!edge_may_be_absent(context->config))
        return fail(st, st->code, "%s; free the address, or choose another by edge.listen", st->text);
    log_warn("edge.absent", "no HTTP edge and no console: %s; free the address, or choose another by edge.listen",
             st->text);
    status_clear(st);
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void edge_check_drained(struct edge *edge)
{
    if (edge->stopped && !edge->calls && edge->drained)
        loop_defer(edge->loop, &edge->report);
}

static void edge_server_stopped(void *data)
{
    struct edge *edge = data;
    edge->stopped = true;
    edge_check_drained(edge);
}

static void edge_drain(ProtobufCService *service, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    struct edge *edge = (struct edge *)service;
    if (!edge->server) {
        drained(data);
        return;
    }
    edge->drained = drained;
    edge->drained_data = data;
    stream_leave_all(edge);
    http_server_stop(edge->server, limit_ms, edge_server_stopped, edge);
}

const struct service edge_service = {
    .name = "edge",
    .options = edge_options,
    .create = edge_create,
    .destroy = edge_destroy,
    .serve = edge_serve,
    .drain = edge_drain,
};
