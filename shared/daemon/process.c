#include "daemon/process.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "daemon/keys.h"
#include "daemon/observe.h"
#include "daemon/peer_connections.h"
#include "daemon/trim.h"
#include "http/client.h"
#include "loop/jobs.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"

#include <assert.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CLOSE_LIMIT_MS   5000 /* for a command's open calls: they are cancelled and must end in this time */
#define FILES_OF_PROCESS 48   /* descriptors: all services in one process open 20, and a few callers come */
#define FILES_OF_LOOP    8    /* of each loop, which opens 6 */
#define LOCAL_LIMIT_MS   5000 /* for handlers in this process after their callers have left */
#define LOCAL_LOOK_MS    5
#define SERVICES_MAX     16
#define ANSWERS_FACTOR   8 /* bytes of answers, in multiples of those of requests; large ones get half of them */

/* One service and its instances. */
struct hosted {
    const struct service *service;
    ProtobufCService **instances; /* one a loop */
    unsigned created;
};

struct daemon_process {
    const struct daemon *daemon;
    const struct config *config;
    struct loop **loops;
    struct http_client **http;
    unsigned loop_count;
    bool rpc_running;
    struct rpc_schema *schema;
    struct rpc_tls tls;
    struct budget budget;     /* of the requests of all listeners */
    struct budget answers;    /* of answers, until they are sent */
    struct daemon_keys *keys; /* NULL: all callers are allowed */
    struct rpc_server *server;
    struct observation *observation;
    struct hosted hosted[SERVICES_MAX];
    size_t hosted_count;
    struct peer_connections connections;
    unsigned listeners;    /* instances with a listener of their own that are still to be drained, served or not */
    _Atomic unsigned open; /* gRPC and listeners that a drain waits for */
    void (*drained)(void *data);
    void *drained_data;
    struct work drain_work; /* goes from loop to loop and closes the listeners of each */
    unsigned draining_loop; /* the loop it is in */
    int64_t limit_ns;       /* of the drain */
};

/* ---- connections to services ----------------------------------------------------------------------------------------
 */

static ProtobufCService **hosted_instances(const struct daemon_process *process,
                                           const ProtobufCServiceDescriptor *descriptor)
{
    for (size_t i = 0; i < process->hosted_count; i++)
        if (process->hosted[i].service->descriptor == descriptor)
            return process->hosted[i].instances;
    return NULL;
}

ProtobufCService *process_stub(struct daemon_process *process, const ProtobufCServiceDescriptor *descriptor,
                               struct status *st)
{
    return peer_connections_find(&process->connections, descriptor, hosted_instances(process, descriptor), st);
}

ProtobufCService *service_peer(const struct service_context *context, const ProtobufCServiceDescriptor *descriptor,
                               struct status *st)
{
    return process_stub(context->process, descriptor, st);
}

struct loop *process_loop(struct daemon_process *process)
{
    return process->loops[0];
}

/* ---- the start -------------------------------------------------------------------------------------------------- */

static unsigned loops_wanted(const struct config *config)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = (unsigned)config_integer(config, "loops");
    return count ? count : processors < 1 ? 1 : processors > LOOPS_MAX ? LOOPS_MAX : (unsigned)processors;
}

/* gRPC core waits for ever or ends the process where it gets no file descriptor at its start. */
static bool check_files(unsigned loops, struct status *st)
{
    struct rlimit limit;
    unsigned needed = FILES_OF_PROCESS + FILES_OF_LOOP * loops;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return true;
    return fail(st, FAILED_PRECONDITION,
                "only %llu file descriptors are allowed; %u are needed to start %u loops: allow more (ulimit -n)",
                (unsigned long long)limit.rlim_cur, needed, loops);
}

static bool start_loops(struct daemon_process *process, struct status *st)
{
    unsigned count = loops_wanted(process->config);
    assert(count > 0);
    if (!check_files(count, st))
        return false;
    process->loops = xcalloc(count, sizeof(struct loop *));
    process->http = xcalloc(count, sizeof(struct http_client *));
    for (; process->loop_count < count; process->loop_count++) {
        unsigned i = process->loop_count;
        process->loops[i] = loop_create(i);
        if (!loop_start(process->loops[i], st)) {
            loop_destroy(&process->loops[i]);
            return false;
        }
        loop_enter(process->loops[i]);
        process->http[i] = http_client_create(process->loops[i], &(struct http_client_options){0});
        loop_leave(process->loops[i]);
    }
    process->rpc_running = rpc_start(process->loops, process->loop_count, st);
    return process->rpc_running;
}

static struct service_context context_of(struct daemon_process *process, const struct hosted *hosted, unsigned i)
{
    return (struct service_context){
        .config = process->config,
        .loop = process->loops[i],
        .schema = process->schema,
        .auth = daemon_keys_auth(process->keys),
        .instances = hosted->instances,
        .http = process->http[i],
        .budget = &process->budget,
        .answers = &process->answers,
        .loop_count = process->loop_count,
        .metrics = observation_metrics(process->observation),
        .spans = observation_spans(process->observation),
        .process = process,
    };
}

