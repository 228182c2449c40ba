/* A call that comes in: its authorization, its deadline and trace, and the delivery of its messages to the handler. */
#include "rpc/server_call.h"

#include "base/budget.h"
#include "base/clock.h"
#include "rpc/auth.h"
#include "rpc/forwarded.h"
#include "rpc/inflate.h"
#include "rpc/observe.h"
#include "rpc/traces.h"

#include <grpc/support/alloc.h>
#include <stdio.h>
#include <string.h>

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void inbound_receive(struct server_call *sc)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &sc->incoming};
    server_call_start(sc, &op, 1, &sc->received);
}

static void inbound_hand_over(struct server_call *sc, const void *bytes, size_t size)
{
    if (sc->binding->builtin)
        sc->binding->builtin->handle(sc->shard, &sc->call, bytes, size);
    else if (bytes)
        rpc_call_deliver(&sc->call, bytes, size);
    else
        rpc_call_deliver_end(&sc->call);
}

/* A unary request is in memory, as bytes or as a message, until its call is over. */
static bool inbound_charge(struct server_call *sc, size_t size, struct status *st)
{
    if (sc->call.method->client_streams || sc->binding->builtin)
        return true;
    const struct rpc_principal *principal = rpc_call_principal(&sc->call);
    sc->hold.owner = budget_owner(principal->tenant, principal->name);
    if (budget_take(sc->shard->server->options.budget, &sc->hold, size, size))
        return true;
    fail(st, RESOURCE_EXHAUSTED, "the requests under way leave no room for a message of %zu bytes; try again later",
         size);
    st->retry_after_ms = BUDGET_RETRY_MS;
    return false;
}

/* Gives the received message to the handler and releases the buffer. */
static void inbound_deliver(struct server_call *sc)
{
    if (!sc->incoming) {
        if (sc->call.method->client_streams)
            inbound_hand_over(sc, NULL, 0);
        else
            rpc_fail_with(&sc->call, INVALID_ARGUMENT, "the call carries no request message");
        return;
    }
    struct rpc_incoming incoming;
    struct status st = {0};
    bool ok = rpc_incoming_take(&incoming, &sc->incoming, sc->call.message_max, &st);
    sc->call.was_compressed = incoming.compressed;
    if (ok && inbound_charge(sc, incoming.size, &st))
        inbound_hand_over(sc, incoming.bytes, incoming.size);
    else
        rpc_fail(&sc->call, &st);
    rpc_incoming_fini(&incoming);
}

/* Runs the handler on the received message; all replies before it returns leave in a single batch. */
static void run_handler(struct server_call *sc)
{
    sc->in_handler = true;
    inbound_deliver(sc);
    sc->in_handler = false;
    server_call_pump(sc);
}

/* A broken stream looks like an ended stream, except for core's separate cancellation flag. A handler without a
 * cancellation callback waits for messages alone: the end of the messages tells it, and then it ends its call. */
static void inbound_message_received(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = server_call_from(tag, received);
    sc->batches--;
    if (!sc->incoming && grpc_call_failed_before_recv_message(sc->grpc))
        server_call_client_left(sc);
    if (sc->incoming && sc->call.cancelled) {
        grpc_byte_buffer_destroy(sc->incoming);
        sc->incoming = NULL;
    }
    bool at_end = sc->incoming == NULL;
    bool hears_otherwise = sc->call.cancelled && (sc->call.on_cancel || sc->call.told);
    if (!sc->call.ended && !hears_otherwise) {
        run_handler(sc);
        if (!at_end && !sc->call.ended)
            inbound_receive(sc);
    }
    server_call_release_when_done(sc);
}

/* ---- accept ------------------------------------------------------------------------------------------------------ */

/* Of two values, some readers take the first and others the last. */
static const struct {
    const char *name;
    enum status_code code;
} single[] = {{"authorization", UNAUTHENTICATED}, {"traceparent", INVALID_ARGUMENT}};
#define SINGLE (sizeof single / sizeof *single)

static bool metadata_is_single(const struct server_call *sc, struct status *st)
{
    unsigned counts[SINGLE] = {0};
    for (size_t i = 0; i < sc->metadata.count; i++)
        for (size_t k = 0; k < SINGLE; k++)
            if (grpc_slice_str_cmp(sc->metadata.metadata[i].key, single[k].name) == 0 && ++counts[k] > 1)
                return fail(st, single[k].code, "the metadata has '%s' twice; send it once", single[k].name);
    return true;
}

static bool metadata_fits(const struct server_call *sc, struct status *st)
{
    size_t size = 0;
    for (size_t i = 0; i < sc->metadata.count; i++)
        size +=
            GRPC_SLICE_LENGTH(sc->metadata.metadata[i].key) + GRPC_SLICE_LENGTH(sc->metadata.metadata[i].value) + 32;
    if (size <= SERVER_METADATA_MAX)
        return metadata_is_single(sc, st);
    return fail(st, RESOURCE_EXHAUSTED, "the metadata has %zu bytes, more than the %u it may have", size,
                SERVER_METADATA_MAX);
}

static size_t metadata_times(const struct server_call *sc, const char *key)
{
    size_t times = 0;
    for (size_t i = 0; i < sc->metadata.count; i++)
        times += grpc_slice_str_cmp(sc->metadata.metadata[i].key, key) == 0;
    return times;
}

