/* grpc.health.v1 (https://github.com/grpc/grpc/blob/master/doc/health-checking.md): Check and Watch, for each service
 * and, under the empty name, for the server. Messages are read and written by hand: one field each. */
#include "rpc/serving.h"
#include "rpc/wire.h"

#include <stdlib.h>
#include <string.h>

enum health { HEALTH_SERVING = 1, HEALTH_NOT_SERVING = 2, HEALTH_SERVICE_UNKNOWN = 3 };

#define FIELD_SERVICE   1
#define STATUS_TAG      0x08 /* field 1, a varint */
#define HEALTH_NAME_MAX 256  /* bytes of a service name */

/* Two names for probes, independent of the services (Kubernetes has a probe for each). */
#define NAME_LIVENESS  "liveness"
#define NAME_READINESS "readiness"

struct health_watch {
    struct health_watch *next, **link;
    struct rpc_call *call;
    char name[HEALTH_NAME_MAX];
    enum health told;
};

static enum health health_of(const struct rpc_server *server, const char *name)
{
    if (strcmp(name, NAME_LIVENESS) == 0)
        return HEALTH_SERVING;
    if (!*name || strcmp(name, NAME_READINESS) == 0)
        return atomic_load(&server->whole_serving) ? HEALTH_SERVING : HEALTH_NOT_SERVING;
    for (size_t i = 0; i < server->service_count; i++)
        if (strcmp(server->services[i], name) == 0)
            return atomic_load(&server->serving[i]) ? HEALTH_SERVING : HEALTH_NOT_SERVING;
    return HEALTH_SERVICE_UNKNOWN;
}

/* The requested name; false if the request is unreadable and the call has been failed. */
static bool health_read_name(struct rpc_call *call, const void *bytes, size_t size, char name[HEALTH_NAME_MAX])
{
    struct rpc_wire wire = rpc_wire_over(bytes, size);
    struct rpc_wire_field field;
    name[0] = '\0';
    while (rpc_wire_next(&wire, &field)) {
        if (field.number != FIELD_SERVICE || field.type != RPC_WIRE_BYTES)
            continue;
        if (field.size >= HEALTH_NAME_MAX) {
            rpc_fail_field(call, "service", "has %zu bytes; a name has at most %d", field.size, HEALTH_NAME_MAX - 1);
            return false;
        }
        memcpy(name, field.bytes, field.size);
        name[field.size] = '\0';
    }
    if (wire.error)
        rpc_fail_with(call, INVALID_ARGUMENT, "the request is malformed: %s", wire.error);
    return !wire.error;
}

static void health_tell(struct rpc_call *call, enum health health)
{
    uint8_t answer[] = {STATUS_TAG, (uint8_t)health};
    rpc_reply_packed(call, answer, sizeof answer);
}

static void health_check(struct rpc_shard *shard, struct rpc_call *call, const void *bytes, size_t size)
{
    char name[HEALTH_NAME_MAX];
    if (!health_read_name(call, bytes, size, name))
        return;
    enum health health = health_of(shard->server, name);
    if (health == HEALTH_SERVICE_UNKNOWN) {
        rpc_fail_with(call, NOT_FOUND, "no service '%s' here", name);
        return;
    }
    health_tell(call, health);
    rpc_call_finish(call);
}

static void unwatch(struct health_watch *watch)
{
    *watch->link = watch->next;
    if (watch->next)
        watch->next->link = watch->link;
    free(watch);
}

static void watcher_left(struct rpc_call *call, void *data)
{
    unwatch(data);
    rpc_fail_with(call, CANCELLED, "the watcher left");
}

static void look_at_watches(struct work *work)
{
    struct rpc_shard *shard = CONTAINER_OF(work, struct rpc_shard, watch_work);
    atomic_store(&shard->watch_posted, false);
    for (struct health_watch *watch = shard->watches, *next; watch; watch = next) {
        next = watch->next;
        enum health health = health_of(shard->server, watch->name);
        if (health != watch->told)
            health_tell(watch->call, watch->told = health);
    }
}

static void begin_watch(struct rpc_shard *shard, struct rpc_call *call, const void *bytes, size_t size)
{
    struct health_watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for a watch");
        return;
    }
    if (!health_read_name(call, bytes, size, watch->name)) {
        free(watch);
        return;
    }
    watch->call = call;
    watch->link = &shard->watches;
    watch->next = shard->watches;
    if (watch->next)
        watch->next->link = &watch->next;
    shard->watches = watch;
    rpc_call_on_cancel(call, watcher_left, watch);
    health_tell(call, watch->told = health_of(shard->server, watch->name));
}

void rpc_health_changed(struct rpc_server *server)
{
    for (unsigned i = 0; server->started && i < server->options.loop_count; i++) {
        struct rpc_shard *shard = &server->shards[i];
        if (atomic_exchange(&shard->watch_posted, true))
            continue;
        shard->watch_work.run = look_at_watches;
        loop_post(shard->loop, &shard->watch_work);
    }
}

void rpc_health_end_watches(struct rpc_shard *shard)
{
    for (struct health_watch *watch = shard->watches, *next; watch; watch = next) {
        next = watch->next;
        struct rpc_call *call = watch->call;
        unwatch(watch);
        rpc_fail_with(call, UNAVAILABLE, "the server is shutting down");
    }
}

const struct rpc_builtin rpc_health_check = {"grpc.health.v1.Health", "Check", health_check};
const struct rpc_builtin rpc_health_watch = {"grpc.health.v1.Health", "Watch", begin_watch};
