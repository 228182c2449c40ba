#include "mcp.h"

#include "base/clock.h"
#include "base/memory.h"
#include "instance/tool_runner_instance.h"
#include "mcp_priv.h"

#include <stdlib.h>
#include <string.h>

#define LISTED_FOR_MS 30000 /* maximum age of the list of a server that cannot report changes */

struct mcp {
    struct mcp_setups setups;
    struct mcp_server *servers;
    pthread_mutex_t lock; /* of: */
    struct tool_runner *runners[LOOPS_MAX];
    unsigned runner_count;
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct mcp *mcp_create(const struct mcp_options *options, struct status *st)
{
    struct mcp *mcp = xcalloc(1, sizeof *mcp);
    pthread_mutex_init(&mcp->lock, NULL);
    if (options->path && !mcp_setups_read(options->path, &mcp->setups, st)) {
        mcp_destroy(&mcp);
        return NULL;
    }
    mcp->servers = xcalloc(mcp->setups.count + 1, sizeof(*mcp->servers));
    for (size_t i = 0; i < mcp->setups.count; i++)
        mcp_server_init(&mcp->servers[i], mcp, &mcp->setups.list[i]);
    return mcp;
}

void mcp_destroy(struct mcp **mcp_pointer)
{
    struct mcp *mcp = *mcp_pointer;
    *mcp_pointer = NULL;
    if (!mcp)
        return;
    for (size_t i = 0; mcp->servers && i < mcp->setups.count; i++)
        mcp_server_fini(&mcp->servers[i]);
    free(mcp->servers);
    mcp_setups_fini(&mcp->setups);
    pthread_mutex_destroy(&mcp->lock);
    free(mcp);
}

void mcp_join(struct mcp *mcp, struct tool_runner *runner)
{
    pthread_mutex_lock(&mcp->lock);
    mcp->runners[mcp->runner_count++] = runner;
    pthread_mutex_unlock(&mcp->lock);
}

void mcp_leave(struct mcp *mcp, struct tool_runner *runner)
{
    for (size_t i = 0; i < mcp->setups.count; i++)
        if (mcp->servers[i].runner == runner)
            mcp_server_close(&mcp->servers[i]);
}

/* Servers are spread over the loops; a server stays in its loop from the first request on. */
static struct loop *home_of(struct mcp *mcp, struct mcp_server *server)
{
    pthread_mutex_lock(&mcp->lock);
    if (!server->runner) {
        server->runner = mcp->runners[(size_t)(server - mcp->servers) % mcp->runner_count];
        server->loop = server->runner->loop;
    }
    struct loop *loop = server->loop;
    pthread_mutex_unlock(&mcp->lock);
    return loop;
}

struct loop *mcp_server_loop(struct mcp_server *server)
{
    return home_of(server->mcp, server);
}

/* ---- servers ----------------------------------------------------------------------------------------------------- */

size_t mcp_count(const struct mcp *mcp)
{
    return mcp->setups.count;
}

struct mcp_server *mcp_at(const struct mcp *mcp, size_t i)
{
    return &mcp->servers[i];
}

const char *mcp_server_name(const struct mcp_server *server)
{
    return server->setup->name;
}

struct mcp_server *mcp_server_of(const struct mcp *mcp, const char *tool_name)
{
    const char *end = strstr(tool_name, "__");
    for (size_t i = 0; end && i < mcp->setups.count; i++) {
        size_t length = strlen(mcp->setups.list[i].name);
        if ((size_t)(end - tool_name) == length && memcmp(mcp->setups.list[i].name, tool_name, length) == 0)
            return &mcp->servers[i];
    }
    return NULL;
}

struct mcp_tools *mcp_tools_hold(struct mcp_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct mcp_tools *tools = server->tools;
    if (tools)
        atomic_fetch_add(&tools->holders, 1);
    pthread_mutex_unlock(&server->lock);
    return tools;
}

/* ---- discovery ------------------------------------------------------------------------------------------------------
 */

static void discovery_posted(struct work *work)
{
    struct mcp_discovery *discovery = CONTAINER_OF(work, struct mcp_discovery, go);
    discovery->answered(discovery);
}

static void mcp_answer(struct mcp_discovery *discovery, const struct status *status)
{
    loop_disarm(discovery->server->loop, &discovery->timeout);
    discovery->status = *status;
    discovery->go.run = discovery_posted;
    loop_post(discovery->loop, &discovery->go);
}

void mcp_discoveries_answer(struct mcp_server *server, const struct status *status)
{
    struct mcp_discovery *first = server->discoveries, *next;
    server->discoveries = NULL;
    for (; first; first = next) {
        next = first->next;
        mcp_answer(first, status);
    }
}

static void discovery_timed_out(struct timer *timer)
{
    struct mcp_discovery *discovery = CONTAINER_OF(timer, struct mcp_discovery, timeout);
    struct mcp_discovery **at = &discovery->server->discoveries;
    struct status st = {0};
    while (*at != discovery)
        at = &(*at)->next;
    *at = discovery->next;
    fail(&st, DEADLINE_EXCEEDED, "the tool server '%s' is still being started", discovery->server->setup->name);
    mcp_answer(discovery, &st);
}

static bool mcp_is_known(struct mcp_server *server)
{
    return server->state == MCP_READY && server->tools && !server->changed && !server->failing &&
           (server->transport->probes || clock_now_ns() - server->tools->read_ns < LISTED_FOR_MS * NS_PER_MS);
}

static void discovery_arrived(struct work *work)
{
    struct mcp_discovery *discovery = CONTAINER_OF(work, struct mcp_discovery, come);
    struct mcp_server *server = discovery->server;
    struct status st = {0};
    int64_t left_ns = discovery->until_ns - clock_now_ns();
    if (mcp_is_known(server) || !mcp_server_start(server, &st)) {
        mcp_answer(discovery, &st);
        return;
    }
    discovery->next = server->discoveries;
    server->discoveries = discovery;
    discovery->timeout.expired = discovery_timed_out;
    loop_arm_after(server->loop, &discovery->timeout, left_ns > 0 ? left_ns / NS_PER_MS : 0);
    if (server->state == MCP_READY)
        mcp_list(server);
}

void mcp_discover(struct mcp_server *server, struct mcp_discovery *discovery, int64_t timeout_ms)
{
    discovery->server = server;
    discovery->until_ns = clock_now_ns() + timeout_ms * NS_PER_MS;
    discovery->come.run = discovery_arrived;
    discovery->timeout = (struct timer){0};
    loop_post(home_of(server->mcp, server), &discovery->come);
}