static bool create_instances(struct daemon_process *process, struct hosted *hosted, struct status *st)
{
    for (; hosted->created < process->loop_count; hosted->created++) {
        unsigned i = hosted->created;
        struct service_context context = context_of(process, hosted, i);
        loop_enter(process->loops[i]);
        const struct service *service = hosted->service;
        hosted->instances[i] = service->stateless ? service->stateless : service->create(&context, st);
        loop_leave(process->loops[i]);
        if (!hosted->instances[i])
            return false;
    }
    return true;
}

/* All rows come before the first instance: a service may look up any other in its `create`. */
static bool host_services(struct daemon_process *process, struct status *st)
{
    for (const struct service *const *service = process->daemon->services; *service; service++) {
        assert(process->hosted_count < SERVICES_MAX);
        struct hosted *hosted = &process->hosted[process->hosted_count++];
        hosted->service = *service;
        hosted->instances = xcalloc(process->loop_count, sizeof(ProtobufCService *));
    }
    for (size_t i = 0; i < process->hosted_count; i++)
        if (!create_instances(process, &process->hosted[i], st))
            return false;
    return true;
}

static bool process_read_keys(struct daemon_process *process, struct status *st)
{
    const cJSON *keys = config_json(process->config, "rpc.keys");
    return !keys || (process->keys = daemon_keys_open(keys, st)) != NULL;
}

static void read_tls(struct daemon_process *process)
{
    const struct config *config = process->config;
    process->tls = (struct rpc_tls){
        .certificate = config_string(config, "rpc.tls.certificate"),
        .key = config_string(config, "rpc.tls.key"),
        .authorities = config_string(config, "rpc.tls.authorities"),
        .client_certificate = config_boolean(config, "rpc.tls.client_certificate"),
    };
}

struct daemon_process *process_start(const struct daemon *daemon, const struct config *config, struct status *st)
{
    struct daemon_process *process = xcalloc(1, sizeof *process);
    process->daemon = daemon;
    process->config = config;
    budget_init(&process->budget, (size_t)config_size(config, "rpc.memory_max"));
    budget_init(&process->answers, ANSWERS_FACTOR * (size_t)config_size(config, "rpc.memory_max"));
    read_tls(process);
    process->schema = (daemon->is_command ? rpc_schema_load_methods : rpc_schema_load)(daemon->descriptor_set,
                                                                                       daemon->descriptor_set_size, st);
    peer_connections_init(&process->connections, config, daemon->peers, process->schema, &process->answers);
    bool ok = process->schema && process_read_keys(process, st) && start_loops(process, st);
    if (ok) {
        process->observation = observation_start(daemon->name, config, process->loops, process->http,
                                                 process->loop_count, process->schema, st);
        ok = process->observation && host_services(process, st);
    }
    if (ok) {
        for (size_t s = 0; s < process->hosted_count; s++)
            if (process->hosted[s].service->drain)
                process->listeners += process->hosted[s].created;
    } else
        process_stop(&process);
    return process;
}

/* ---- serving ---------------------------------------------------------------------------------------------------- */

static bool open_listeners(struct daemon_process *process, struct status *st)
{
    for (size_t s = 0; s < process->hosted_count; s++) {
        const struct hosted *hosted = &process->hosted[s];
        for (unsigned i = 0; hosted->service->serve && i < hosted->created; i++) {
            struct service_context context = context_of(process, hosted, i);
            loop_enter(process->loops[i]);
            bool open = hosted->service->serve(hosted->instances[i], &context, st);
            loop_leave(process->loops[i]);
            if (!open)
                return false;
        }
    }
    return true;
}

bool process_serve(struct daemon_process *process, struct status *st)
{
    const struct config *config = process->config;
    struct rpc_server_options options = {
        .loops = process->loops,
        .loop_count = process->loop_count,
        .schema = process->schema,
        .listen = config_string(config, "rpc.listen"),
        .tls = process->tls.certificate ? &process->tls : NULL,
        .auth = daemon_keys_auth(process->keys),
        .message_max = (size_t)config_size(config, "rpc.message_max"),
        .budget = &process->budget,
        .answers = &process->answers,
        .streams_max = (unsigned)config_integer(config, "rpc.streams_max"),
        .connection_age_ms = config_duration_ms(config, "rpc.connection_age"),
        .call_max_ms = config_duration_ms(config, "rpc.call_max"),
    };
    process->server = rpc_server_create(&options, st);
    if (!process->server)
        return false;
    for (size_t i = 0; i < process->hosted_count; i++)
        if (process->hosted[i].service->descriptor)
            rpc_server_add(process->server, process->hosted[i].instances);
    if (!rpc_server_start(process->server, st) || !open_listeners(process, st))
        return false;
    if (!observation_serve(process->observation, st))
        return false;
    process_trim();
    return true;
}