static bool take_forwarded(struct server_call *sc, struct status *st)
{
    size_t size, times = metadata_times(sc, FORWARDED_KEY);
    if (times == 0)
        return true;
    if (times > 1)
        return fail(st, INVALID_ARGUMENT, "metadata " FORWARDED_KEY " comes %zu times; send it once", times);
    const void *value = rpc_call_metadata(&sc->call, FORWARDED_KEY, &size);
    sc->call.forwarded = true;
    return forwarded_admit(sc->shard->server->options.auth, value, size, sc->call.method->path + 1, &sc->call.arena,
                           &sc->call.principal, st);
}

static bool inbound_admit(struct server_call *sc, struct status *st)
{
    const struct rpc_auth *auth = sc->shard->server->options.auth;
    if (!auth)
        return take_forwarded(sc, st);
    size_t size;
    const void *header = rpc_call_metadata(&sc->call, "authorization", &size);
    const struct rpc_principal *principal = rpc_auth_check(auth, header, size, sc->call.method->path + 1, st);
    if (!principal)
        return false;
    sc->call.principal = *principal;
    if (!forwarded_may(auth, principal, sc->call.method->path + 1))
        rpc_trace_disbelieve(&sc->call);
    return take_forwarded(sc, st);
}

static void call_arrived(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = server_call_from(tag, arrived);
    sc->shard->awaited_count--;
    if (!ok) { /* the server shuts down */
        server_call_give_back(sc);
        return;
    }
    server_call_await(sc->shard, sc->binding);
    server_call_enlist(sc);
    size_t parent_size, state_size = 0;
    const char *parent = rpc_call_metadata(&sc->call, "traceparent", &parent_size);
    const char *state = rpc_observe_runs() ? rpc_call_metadata(&sc->call, "tracestate", &state_size) : NULL;
    rpc_trace_arrived(&sc->call, parent, parent_size, state, state_size);
    rpc_call_begin(&sc->call);
    sc->call.deadline_ns = rpc_nanoseconds(sc->deadline);
    int64_t longest_ms = sc->shard->server->options.call_max_ms;
    if (longest_ms && !sc->call.method->server_streams && !sc->call.method->client_streams) {
        int64_t longest_ns = sc->call.began_ns + longest_ms * NS_PER_MS;
        if (longest_ns < sc->call.deadline_ns)
            sc->call.deadline_ns = longest_ns;
    }
    struct status st = {0};
    if (!metadata_fits(sc, &st) || !inbound_admit(sc, &st)) {
        rpc_fail(&sc->call, &st);
        return;
    }
    if (sc->call.method->client_streams) {
        server_call_watch(sc);
        inbound_receive(sc);
        return;
    }
    run_handler(sc);
    server_call_watch(sc);
    server_call_release_when_done(sc);
}

void server_call_await(struct rpc_shard *shard, struct rpc_binding *binding)
{
    struct rpc_server *server = shard->server;
    if (atomic_load_explicit(&server->refusing, memory_order_relaxed))
        return;
    struct server_call *sc = server_call_take(shard);
    sc->binding = binding;
    sc->call.method = binding->method;
    sc->call.service = binding->instances ? binding->instances[loop_index(shard->loop)] : NULL;
    sc->call.message_max = server->options.message_max;
    sc->call.memory_max = server->options.call_memory_max;
    sc->call.answers = server->options.answers;
    sc->arrived.completed = call_arrived;
    sc->received.completed = inbound_message_received;
    shard->awaited_count++;
    grpc_byte_buffer **payload = binding->method->client_streams ? NULL : &sc->incoming;
    grpc_server_request_registered_call(server->grpc, binding->registered, &sc->grpc, &sc->deadline, &sc->metadata,
                                        payload, shard->cq, shard->cq, &sc->arrived);
}

static void unknown_arrived(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = server_call_from(tag, arrived);
    sc->shard->awaited_count--;
    if (!ok) {
        grpc_call_details_destroy(&sc->details);
        server_call_give_back(sc);
        return;
    }
    server_call_await_unknown(sc->shard);
    server_call_enlist(sc);
    rpc_call_begin(&sc->call);
    sc->call.deadline_ns = rpc_nanoseconds(sc->details.deadline);
    char *path = grpc_slice_to_c_string(sc->details.method);
    grpc_call_details_destroy(&sc->details);
    const char *slash = strrchr(path, '/');
    int service_length = slash && slash > path ? (int)(slash - path - 1) : 0;
    char service[128];
    snprintf(service, sizeof service, "%.*s", service_length, path + 1);
    bool known = false;
    for (size_t i = 0; i < sc->shard->server->service_count; i++)
        known |= strcmp(sc->shard->server->services[i], service) == 0;
    if (known)
        rpc_fail_with(&sc->call, UNIMPLEMENTED, "service %s has no method '%.100s'", service, slash + 1);
    else
        rpc_fail_with(&sc->call, UNIMPLEMENTED, "no service serves '%.200s' here", path);
    gpr_free(path);
}

void server_call_await_unknown(struct rpc_shard *shard)
{
    struct rpc_server *server = shard->server;
    if (atomic_load_explicit(&server->refusing, memory_order_relaxed))
        return;
    struct server_call *sc = server_call_take(shard);
    grpc_call_details_init(&sc->details);
    sc->call.memory_max = server->options.call_memory_max;
    sc->arrived.completed = unknown_arrived;
    shard->awaited_count++;
    grpc_server_request_call(server->grpc, &sc->grpc, &sc->details, &sc->metadata, shard->cq, shard->cq, &sc->arrived);
}
