/* A server's tools, as entries of the catalog. */
#include "base/log.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "mcp_priv.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX    ((size_t)16 << 20) /* bytes of all that is kept of a server's tools */
#define HASH_DIGITS 6
#define LEGAL       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

static const char any_object[] = "{\"type\":\"object\"}";

struct mcp_tools *mcp_tools_create(void)
{
    struct mcp_tools *tools = xcalloc(1, sizeof *tools);
    tools->tools = xcalloc(MCP_TOOLS_MAX, sizeof(*tools->tools));
    atomic_init(&tools->holders, 1);
    arena_init(&tools->arena, NULL, 0, LIST_MAX);
    return tools;
}

void mcp_tools_release(struct mcp_tools *tools)
{
    if (!tools || atomic_fetch_sub(&tools->holders, 1) != 1)
        return;
    arena_fini(&tools->arena);
    free(tools->tools);
    free(tools);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool tools_is_taken(const struct mcp_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (strcmp(tools->tools[i].tool.name, name) == 0)
            return true;
    return false;
}

/* The end of a name that had to be changed: a hash of the original name keeps two names different. */
static void tools_mark(char name[TOOL_NAME_MAX + 1], const char *remote)
{
    uint8_t hash[SHA256_SIZE];
    size_t length = strlen(name), room = TOOL_NAME_MAX - HASH_DIGITS - 1;
    sha256_of(remote, strlen(remote), hash);
    if (length > room)
        length = room;
    snprintf(name + length, HASH_DIGITS + 2, "_%02x%02x%02x", hash[0], hash[1], hash[2]);
}

/* "server__tool" of legal characters, at most TOOL_NAME_MAX bytes; "" if no name is possible. */
static void make_name(const struct mcp_tools *tools, const char *server, const char *remote,
                      char name[TOOL_NAME_MAX + 1])
{
    bool changed = (size_t)snprintf(name, TOOL_NAME_MAX + 1, "%s__%s", server, remote) > TOOL_NAME_MAX;
    for (char *c = name; *c; c++)
        if (!strchr(LEGAL, *c)) {
            *c = '_';
            changed = true;
        }
    if (changed || tools_is_taken(tools, name))
        tools_mark(name, remote);
    if (tools_is_taken(tools, name))
        name[0] = '\0';
}

static bool tools_is_allowed(const struct mcp_setup *setup, const char *remote)
{
    for (size_t i = 0; i < setup->tools.count; i++)
        if (strcmp(setup->tools.items[i], remote) == 0)
            return true;
    return setup->tools.count == 0;
}

/* ---- their properties -------------------------------------------------------------------------------------------- */

static bool hint(const cJSON *description, const char *name, bool fallback)
{
    const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(description, "annotations");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(annotations, name);
    return cJSON_IsBool(value) ? cJSON_IsTrue(value) : fallback;
}

static bool has_side_effects(const struct mcp_setup *setup, const cJSON *description)
{
    if (setup->side_effects != MCP_SIDE_EFFECTS_BY_HINT)
        return setup->side_effects == MCP_SIDE_EFFECTS_YES;
    return !hint(description, "readOnlyHint", false);
}

static const char *copy_description(struct arena *arena, const cJSON *description)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(description, "description"));
    if (!text || !text[0])
        text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(description, "title"));
    size_t length = text ? strlen(text) : 0;
    while (length > TOOL_DESCRIPTION_MAX || (text && (text[length] & 0xc0) == 0x80))
        length--; /* at a character */
    return arena_strndup(arena, text ? text : "", length);
}

/* NULL: too large to be offered. */
static const char *copy_schema(struct arena *arena, const cJSON *schema)
{
    struct buffer out;
    struct json_writer writer;
    if (!cJSON_IsObject(schema))
        return any_object;
    buffer_init(&out, TOOL_PARAMETERS_MAX);
    json_writer_init(&writer, &out);
    json_write_tree(&writer, NULL, schema);
    const char *text = out.failed ? NULL : arena_strdup(arena, buffer_text(&out));
    buffer_fini(&out);
    return text;
}

static const struct json_schema *tools_compile(struct arena *arena, const cJSON *schema, const char *name)
{
    struct status st = {0};
    const struct json_schema *compiled =
        cJSON_IsObject(schema) ? json_schema_compile(arena, schema, JSON_SCHEMA_PLAIN, &st) : NULL;
    if (!compiled && st.code != OK)
        log_debug("mcp.schema", "arguments of '%s' are left to its server: %s", name, st.text);
    return compiled;
}

static bool tools_fill(struct mcp_tools *tools, struct mcp_server *server, const cJSON *description, const char *remote,
                       const char *name)
{
    struct arena *arena = &tools->arena;
    struct mcp_tool *tool = &tools->tools[tools->count];
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(description, "inputSchema");
    bool side_effects = has_side_effects(server->setup, description);
    *tool = (struct mcp_tool){
        .tool =
            {
                .name = arena_strdup(arena, name),
                .description = copy_description(arena, description),
                .parameters = copy_schema(arena, schema),
                .side_effects = side_effects,
                .idempotent = !side_effects || hint(description, "idempotentHint", false),
                .timeout_ms = server->setup->timeout_ms,
                .size = sizeof(void *),
                .start = mcp_call_start,
                .cancel = mcp_call_cancel,
                .server = server->setup->name,
                .owner = tool,
            },
        .schema = tools_compile(arena, schema, name),
        .remote = arena_strdup(arena, remote),
        .server = server,
        .list = tools,
    };
    return tool->tool.parameters && !arena->exhausted;
}

void mcp_tools_add(struct mcp_tools *tools, struct mcp_server *server, const cJSON *description)
{
    char name[TOOL_NAME_MAX + 1];
    const char *remote = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(description, "name"));
    if (!remote || !remote[0] || !tools_is_allowed(server->setup, remote))
        return;
    if (tools->count == MCP_TOOLS_MAX) { /* each further name would be compared with all */
        if (!tools->is_full)
            log_warn("mcp.left_out", "'%s' has more than %d tools; the rest is left out", server->setup->name,
                     MCP_TOOLS_MAX);
        tools->is_full = true;
        return;
    }
    make_name(tools, server->setup->name, remote, name);
    if (name[0] && tools_fill(tools, server, description, remote, name))
        tools->count++;
    else
        log_warn("mcp.left_out",
                 "a tool of '%s' is left out: it has the name of another, or its schema is longer than %d bytes",
                 server->setup->name, TOOL_PARAMETERS_MAX);
}
