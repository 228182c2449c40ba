/* Lists the tools of a server, page by page; a list is shown only when it is complete. */
#include "base/clock.h"
#include "base/log.h"
#include "mcp_priv.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define PAGES_MAX  32
#define CURSOR_MAX 4096 /* bytes */
#define RELIST_MS  100  /* a burst of changes is a single change */

static void listing_ask_page(struct mcp_server *server, const char *cursor);

static void listing_end(struct mcp_server *server, const struct status *status)
{
    struct mcp_tools *fresh = server->fresh;
    server->listing = false;
    server->fresh = NULL;
    if (status->code != OK) {
        mcp_tools_release(fresh);
    } else {
        fresh->read_ns = clock_now_ns();
        pthread_mutex_lock(&server->lock);
        struct mcp_tools *old = server->tools;
        server->tools = fresh;
        pthread_mutex_unlock(&server->lock);
        mcp_tools_release(old);
        log_info("mcp.listed", "'%s' has %zu tools (revision %s)", server->setup->name, fresh->count, server->revision);
    }
    mcp_server_listed(server, status);
}

static void listing_page_received(struct mcp_request *request, const cJSON *result, const struct status *status)
{
    struct mcp_server *server = request->server;
    const cJSON *tool, *tools = cJSON_GetObjectItemCaseSensitive(result, "tools");
    const char *cursor = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(result, "nextCursor"));
    if (!result) {
        listing_end(server, status);
        return;
    }
    cJSON_ArrayForEach(tool, tools) mcp_tools_add(server->fresh, server, tool);
    if (cursor && cursor[0] && strlen(cursor) <= CURSOR_MAX && ++server->pages < PAGES_MAX) {
        listing_ask_page(server, cursor);
        return;
    }
    if (cursor && cursor[0])
        log_warn("mcp.pages",
                 "'%s' has more than %d pages of tools, or a cursor of more than %d bytes; the rest is left "
                 "out",
                 server->setup->name, PAGES_MAX, CURSOR_MAX);
    listing_end(server, &(struct status){0});
}

static void write_cursor(struct json_writer *params, const void *data)
{
    if (data)
        json_write_string(params, "cursor", data);
}

static void listing_ask_page(struct mcp_server *server, const char *cursor)
{
    server->list = (struct mcp_request){
        .method = "tools/list",
        .answered = listing_page_received,
        .timeout_ms = server->setup->start_timeout_ms,
    };
    mcp_request(server, &server->list, NULL, NULL, write_cursor, cursor);
}

void mcp_list(struct mcp_server *server)
{
    if (server->listing)
        return;
    server->listing = true;
    server->changed = false;
    server->pages = 0;
    server->fresh = mcp_tools_create();
    listing_ask_page(server, NULL);
}

static void relist(struct timer *timer)
{
    struct mcp_server *server = CONTAINER_OF(timer, struct mcp_server, relist);
    if (server->listing)
        loop_arm_after(server->loop, &server->relist, RELIST_MS);
    else if (server->state == MCP_READY && server->changed && !server->failing)
        mcp_list(server);
}

void mcp_list_changed(struct mcp_server *server)
{
    if (server->state != MCP_READY || server->changed)
        return;
    server->changed = true;
    server->relist.expired = relist;
    loop_arm_after(server->loop, &server->relist, RELIST_MS);
}
