/* A server's lifecycle. A failure is noted and handled when the present callback has returned. */
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "instance/tool_runner_instance.h"
#include "mcp_priv.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS 500
#define BACKOFF_MAX_MS   60000
#define DOUBLINGS_MAX    7

static const char *const states[] = {"idle", "starting", "ready", "backoff"};
static const uint32_t moves[] = {
    [MCP_IDLE] = MACHINE_TO(MCP_STARTING) | MACHINE_TO(MCP_BACKOFF),
    [MCP_STARTING] = MACHINE_TO(MCP_READY) | MACHINE_TO(MCP_BACKOFF) | MACHINE_TO(MCP_IDLE),
    [MCP_READY] = MACHINE_TO(MCP_STARTING) | MACHINE_TO(MCP_BACKOFF) | MACHINE_TO(MCP_IDLE),
    [MCP_BACKOFF] = MACHINE_TO(MCP_STARTING) | MACHINE_TO(MCP_IDLE) | MACHINE_TO(MCP_BACKOFF),
};
static const struct machine machine = MACHINE("mcp", states, moves);

static const struct metric starts = {
    .name = "renga_mcp_starts_total", .help = "Times a tool server was started.", .labels = {"server"}};
static const struct metric failures_metric = {.name = "renga_mcp_failures_total",
                                              .help = "Times a tool server died, hung or could not be started.",
                                              .labels = {"server"}};

static void server_move(struct mcp_server *server, enum mcp_state state)
{
    machine_move(&machine, &server->state, state);
}

static void server_count(const struct mcp_server *server, const struct metric *metric)
{
    struct metrics *metrics = server->runner->metrics;
    if (!metrics)
        return;
    uint32_t series = metrics_series(metrics_register(metrics, metric), (const char *[]){server->setup->name});
    metrics_add(metrics, loop_index(server->runner->loop), series, 1);
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void close_wire(struct mcp_server *server)
{
    loop_disarm(server->loop, &server->start_limit);
    loop_disarm(server->loop, &server->relist);
    loop_undefer(server->loop, &server->failure_work);
    server->failing = true; /* requests that fail now start no new work */
    server->probing = server->changed = false;
    if (server->wire)
        server->transport->close(server);
    server->wire = NULL;
    mcp_readings_drop(server);
}

static void server_back_off(struct mcp_server *server, const struct status *why)
{
    unsigned doublings = server->failures < DOUBLINGS_MAX ? server->failures : DOUBLINGS_MAX;
    int64_t backoff_ms = (int64_t)BACKOFF_FIRST_MS << doublings;
    if (backoff_ms > BACKOFF_MAX_MS)
        backoff_ms = BACKOFF_MAX_MS;
    server->failures++;
    server->failure = *why;
    server->backoff_until_ns = clock_now_ns() + backoff_ms * NS_PER_MS;
    server_move(server, MCP_BACKOFF);
    server_count(server, &failures_metric);
    log_warn("mcp.failed", "%s; it is left alone for %lld ms", why->text, (long long)backoff_ms);
}

static void run_failure(struct work *work)
{
    struct mcp_server *server = CONTAINER_OF(work, struct mcp_server, failure_work);
    struct status why = server->failure;
    close_wire(server);
    server_back_off(server, &why);
    mcp_fail_requests(server, &why);
    mcp_calls_refuse(server, &why);
    mcp_discoveries_answer(server, &why);
    server->failing = false;
}

void mcp_server_fail(struct mcp_server *server, const struct status *why)
{
    if (server->failing)
        return;
    server->failing = true;
    server->failure = *why;
    server->failure_work.run = run_failure;
    loop_defer(server->loop, &server->failure_work);
}

void mcp_server_close(struct mcp_server *server)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "the tool-runner is ending");
    close_wire(server);
    if (server->state != MCP_IDLE)
        server_move(server, MCP_IDLE);
    mcp_fail_requests(server, &why);
    mcp_calls_refuse(server, &why);
    mcp_discoveries_answer(server, &why);
    server->failing = false;
    mcp_readings_await(server);
    if (server->transport->reap)
        server->transport->reap(server);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

