#include "rpc/server.h"

#include "base/budget.h"
#include "base/log.h"
#include "base/memory.h"
#include "rpc/accept.h"
#include "rpc/credentials.h"
#include "rpc/drain.h"
#include "rpc/reflect.h"
#include "rpc/serving.h"

#include <assert.h>
#include <grpc/grpc_security.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_DEFAULT_MAX  (64u << 20) /* bytes gRPC may buffer over all connections */
#define STREAMS_DEFAULT_MAX 1000
#define KEEPALIVE_MS        30000 /* we ask a silent client whether it is there */
/* Core makes it TCP_USER_TIMEOUT, too: a client that is stopped this long while an answer waits for it in full buffers
 * loses its connection, and sees a reset. */
#define KEEPALIVE_TIMEOUT_MS 20000
#define PORT_MAX             65535
#define PING_INTERVAL_MIN_MS 500   /* clients may ping this often, with and without calls; ours do each second */
#define HANDSHAKE_TIMEOUT_MS 10000 /* half-open connections go after this */
#define END_LIMIT_MS         5000  /* how long destroying waits for handlers that were cancelled */
#define END_LOOK_MS          5
#define AWAITED_PER_METHOD   2 /* calls of a method that a shard is ready for at any moment */

static const struct rpc_builtin *const builtins[] = {
    &rpc_health_check,
    &rpc_health_watch,
    &rpc_reflection_v1,
    &rpc_reflection_v1alpha,
};
#define BUILTINS (sizeof builtins / sizeof *builtins)

static void server_bind(struct rpc_server *server, const struct rpc_method *method, ProtobufCService *const *instances,
                        const struct rpc_builtin *builtin)
{
    server->bindings = xrealloc(server->bindings, (server->binding_count + 1) * sizeof *server->bindings);
    server->bindings[server->binding_count++] =
        (struct rpc_binding){.method = method, .instances = instances, .builtin = builtin};
    const char *name = method->service;
    for (size_t i = 0; i < server->service_count; i++)
        if (strcmp(server->services[i], name) == 0)
            return;
    server->services = xrealloc(server->services, (server->service_count + 1) * sizeof *server->services);
    server->services[server->service_count++] = name;
}

