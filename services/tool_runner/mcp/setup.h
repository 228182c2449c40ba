/* The document of tool servers, read: {"mcpServers": {NAME: …}} as other clients have it, with keys of our own
 * (README).
 */
#ifndef RENGA_MCP_SETUP_H
#define RENGA_MCP_SETUP_H

#include "base/status.h"
#include "child/child.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_url;

#define MCP_SERVER_NAME_MAX 32 /* bytes */
#define MCP_PAIRS_MAX       64

struct mcp_pair {
    const char *name, *value;
};

struct mcp_words {
    const char *const *items;
    size_t count;
};

enum mcp_side_effects { MCP_SIDE_EFFECTS_BY_HINT, MCP_SIDE_EFFECTS_YES, MCP_SIDE_EFFECTS_NO };

struct mcp_setup {
    const char *name;

    /* A process of its own, spoken to over its standard input and output; else `url`. */
    const char *command, *cwd;
    struct mcp_words args, writable; /* folders it may write to; empty: all folders of its user */
    const char *user;                /* "NAME", "UID" or "UID:GID"; NULL: see child_user_find */
    struct child_user runs_as;
    bool without_landlock;
    struct mcp_pair env[MCP_PAIRS_MAX];
    size_t env_count;
    int64_t memory_max; /* bytes of address space; 0: no limit */
    bool logs_stderr;

    const char *url_text;
    struct http_url *url;
    struct mcp_pair headers[MCP_PAIRS_MAX];
    size_t header_count;

    struct mcp_words tools; /* allow-list of its own names; empty: all */
    int64_t timeout_ms, start_timeout_ms;
    int64_t probe_timeout_ms; /* how long it may take to say that it lives, once a call was late */
    size_t output_max;        /* bytes of a message from it */
    enum mcp_side_effects side_effects;
    bool modern; /* revision 2026-07-28 is spoken from the first message on */
};

struct mcp_setups {
    struct config *values; /* the values that setups point at; secrets stay out of core dumps */
    struct mcp_setup *list;
    size_t count;
};

/* False with file, line and column of the error. */
bool mcp_setups_read(const char *path, struct mcp_setups *setups, struct status *st);
void mcp_setups_fini(struct mcp_setups *setups);

#endif
