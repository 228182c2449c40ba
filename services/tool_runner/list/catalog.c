#include "catalog.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "instance/tool_runner_instance.h"
#include "mcp/mcp.h"
#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMAS_MAX ((size_t)4 << 20) /* bytes */

struct catalog {
    struct mcp *mcp;
    struct arena arena;
    struct catalog_entry *builtin;
};

static const struct json_schema *catalog_compile(struct arena *arena, const struct tool *tool)
{
    struct status st = {0};
    cJSON *tree = json_parse(tool->parameters, strlen(tool->parameters), NULL, &st);
    const struct json_schema *schema = tree ? json_schema_compile(arena, tree, JSON_SCHEMA_PLAIN, &st) : NULL;
    cJSON_Delete(tree);
    if (!schema)
        fatal("tool_runner.tool", "the parameters of the tool '%s' are no schema: %s", tool->name, st.text);
    return schema;
}

static bool catalog_is_offered(const struct tool *tool, const struct tool_shared *shared)
{
    return !tool->is_offered || tool->is_offered(shared);
}

struct catalog *catalog_create(const struct tool_shared *shared)
{
    size_t count = 0, kept = 0;
    struct catalog *catalog = xcalloc(1, sizeof *catalog);
    while (builtin_tools[count])
        count++;
    catalog->builtin = xcalloc(count + 1, sizeof(*catalog->builtin));
    catalog->mcp = shared->mcp;
    arena_init(&catalog->arena, NULL, 0, SCHEMAS_MAX);
    for (const struct tool *const *tool = builtin_tools; *tool; tool++)
        if (catalog_is_offered(*tool, shared))
            catalog->builtin[kept++] = (struct catalog_entry){*tool, catalog_compile(&catalog->arena, *tool), NULL};
    return catalog;
}

void catalog_destroy(struct catalog **catalog_pointer)
{
    struct catalog *catalog = *catalog_pointer;
    *catalog_pointer = NULL;
    if (!catalog)
        return;
    arena_fini(&catalog->arena);
    free(catalog->builtin);
    free(catalog);
}

const struct catalog_entry *catalog_builtin(const struct catalog *catalog)
{
    return catalog->builtin;
}

static void release_mcp_tool(const struct tool *tool)
{
    const struct mcp_tool *entry = tool->owner;
    mcp_tools_release(entry->list);
}

static bool find_at_server(struct mcp_server *server, const char *name, struct catalog_entry *entry)
{
    struct mcp_tools *tools = server ? mcp_tools_hold(server) : NULL;
    for (size_t i = 0; tools && i < tools->count; i++)
        if (strcmp(tools->tools[i].tool.name, name) == 0) {
            *entry = (struct catalog_entry){&tools->tools[i].tool, tools->tools[i].schema, release_mcp_tool};
            return true;
        }
    mcp_tools_release(tools);
    return false;
}

bool catalog_find(const struct catalog *catalog, const char *name, struct catalog_entry *entry)
{
    for (const struct catalog_entry *builtin = catalog->builtin; builtin->tool; builtin++)
        if (strcmp(builtin->tool->name, name) == 0) {
            *entry = *builtin;
            return true;
        }
    return find_at_server(mcp_server_of(catalog->mcp, name), name, entry);
}

static void try_server(struct mcp_server *server, struct nearest *nearest, char *near)
{
    struct mcp_tools *tools = mcp_tools_hold(server);
    for (size_t i = 0; tools && i < tools->count; i++) {
        nearest_try(nearest, tools->tools[i].tool.name);
        if (nearest->name == tools->tools[i].tool.name) { /* the list goes, the name stays */
            strcpy(near, nearest->name);
            nearest->name = near;
        }
    }
    mcp_tools_release(tools);
}

bool catalog_refuse(const struct catalog *catalog, const char *name, char *const *offered, size_t count,
                    struct status *st)
{
    char near[TOOL_NAME_MAX + 1];
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < count; i++)
        nearest_try(&nearest, offered[i]);
    if (!count) {
        for (const struct catalog_entry *builtin = catalog->builtin; builtin->tool; builtin++)
            nearest_try(&nearest, builtin->tool->name);
        for (size_t i = 0; i < mcp_count(catalog->mcp); i++)
            try_server(mcp_at(catalog->mcp, i), &nearest, near);
    }
    if (nearest.name)
        return fail(st, NOT_FOUND, "there is no tool '%.64s'; did you mean '%s'?", name, nearest.name);
    return fail(st, NOT_FOUND, "there is no tool '%.64s'; call one of those that were offered", name);
}
