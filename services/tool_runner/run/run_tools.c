/* The stages of a RunTools (run_request.h). A callback records its result; `step` decides the next stage. If the caller
 * leaves, running calls are stopped, and the rest are not begun. */
#include "run_tools.h"

#include "list/catalog.h"
#include "output_budget.h"
#include "record/records.h"
#include "request_check.h"
#include "run_request.h"

#include <string.h>

#define ANSWER_MAX ((size_t)3 << 20) /* bytes */

static void run_tools_step(struct run_request *self);

void run_request_advance(struct run_request *self)
{
    self->waits--;
    run_tools_step(self);
}

/* ---- servers ----------------------------------------------------------------------------------------------------- */

static void server_answered(struct mcp_discovery *discovery)
{
    run_request_advance(discovery->owner);
}

static bool is_asked(const struct run_request *self, size_t i, const struct mcp_server *server)
{
    for (size_t k = 0; k < i; k++)
        if (self->discoveries[k].server == server)
            return true;
    return false;
}

/* Asks the servers of tools that are not known yet. */
static void run_tools_ask_servers(struct run_request *self)
{
    size_t count = self->asked->n_calls;
    self->discoveries = arena_zalloc(rpc_call_arena(self->rpc), count * sizeof(*self->discoveries));
    for (size_t i = 0; self->discoveries && i < count; i++) {
        struct mcp_server *server = mcp_server_of(self->runner->shared->mcp, self->calls[i].asked->call->name);
        struct mcp_tools *known = server ? mcp_tools_hold(server) : NULL;
        if (server && !known && self->calls[i].state == CALL_IDLE && !is_asked(self, i, server)) {
            self->discoveries[i] = (struct mcp_discovery){
                .loop = self->runner->loop,
                .answered = server_answered,
                .owner = self,
            };
            self->waits++;
            mcp_discover(server, &self->discoveries[i], self->runner->shared->list_wait_ms);
        }
        mcp_tools_release(known);
    }
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static void call_settled(struct tool_call *call)
{
    run_request_advance(call->owner);
}

/* A server that is down may have the tool. */
static bool run_tools_refuse_unknown(struct run_request *self, const char *name, struct status *st)
{
    struct mcp_server *server = mcp_server_of(self->runner->shared->mcp, name);
    for (size_t i = 0; server && i < self->asked->n_calls; i++)
        if (self->discoveries[i].server == server && self->discoveries[i].status.code != OK)
            return fail(st, UNAVAILABLE, "the tool server '%s' cannot be asked: %.300s", mcp_server_name(server),
                        self->discoveries[i].status.text);
    return catalog_refuse(self->runner->shared->catalog, name, self->asked->allowed_tools, self->asked->n_allowed_tools,
                          st);
}

static void begin_call(struct run_request *self, struct tool_call *call, struct run_arguments *row)
{
    if (!row->found) {
        run_tools_refuse_unknown(self, call->asked->call->name, &row->status);
        tool_call_refuse(call, &row->status);
        return;
    }
    if (!row->tree) {
        call->entry.tool = row->entry.tool;
        tool_call_refuse(call, &row->status);
        call->entry.tool = NULL;
        return;
    }
    cJSON *arguments = row->tree;
    row->tree = NULL;
    row->found = false;
    self->waits++;
    tool_call_begin(call, &row->entry, arguments);
}

static void begin_calls(struct run_request *self)
{
    self->waits++; /* calls may settle at once */
    for (size_t i = 0; i < self->asked->n_calls; i++) {
        self->calls[i].store = self->store;
        if (self->calls[i].state == CALL_IDLE)
            begin_call(self, &self->calls[i], &self->arguments[i]);
    }
    self->waits--;
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void free_request(struct run_request *self)
{
    run_record_fini(self);
    run_arguments_fini(self);
    key_lock_release(self->runner->shared->key_locks, &self->key_lock);
    for (size_t i = 0; i < self->asked->n_calls; i++)
        tool_call_fini(&self->calls[i]);
}

static void run_tools_send(struct run_request *self)
{
    size_t count = self->asked->n_calls;
    Renga__V1__RunToolsResponse response = RENGA__V1__RUN_TOOLS_RESPONSE__INIT;
    Renga__V1__ToolResult *results[RUN_CALLS_MAX];
    for (size_t i = 0; i < count; i++)
        results[i] = &self->calls[i].result;
    output_budget_apply(results, count, ANSWER_MAX);
    response.results = results;
    response.n_results = count;
    self->reply(&response, self->rpc);
    free_request(self);
}

static void run_tools_give_up(struct run_request *self)
{
    rpc_fail(self->rpc, &self->failure);
    free_request(self);
}

static void run_tools_client_left(struct rpc_call *rpc, void *data)
{
    struct run_request *self = data;
    self->waits++; /* stopped calls may settle at once */
    fail(&self->failure, CANCELLED, "the caller left");
    if (self->stage == STAGE_LOCK && key_lock_release(self->runner->shared->key_locks, &self->key_lock))
        self->waits--;
    job_cancel(&self->reading);
    for (size_t i = 0; i < self->asked->n_calls; i++)
        if (self->stage == STAGE_RUN && self->calls[i].state != CALL_SETTLED && self->calls[i].state != CALL_IDLE)
            tool_call_stop(&self->calls[i]);
    run_request_advance(self);
}

/* ---- its stages -------------------------------------------------------------------------------------------------- */

static void run_tools_key_lock_granted(struct key_lock *key_lock)
{
    run_request_advance(CONTAINER_OF(key_lock, struct run_request, key_lock));
}

/* Starts a stage; if it waits for no event, the next stage follows at once. */
static void run_tools_enter(struct run_request *self)
{
    switch (self->stage) {
    case STAGE_LOCK:
        self->key_lock.loop = self->runner->loop;
        self->key_lock.granted = run_tools_key_lock_granted;
        if (!key_lock_acquire(self->runner->shared->key_locks, &self->key_lock, self->name.tenant, self->name.key))
            self->waits++;
        return;
    case STAGE_RECORD:
        run_record_read(self);
        return;
    case STAGE_CHECK_RECORD:
        run_record_check(self);
        return;
    case STAGE_SERVERS:
        run_tools_ask_servers(self);
        return;
    case STAGE_FENCE:
        run_fence_raise(self);
        return;
    case STAGE_FENCED:
        run_fence_check(self);
        return;
    case STAGE_ARGUMENTS:
        run_arguments_read(self);
        return;
    case STAGE_RUN:
        begin_calls(self);
        return;
    case STAGE_REPLY:
        return;
    }
}

static void run_tools_step(struct run_request *self)
{
    while (!self->waits && self->failure.code == OK && self->stage != STAGE_REPLY) {
        enum stage entered = ++self->stage;
        run_tools_enter(self);
        if (self->stage != entered)
            self->stage--; /* it has chosen another stage, which is next */
    }
    if (self->waits)
        return;
    if (self->failure.code != OK)
        run_tools_give_up(self);
    else
        run_tools_send(self);
}

static struct run_request *run_tools_make(struct tool_runner *runner, const Renga__V1__RunToolsRequest *asked,
                                          struct rpc_call *rpc, struct status *st)
{
    struct arena *arena = rpc_call_arena(rpc);
    struct run_request *self = arena_zalloc(arena, sizeof *self);
    struct tool_call *calls = arena_zalloc(arena, asked->n_calls * sizeof(*calls));
    if (!self || !calls) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the call");
        return NULL;
    }
    self->runner = runner;
    self->rpc = rpc;
    self->asked = asked;
    self->calls = calls;
    const Renga__V1__CallOrigin *origin = self->asked->origin;
    self->name = (struct record_name){
        .tenant = rpc_call_principal(self->rpc)->tenant,
        .key = self->asked->idempotency_key,
        .thread = origin ? origin->thread_id : "",
        .run = origin ? origin->run_id : "",
    };
    for (size_t i = 0; i < self->asked->n_calls; i++)
        self->calls[i] = (struct tool_call){
            .request = self->asked,
            .asked = self->asked->calls[i],
            .name = &self->name,
            .runner = self->runner,
            .rpc = self->rpc,
            .queue_wait_ms = self->runner->shared->queue_wait_ms,
            .settled = call_settled,
            .owner = self,
        };
    self->store = records_open(runner->shared->records, runner->loop, st);
    return self->store ? self : NULL;
}

void run_tools(Renga__V1__ToolRunner_Service *service, const Renga__V1__RunToolsRequest *request,
               Renga__V1__RunToolsResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct run_request *self = NULL;
    size_t tenant = strlen(rpc_call_principal(data)->tenant);
    if (tenant > RECORD_TENANT_MAX)
        fail(&st, FAILED_PRECONDITION, "the tenant's name has %zu bytes; at most %d are allowed", tenant,
             RECORD_TENANT_MAX);
    else if (request_check(request, &st))
        self = run_tools_make((struct tool_runner *)service, request, data, &st);
    if (!self) {
        rpc_fail(data, &st);
        return;
    }
    self->reply = reply;
    rpc_call_on_cancel(data, run_tools_client_left, self);
    self->stage = STAGE_LOCK;
    run_tools_enter(self);
    run_tools_step(self);
}
