/* Tool servers that speak the Model Context Protocol (https://modelcontextprotocol.io), revisions 2025-11-25 and
 * before, and 2026-07-28: the servers, their tools, and calls to them.
 *
 * A server belongs to one loop of the process, and serves requests of all loops. Its list of tools is immutable, and
 * held by each reader. A server is started when it is first asked, and again when it has died. */
#ifndef RENGA_MCP_H
#define RENGA_MCP_H

#include "tools/tool.h"
#include "json/schema.h"

#include <stdatomic.h>

struct config;
struct mcp;
struct mcp_server;
struct metrics;

#define MCP_SERVERS_MAX 64
#define MCP_TOOLS_MAX   512 /* of a server; further tools are left out */

struct mcp_options {
    const char *path; /* of the document (document.h); NULL: no servers */
    struct metrics *metrics;
};

/* NULL with the error in the document: file, line and column. */
struct mcp *mcp_create(const struct mcp_options *options, struct status *st);
/* When all loops have left. */
void mcp_destroy(struct mcp **mcp);

/* From inside each loop: its instance joins, and leaves when no call is under way any more. Its servers end.
 */
void mcp_join(struct mcp *mcp, struct tool_runner *runner);
void mcp_leave(struct mcp *mcp, struct tool_runner *runner);

/* ---- servers ----------------------------------------------------------------------------------------------------- */

size_t mcp_count(const struct mcp *mcp);
struct mcp_server *mcp_at(const struct mcp *mcp, size_t i);
const char *mcp_server_name(const struct mcp_server *server);
/* The server of the tool with this name, "server__tool"; NULL: unknown server. */
struct mcp_server *mcp_server_of(const struct mcp *mcp, const char *tool_name);

/* Asks a server for its tools: starts the server if it does not run, and asks again if its list may have changed.
 * Embedded in its owner, and kept until `answered`. */
struct mcp_discovery {
    struct loop *loop;
    void (*answered)(struct mcp_discovery *discovery); /* once, later, in `loop` */
    void *owner;
    struct status status; /* OK: mcp_tools_hold has the list */

    /* The server's. */
    struct mcp_server *server;
    struct work come, go;
    struct timer timeout;
    struct mcp_discovery *next;
    int64_t until_ns;
};
void mcp_discover(struct mcp_server *server, struct mcp_discovery *discovery, int64_t timeout_ms);

/* ---- tools ------------------------------------------------------------------------------------------------------- */

struct mcp_tools;

struct mcp_tool {
    struct tool tool;                 /* first; its owner is this */
    const struct json_schema *schema; /* NULL: we cannot check this schema; the server will */
    const char *remote;               /* the server's own name for it */
    struct mcp_server *server;
    struct mcp_tools *list;
};

struct mcp_tools {
    atomic_uint holders;
    struct arena arena;
    struct mcp_tool *tools;
    size_t count;
    bool is_full;    /* the server has more */
    int64_t read_ns; /* when, on clock_now_ns */
};

/* The server's last list; NULL: no list yet. Any loop. */
struct mcp_tools *mcp_tools_hold(struct mcp_server *server);
void mcp_tools_release(struct mcp_tools *tools);

#endif
