/* A server's lifecycle. A failure is noted and handled when the present callback has returned. */
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "mcp_priv.h"
#include "tool_runner_priv.h"

#include <stdlib.h>
#include <string.h>

#define REST_FIRST_MS 500
#define REST_MAX_MS   60000
#define DOUBLINGS_MAX 7

static const char *const states[] = {"idle", "starting", "ready", "resting"};
static const uint32_t moves[] = {
    [MCP_IDLE] = MACHINE_TO(MCP_STARTING) | MACHINE_TO(MCP_RESTING),
    [MCP_STARTING] = MACHINE_TO(MCP_READY) | MACHINE_TO(MCP_RESTING) | MACHINE_TO(MCP_IDLE),
    [MCP_READY] = MACHINE_TO(MCP_STARTING) | MACHINE_TO(MCP_RESTING) | MACHINE_TO(MCP_IDLE),
    [MCP_RESTING] = MACHINE_TO(MCP_STARTING) | MACHINE_TO(MCP_IDLE) | MACHINE_TO(MCP_RESTING),
};
static const struct machine machine = MACHINE("mcp", states, moves);

static const struct metric starts = {
    .name = "renga_mcp_starts_total", .help = "Times a tool server was started.", .labels = {"server"}};
static const struct metric deaths = {.name = "renga_mcp_failures_total",
                                     .help = "Times a tool server died, hung or could not be started.",
                                     .labels = {"server"}};

static void move(struct mcp_server *server, enum mcp_state state)
{
    machine_move(&machine, &server->state, state);
}

static void count(const struct mcp_server *server, const struct metric *metric)
{
    struct metrics *metrics = server->home->metrics;
    if (!metrics)
        return;
    uint32_t series = metrics_series(metrics_register(metrics, metric), (const char *[]){server->setup->name});
    metrics_add(metrics, loop_index(server->home->loop), series, 1);
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void close_wire(struct mcp_server *server)
{
    loop_disarm(server->loop, &server->start_limit);
    loop_disarm(server->loop, &server->relist);
    loop_undefer(server->loop, &server->dying);
    server->doomed = true; /* requests that fail now start no new work */
    server->probing = server->changed = false;
    if (server->wire)
        server->transport->close(server);
    server->wire = NULL;
    mcp_readings_drop(server);
}

static void rest(struct mcp_server *server, const struct status *why)
{
    unsigned doublings = server->failures < DOUBLINGS_MAX ? server->failures : DOUBLINGS_MAX;
    int64_t rest_ms = (int64_t)REST_FIRST_MS << doublings;
    if (rest_ms > REST_MAX_MS)
        rest_ms = REST_MAX_MS;
    server->failures++;
    server->death = *why;
    server->rest_until_ns = clock_now_ns() + rest_ms * NS_PER_MS;
    move(server, MCP_RESTING);
    count(server, &deaths);
    log_warn("mcp.failed", "%s; it is left alone for %lld ms", why->text, (long long)rest_ms);
}

static void die(struct work *work)
{
    struct mcp_server *server = OWNER_OF(work, struct mcp_server, dying);
    struct status why = server->death;
    close_wire(server);
    rest(server, &why);
    mcp_fail_requests(server, &why);
    mcp_calls_refuse(server, &why);
    mcp_askings_answer(server, &why);
    server->doomed = false;
}

void mcp_broke(struct mcp_server *server, const struct status *why)
{
    if (server->doomed)
        return;
    server->doomed = true;
    server->death = *why;
    server->dying.run = die;
    loop_defer(server->loop, &server->dying);
}

void mcp_server_close(struct mcp_server *server)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "the tool-runner is ending");
    close_wire(server);
    if (server->state != MCP_IDLE)
        move(server, MCP_IDLE);
    mcp_fail_requests(server, &why);
    mcp_calls_refuse(server, &why);
    mcp_askings_answer(server, &why);
    server->doomed = false;
    mcp_readings_bury(server);
    if (server->transport->bury)
        server->transport->bury(server);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

static void start_late(struct timer *timer)
{
    struct mcp_server *server = OWNER_OF(timer, struct mcp_server, start_limit);
    struct status why = {0};
    fail(&why, DEADLINE_EXCEEDED, "the tool server '%s' did not tell its tools within %lld ms of its start",
         server->setup->name, (long long)server->setup->start_timeout_ms);
    mcp_broke(server, &why);
}

static bool is_resting(const struct mcp_server *server, struct status *st)
{
    int64_t left_ns = server->rest_until_ns - clock_now_ns();
    if (server->state != MCP_RESTING || left_ns <= 0)
        return false;
    fail(st, UNAVAILABLE, "%.400s; it will be tried again in %lld ms", server->death.text,
         (long long)(left_ns / NS_PER_MS) + 1);
    return true;
}

bool mcp_server_start(struct mcp_server *server, struct status *st)
{
    if (server->state == MCP_STARTING || server->state == MCP_READY)
        return true;
    if (is_resting(server, st))
        return false;
    count(server, &starts);
    if (!server->transport->open(server, st)) {
        rest(server, st);
        return false;
    }
    move(server, MCP_STARTING);
    server->start_limit.expired = start_late;
    loop_arm_after(server->loop, &server->start_limit, server->setup->start_timeout_ms);
    mcp_hello(server);
    return true;
}

void mcp_server_listed(struct mcp_server *server, const struct status *status)
{
    if (server->doomed || !server->wire)
        return;
    if (server->state == MCP_STARTING && status->code != OK) {
        mcp_broke(server, status);
        return;
    }
    if (server->state == MCP_STARTING) {
        loop_disarm(server->loop, &server->start_limit);
        move(server, MCP_READY);
    }
    mcp_askings_answer(server, status);
    mcp_calls_send(server);
}

void mcp_session_lost(struct mcp_server *server)
{
    struct status why = {0};
    if (server->state != MCP_READY || server->doomed)
        return;
    log_info("mcp.session", "'%s' does not know its session any more; a new one is begun", server->setup->name);
    fail(&why, UNAVAILABLE, "the tool server '%s' has lost its session", server->setup->name);
    if (server->listing)
        mcp_request_failed(&server->list, &why);
    move(server, MCP_STARTING);
    server->start_limit.expired = start_late;
    loop_arm_after(server->loop, &server->start_limit, server->setup->start_timeout_ms);
    mcp_hello(server);
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
    mcp_broke(server, &why);
}

void mcp_probe(struct mcp_server *server)
{
    if (server->state != MCP_READY || server->probing || server->doomed || !server->transport->probes)
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