static void start_late(struct timer *timer)
{
    struct mcp_server *server = CONTAINER_OF(timer, struct mcp_server, start_limit);
    struct status why = {0};
    fail(&why, DEADLINE_EXCEEDED, "the tool server '%s' did not tell its tools within %lld ms of its start",
         server->setup->name, (long long)server->setup->start_timeout_ms);
    mcp_server_fail(server, &why);
}

static bool is_resting(const struct mcp_server *server, struct status *st)
{
    int64_t left_ns = server->backoff_until_ns - clock_now_ns();
    if (server->state != MCP_BACKOFF || left_ns <= 0)
        return false;
    fail(st, UNAVAILABLE, "%.400s; it will be tried again in %lld ms", server->failure.text,
         (long long)(left_ns / NS_PER_MS) + 1);
    return true;
}

bool mcp_server_start(struct mcp_server *server, struct status *st)
{
    if (server->state == MCP_STARTING || server->state == MCP_READY)
        return true;
    if (is_resting(server, st))
        return false;
    server_count(server, &starts);
    if (!server->transport->open(server, st)) {
        server_back_off(server, st);
        return false;
    }
    server_move(server, MCP_STARTING);
    server->start_limit.expired = start_late;
    loop_arm_after(server->loop, &server->start_limit, server->setup->start_timeout_ms);
    mcp_handshake(server);
    return true;
}

void mcp_server_listed(struct mcp_server *server, const struct status *status)
{
    if (server->failing || !server->wire)
        return;
    if (server->state == MCP_STARTING && status->code != OK) {
        mcp_server_fail(server, status);
        return;
    }
    if (server->state == MCP_STARTING) {
        loop_disarm(server->loop, &server->start_limit);
        server_move(server, MCP_READY);
    }
    mcp_discoveries_answer(server, status);
    mcp_calls_send(server);
}

void mcp_session_lost(struct mcp_server *server)
{
    struct status why = {0};
    if (server->state != MCP_READY || server->failing)
        return;
    log_info("mcp.session", "'%s' does not know its session any more; a new one is begun", server->setup->name);
    fail(&why, UNAVAILABLE, "the tool server '%s' has lost its session", server->setup->name);
    if (server->listing)
        mcp_request_failed(&server->list, &why);
    server_move(server, MCP_STARTING);
    server->start_limit.expired = start_late;
    loop_arm_after(server->loop, &server->start_limit, server->setup->start_timeout_ms);
    mcp_handshake(server);
}

void mcp_server_works(struct mcp_server *server)
{
    server->failures = 0;
}

/* ---- health check ------------------------------------------------------------------------------------------------ */

static void probed(struct mcp_request *request, const cJSON *result, const struct status *status)
{
    struct mcp_server *server = request->server;
    struct status why = {0};
    server->probing = false;
    if (result || status->code != DEADLINE_EXCEEDED)
        return; /* an error is a sign of life */
    fail(&why, UNAVAILABLE, "the tool server '%s' hangs: it did not even answer %s", server->setup->name,
         request->method);
    mcp_server_fail(server, &why);
}

void mcp_probe(struct mcp_server *server)
{
    if (server->state != MCP_READY || server->probing || server->failing || !server->transport->probes)
        return;
    server->probing = true;
    server->probe = (struct mcp_request){
        .method = server->modern ? "server/discover" : "ping",
        .answered = probed,
        .timeout_ms = server->setup->probe_timeout_ms,
    };
    mcp_request(server, &server->probe, NULL, NULL, NULL, NULL);
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

void mcp_server_init(struct mcp_server *server, struct mcp *mcp, const struct mcp_setup *setup)
{
    server->mcp = mcp;
    server->setup = setup;
    server->transport = setup->url ? &mcp_streamable : &mcp_stdio;
    server->waiting_end = &server->waiting;
    server->readings_end = &server->readings;
    pthread_mutex_init(&server->lock, NULL);
}

void mcp_server_fini(struct mcp_server *server)
{
    mcp_tools_release(server->tools);
    pthread_mutex_destroy(&server->lock);
}
