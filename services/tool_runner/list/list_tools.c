/* ListTools: calls all servers in parallel and reports the servers that do not answer in time. */
#include "list_tools.h"

#include "base/clock.h"
#include "catalog.h"
#include "instance/tool_runner_instance.h"
#include "mcp/mcp.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX        128
#define TOOLS_MAX        1024
#define ANSWER_MAX       ((size_t)3 << 20) /* bytes of descriptions and schemas */
#define DEADLINE_LEFT_MS 250               /* kept from the caller's deadline for sending the result */
#define UNCONST(text)    ((char *)(uintptr_t)(text))

struct listing {
    struct tool_runner *runner;
    struct rpc_call *rpc;
    const Renga__V1__ListToolsRequest *asked;
    Renga__V1__ListToolsResponse_Closure reply;
    size_t waits, count, bytes;
    bool left_out;
    struct mcp_discovery discoveries[MCP_SERVERS_MAX];
    struct mcp_tools *held[MCP_SERVERS_MAX];
    Renga__V1__Tool *tools[TOOLS_MAX];
    Renga__V1__Degradation *degradations[MCP_SERVERS_MAX + 1];
    size_t degradation_count;
};

static bool list_tools_is_wanted(const struct listing *self, const char *name)
{
    for (size_t i = 0; i < self->asked->n_names; i++)
        if (strcmp(self->asked->names[i], name) == 0)
            return true;
    return self->asked->n_names == 0;
}

static bool wants_server(const struct listing *self, const struct mcp_server *server)
{
    for (size_t i = 0; i < self->asked->n_names; i++)
        if (mcp_server_of(self->runner->shared->mcp, self->asked->names[i]) == server)
            return true;
    return self->asked->n_names == 0;
}

static void list_tools_add(struct listing *self, const struct tool *tool)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    size_t bytes = strlen(tool->description) + strlen(tool->parameters) + TOOL_NAME_MAX;
    if (!list_tools_is_wanted(self, tool->name))
        return;
    Renga__V1__Tool *row = arena_alloc(arena, sizeof *row);
    Renga__V1__ToolDefinition *definition = arena_alloc(arena, sizeof *definition);
    if (!row || !definition || self->count == TOOLS_MAX || self->bytes + bytes > ANSWER_MAX) {
        self->left_out = true;
        return;
    }
    renga__v1__tool__init(row);
    renga__v1__tool_definition__init(definition);
    definition->name = UNCONST(tool->name);
    definition->description = UNCONST(tool->description);
    definition->parameters_json = UNCONST(tool->parameters);
    row->definition = definition;
    row->origin = tool->server ? RENGA__V1__TOOL_ORIGIN__TOOL_ORIGIN_MCP : RENGA__V1__TOOL_ORIGIN__TOOL_ORIGIN_BUILTIN;
    row->server = UNCONST(tool->server ? tool->server : "");
    row->side_effects = tool->side_effects;
    row->self_contained = tool->self_contained;
    row->idempotent = tool->idempotent;
    row->timeout_ms = tool->timeout_ms;
    self->tools[self->count++] = row;
    self->bytes += bytes;
}

static void degrade(struct listing *self, const char *part, const struct status *status)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    Renga__V1__Degradation *degradation = arena_alloc(arena, sizeof *degradation);
    char *reason = arena_strdup(arena, status->text);
    if (!degradation || !reason || self->degradation_count == MCP_SERVERS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = UNCONST(part);
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
    degradation->reason = reason;
    degradation->status_code = (int32_t)status->code;
    self->degradations[self->degradation_count++] = degradation;
}

static int list_tools_by_name(const void *a, const void *b)
{
    const Renga__V1__Tool *const *left = a, *const *right = b;
    return strcmp((*left)->definition->name, (*right)->definition->name);
}

static void list_tools_send(struct listing *self)
{
    Renga__V1__ListToolsResponse response = RENGA__V1__LIST_TOOLS_RESPONSE__INIT;
    const struct mcp *mcp = self->runner->shared->mcp;
    for (const struct catalog_entry *entry = catalog_builtin(self->runner->shared->catalog); entry->tool; entry++)
        list_tools_add(self, entry->tool);
    for (size_t i = 0; i < mcp_count(mcp); i++) {
        struct mcp_server *server = mcp_at(self->runner->shared->mcp, i);
        if (self->discoveries[i].server && self->discoveries[i].status.code != OK)
            degrade(self, mcp_server_name(server), &self->discoveries[i].status);
        self->held[i] = mcp_tools_hold(server);
        for (size_t k = 0; self->held[i] && k < self->held[i]->count; k++)
            list_tools_add(self, &self->held[i]->tools[k].tool);
    }
    if (self->left_out) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED,
             "there are more tools than an answer holds; ask for them by name, or list fewer "
             "in the document of servers");
        degrade(self, "tools", &st);
    }
    qsort(self->tools, self->count, sizeof(*self->tools), list_tools_by_name);
    response.tools = self->tools;
    response.n_tools = self->count;
    response.degradations = self->degradations;
    response.n_degradations = self->degradation_count;
    self->reply(&response, self->rpc);
    for (size_t i = 0; i < mcp_count(mcp); i++)
        mcp_tools_release(self->held[i]);
    free(self);
}

static void list_tools_answered(struct mcp_discovery *discovery)
{
    struct listing *self = discovery->owner;
    if (--self->waits == 0)
        list_tools_send(self);
}

static int64_t timeout_ms(const struct listing *self)
{
    int64_t deadline_ns = rpc_call_deadline_ns(self->rpc), timeout_ms = self->runner->shared->list_wait_ms;
    int64_t left_ms =
        deadline_ns == TIME_NEVER ? timeout_ms : (deadline_ns - clock_now_ns()) / NS_PER_MS - DEADLINE_LEFT_MS;
    return left_ms < 1 ? 1 : left_ms < timeout_ms ? left_ms : timeout_ms;
}

static bool list_tools_check(const Renga__V1__ListToolsRequest *request, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (request->n_names > NAMES_MAX)
        return fail_field(st, "names", "has %zu entries; at most %d are allowed", request->n_names, NAMES_MAX);
    for (size_t i = 0; i < request->n_names; i++) {
        snprintf(field, sizeof field, "names[%zu]", i);
        if (strlen(request->names[i]) > TOOL_NAME_MAX)
            return fail_field(st, field, "has %zu bytes; at most %d are allowed", strlen(request->names[i]),
                              TOOL_NAME_MAX);
    }
    return true;
}

void list_tools(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListToolsRequest *request,
                Renga__V1__ListToolsResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct listing *self = NULL;
    if (list_tools_check(request, &st) && !(self = calloc(1, sizeof *self)))
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (!self) {
        rpc_fail(data, &st);
        return;
    }
    self->runner = (struct tool_runner *)service;
    self->rpc = data;
    self->asked = request;
    self->reply = reply;
    struct mcp *mcp = self->runner->shared->mcp;
    self->waits = 1;
    for (size_t i = 0; i < mcp_count(mcp); i++) {
        if (!wants_server(self, mcp_at(mcp, i)))
            continue;
        self->discoveries[i] =
            (struct mcp_discovery){.loop = self->runner->loop, .answered = list_tools_answered, .owner = self};
        self->waits++;
        mcp_discover(mcp_at(mcp, i), &self->discoveries[i], timeout_ms(self));
    }
    if (--self->waits == 0)
        list_tools_send(self);
}
