/* All tools there are, by name: the table's and those of MCP servers. Any loop. */
#ifndef RENGA_TOOL_RUNNER_CATALOG_H
#define RENGA_TOOL_RUNNER_CATALOG_H

#include "tools/tool.h"
#include "json/schema.h"

struct catalog;

/* Borrows the servers of `shared`; the offered built-in tools are fixed now. A row of the table that breaks the
 * rules of tool.h ends the process: it is our own bug. */
struct catalog *catalog_create(const struct tool_shared *shared);
void catalog_destroy(struct catalog **catalog);

struct catalog_entry {
    const struct tool *tool;
    const struct json_schema *schema;         /* NULL: arguments are only known to be an object */
    void (*release)(const struct tool *tool); /* to be called when it is no longer used; may be NULL */
};

/* Searches the tools that servers have listed so far. */
bool catalog_find(const struct catalog *catalog, const char *name, struct catalog_entry *entry);

/* Fails with NOT_FOUND and the nearest name among the offered tools, or among all tools if `count` is 0. */
bool catalog_refuse(const struct catalog *catalog, const char *name, char *const *offered, size_t count,
                    struct status *st);

/* Of the table alone; the last one's tool is NULL. */
const struct catalog_entry *catalog_builtin(const struct catalog *catalog);

#endif