void process_reload(struct daemon_process *process)
{
    daemon_keys_reload(process->keys);
    for (size_t i = 0; i < process->hosted_count; i++)
        if (process->hosted[i].service->reload)
            process->hosted[i].service->reload(process->hosted[i].instances[0]);
}

static void listener_drained(void *data)
{
    struct daemon_process *process = data;
    if (atomic_fetch_sub(&process->open, 1) == 1)
        process->drained(process->drained_data);
}

/* Drains one loop's listeners, from inside the loop. */
static void drain_loop(struct daemon_process *process, unsigned loop, int64_t limit_ms)
{
    for (size_t s = 0; s < process->hosted_count; s++) {
        const struct hosted *hosted = &process->hosted[s];
        if (hosted->service->drain && loop < hosted->created)
            hosted->service->drain(hosted->instances[loop], limit_ms, listener_drained, process);
    }
}

static void drain_next_loop(struct work *work)
{
    struct daemon_process *process = CONTAINER_OF(work, struct daemon_process, drain_work);
    unsigned loop = process->draining_loop++;
    int64_t left_ms = (process->limit_ns - clock_now_ns()) / NS_PER_MS;
    if (process->draining_loop < process->loop_count)
        loop_post(process->loops[process->draining_loop], work);
    drain_loop(process, loop, left_ms > 0 ? left_ms : 0);
}

/* Until now new calls were accepted, so that clients had time to move to other servers. */
static void no_new_calls(void *data)
{
    struct daemon_process *process = data;
    process->listeners = 0;
    process->drain_work.run = drain_next_loop;
    loop_post(process->loops[0], &process->drain_work);
}

void process_drain(struct daemon_process *process, void (*drained)(void *data), void *data)
{
    int64_t limit_ms = config_duration_ms(process->config, "drain.limit");
    observation_not_ready(process->observation, "draining");
    process->drained = drained;
    process->drained_data = data;
    process->limit_ns = clock_now_ns() + limit_ms * NS_PER_MS;
    atomic_store(&process->open, process->listeners + 1);
    rpc_server_drain(process->server, limit_ms, no_new_calls, listener_drained, process);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void listeners_closed(void *data)
{
    sem_post(data);
}

/* Waits for handlers of calls within the process after their callers have left: their services stay until they end. */
static bool await_local_calls(void)
{
    unsigned alive = rpc_local_calls_alive();
    for (int waited_ms = 0; alive && waited_ms < LOCAL_LIMIT_MS; waited_ms += LOCAL_LOOK_MS) {
        usleep(LOCAL_LOOK_MS * 1000);
        alive = rpc_local_calls_alive();
    }
    if (alive)
        log_warn("daemon.leaked", "%u calls within the process were not ended; its services stay in memory", alive);
    return !alive;
}

static void destroy_instances(struct daemon_process *process)
{
    for (size_t s = 0; s < process->hosted_count; s++) {
        struct hosted *hosted = &process->hosted[s];
        for (unsigned i = 0; !hosted->service->stateless && i < hosted->created; i++) {
            loop_enter(process->loops[i]);
            hosted->service->destroy(hosted->instances[i]);
            loop_leave(process->loops[i]);
        }
    }
    peer_connections_close(&process->connections);
    for (size_t s = 0; s < process->hosted_count; s++)
        free(process->hosted[s].instances);
}

bool process_stop(struct daemon_process **process_pointer)
{
    struct daemon_process *process = *process_pointer;
    if (!process)
        return true;
    *process_pointer = NULL;
    /* Needed without a drain: after a start that failed half way, and in a command without listeners. Open calls have
     * to end before the instances do. */
    sem_t closed;
    if (process->listeners) {
        sem_init(&closed, 0, 0);
        process->drained = listeners_closed;
        process->drained_data = &closed;
        atomic_store(&process->open, process->listeners);
        for (unsigned i = 0; i < process->loop_count; i++) {
            loop_enter(process->loops[i]);
            drain_loop(process, i, CLOSE_LIMIT_MS);
            loop_leave(process->loops[i]);
        }
        while (sem_wait(&closed) != 0)
            continue;
        sem_destroy(&closed);
    }
    bool ended = rpc_server_destroy(&process->server) && await_local_calls();
    if (ended)
        destroy_instances(process);
    observation_stop(&process->observation);
    if (!ended)
        return false;
    for (unsigned i = 0; i < process->loop_count; i++) {
        loop_enter(process->loops[i]);
        http_client_destroy(&process->http[i]);
        loop_leave(process->loops[i]);
    }
    if (process->rpc_running)
        rpc_stop();
    jobs_stop();
    for (unsigned i = 0; i < process->loop_count; i++) {
        loop_stop(process->loops[i]);
        loop_destroy(&process->loops[i]);
    }
    daemon_keys_close(&process->keys);
    rpc_schema_destroy(&process->schema);
    budget_fini(&process->budget);
    budget_fini(&process->answers);
    free(process->loops);
    free(process->http);
    free(process);
    return true;
}