static const struct rpc_method *find_method(const struct rpc_schema *schema, const char *service, const char *name)
{
    size_t count;
    const struct rpc_method *methods = rpc_schema_service(schema, service, &count);
    for (size_t i = 0; methods && i < count; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

static grpc_arg server_integer(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

static void budget_has_changed(void *data, size_t used)
{
    struct rpc_server *server = data;
    grpc_resource_quota_resize(server->quota, server->options.budget->total - used);
}

static grpc_server *core_server(const struct rpc_server_options *options, grpc_resource_quota *quota)
{
    grpc_resource_quota_resize(quota, options->memory_max);
    const grpc_arg arguments[] = {
        server_integer(GRPC_ARG_ALLOW_REUSEPORT, 0),
        server_integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)options->message_max),
        server_integer(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, (int)options->message_max),
        server_integer(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0), /* inflate.c does it, with a bound */
        server_integer(GRPC_ARG_MAX_CONCURRENT_STREAMS, (int)options->streams_max),
        server_integer(GRPC_ARG_MAX_METADATA_SIZE, SERVER_METADATA_MAX),
        server_integer(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                       options->connection_age_ms ? (int)options->connection_age_ms : INT32_MAX),
        server_integer(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS),
        server_integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS),
        server_integer(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        server_integer(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, PING_INTERVAL_MIN_MS),
        server_integer(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_TIMEOUT_MS),
        {.type = GRPC_ARG_POINTER,
         .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
         .value.pointer = {.p = quota, .vtable = grpc_resource_quota_arg_vtable()}},
    };
    grpc_channel_args list = {.num_args = sizeof arguments / sizeof *arguments,
                              .args = (grpc_arg *)(uintptr_t)arguments};
    return grpc_server_create(&list, NULL);
}

struct rpc_server *rpc_server_create(const struct rpc_server_options *options, struct status *st)
{
    if (options->tls && !rpc_tls_check(options->tls, st))
        return NULL;
    rpc_core_start();
    struct rpc_server *server = xcalloc(1, sizeof *server);
    server->options = *options;
    if (!server->options.message_max)
        server->options.message_max = RPC_MESSAGE_DEFAULT_MAX;
    if (!server->options.call_memory_max)
        server->options.call_memory_max = server->options.message_max * CALL_MEMORY_FACTOR;
    if (server->options.budget)
        server->options.memory_max = server->options.budget->total;
    if (!server->options.memory_max)
        server->options.memory_max = MEMORY_DEFAULT_MAX;
    if (!server->options.streams_max)
        server->options.streams_max = STREAMS_DEFAULT_MAX;
    server->listen = xstrdup(options->listen);
    server->shards = xcalloc(options->loop_count, sizeof *server->shards);
    server->quota = grpc_resource_quota_create("renga");
    server->grpc = core_server(&server->options, server->quota);
    if (options->budget)
        budget_on_change(options->budget, budget_has_changed, server);
    for (unsigned i = 0; i < options->loop_count; i++) {
        struct rpc_shard *shard = &server->shards[i];
        shard->server = server;
        shard->loop = options->loops[i];
        shard->cq = rpc_queue(shard->loop);
        grpc_server_register_completion_queue(server->grpc, shard->cq, NULL);
    }
    for (size_t i = 0; i < BUILTINS; i++) {
        const struct rpc_method *method = find_method(options->schema, builtins[i]->service, builtins[i]->method);
        if (method)
            server_bind(server, method, NULL, builtins[i]);
    }
    return server;
}

void rpc_server_add(struct rpc_server *server, ProtobufCService *const *instances)
{
    assert(!server->started);
    const ProtobufCServiceDescriptor *descriptor = instances[0]->descriptor;
    size_t count;
    const struct rpc_method *methods = rpc_schema_service(server->options.schema, descriptor->name, &count);
    if (!methods || count != descriptor->n_methods)
        fatal("rpc.schema", "service %s is not in the descriptor set as it was compiled", descriptor->name);
    for (size_t i = 0; i < count; i++)
        server_bind(server, &methods[i], instances, NULL);
}

/* Core takes any number for a port, modulo 65536. */
static bool names_a_port(const char *listen, struct status *st)
{
    const char *colon = strrchr(listen, ':'), *digits = colon ? colon + 1 : "";
    size_t length = strspn(digits, "0123456789");
    if (strncmp(listen, "unix:", 5) == 0 || (colon > listen && length && !digits[length] && atol(digits) <= PORT_MAX))
        return true;
    return fail(st, INVALID_ARGUMENT,
                "cannot listen on '%s': give HOST:PORT, such as 0.0.0.0:15001, with a port of at "
                "most %d, or unix:PATH",
                listen, PORT_MAX);
}

static bool server_listen_on(struct rpc_server *server, struct status *st)
{
    if (!names_a_port(server->listen, st))
        return false;
    grpc_server_credentials *credentials = server->options.tls ? rpc_tls_server_credentials(server->options.tls, st)
                                                               : grpc_insecure_server_credentials_create();
    if (!credentials)
        return false;
    server->port = grpc_server_add_http2_port(server->grpc, server->listen, credentials);
    grpc_server_credentials_release(credentials);
    if (!server->port)
        return fail(st, UNAVAILABLE,
                    "cannot listen on %s: the address is in use or not of this machine; free it, or choose another by "
                    "rpc.listen",
                    server->listen);
    return true;
}

bool rpc_server_start(struct rpc_server *server, struct status *st)
{
    assert(!server->started);
    for (size_t i = 0; i < server->binding_count; i++) {
        struct rpc_binding *binding = &server->bindings[i];
        binding->registered = grpc_server_register_method(
            server->grpc, binding->method->path, NULL,
            binding->method->client_streams ? GRPC_SRM_PAYLOAD_NONE : GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    }
    if (!server_listen_on(server, st))
        return false;
    server->serving = xcalloc(server->service_count, sizeof *server->serving);
    for (size_t i = 0; i < server->service_count; i++)
        atomic_store(&server->serving[i], true);
    atomic_store(&server->whole_serving, true);
    server->started = true;
    rpc_accept_guard(server->port);
    grpc_server_start(server->grpc);
    for (unsigned i = 0; i < server->options.loop_count; i++) {
        struct rpc_shard *shard = &server->shards[i];
        loop_enter(shard->loop);
        for (int ready = 0; ready < AWAITED_PER_METHOD; ready++) {
            for (size_t b = 0; b < server->binding_count; b++)
                server_call_await(shard, &server->bindings[b]);
            server_call_await_unknown(shard);
        }
        loop_leave(shard->loop);
    }
    log_info("rpc.listening", "%s, port %d%s%s", server->listen, server->port, server->options.tls ? ", TLS" : "",
             server->options.auth ? ", keys" : "");
    return true;
}

int rpc_server_port(const struct rpc_server *server)
{
    return server->port;
}

void rpc_server_set_serving(struct rpc_server *server, const char *service, bool serving)
{
    serving = serving && !atomic_load(&server->leaving);
    if (!*service)
        atomic_store(&server->whole_serving, serving);
    for (size_t i = 0; i < server->service_count; i++)
        if (strcmp(server->services[i], service) == 0)
            atomic_store(&server->serving[i], serving);
    rpc_health_changed(server);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Calls that their handlers have not ended, and calls that gRPC has not given back. */
static unsigned calls_alive(struct rpc_server *server)
{
    unsigned alive = 0;
    for (unsigned i = 0; i < server->options.loop_count; i++) {
        loop_enter(server->shards[i].loop);
        alive += server->shards[i].live_count + server->shards[i].awaited_count;
        loop_leave(server->shards[i].loop);
    }
    return alive;
}

bool rpc_server_destroy(struct rpc_server **server_pointer)
{
    struct rpc_server *server = *server_pointer;
    if (!server)
        return true;
    *server_pointer = NULL;
    if (server->options.budget)
        budget_on_change(server->options.budget, NULL, NULL);
    if (server->started && !rpc_drain_finish(server)) {
        log_warn("rpc.leaked", "gRPC core does not let go of port %d; its server stays in memory", server->port);
        return false;
    }
    unsigned alive = calls_alive(server);
    for (int waited_ms = 0; alive && waited_ms < END_LIMIT_MS; waited_ms += END_LOOK_MS) {
        usleep(END_LOOK_MS * 1000);
        alive = calls_alive(server);
    }
    if (alive) { /* their handlers would write into freed memory */
        log_warn("rpc.leaked", "%u calls were never ended by their handlers; their server stays in memory", alive);
        return false;
    }
    for (unsigned i = 0; i < server->options.loop_count; i++)
        server_call_pool_free(&server->shards[i]);
    rpc_accept_release(server->port);
    grpc_server_destroy(server->grpc);
    grpc_resource_quota_unref(server->quota);
    rpc_drain_free(server->drain);
    free(server->bindings);
    free(server->services);
    free((void *)(uintptr_t)server->serving);
    free(server->shards);
    free(server->listen);
    free(server);
    return true;
}
