/* The service: which room has which function, and the life of an instance. */
#include "tool_runner.h"

#include "base/memory.h"
#include "instance/tool_runner_instance.h"
#include "knowledge/knowledge.h"
#include "list/list_tools.h"
#include "notes/notes.h"
#include "playbook/playbooks.h"
#include "proto/contract_check.h"
#include "rpc/rpc.h"
#include "run/run_tools.h"
#include "search/search.h"
#include "shared_state.h"
#include "tools/robots_ask.h"

#include <stdlib.h>

static struct knowledge *knowledge_of(Renga__V1__ToolRunner_Service *self)
{
    return ((struct tool_runner *)self)->shared->knowledge;
}

static void service_search(Renga__V1__ToolRunner_Service *self, const Renga__V1__SearchRequest *request,
                           Renga__V1__SearchResponse_Closure reply, void *data)
{
    struct tool_runner *runner = (struct tool_runner *)self;
    const char *const *names = (const char *const *)request->sources;
    struct status st = {0};
    if (!contract_check(&request->base, &st))
        rpc_fail(data, &st);
    else if (search_is_outside(runner->shared->sources, names, request->n_sources))
        search_method(runner, data, request, reply);
    else
        knowledge_search(knowledge_of(self), data, request, reply);
}

static void index_documents(Renga__V1__ToolRunner_Service *self, const Renga__V1__IndexDocumentsRequest *request,
                            Renga__V1__IndexDocumentsProgress_Closure reply, void *data)
{
    knowledge_index(knowledge_of(self), data, request, reply);
}

static void get_knowledge_base(Renga__V1__ToolRunner_Service *self, const Renga__V1__GetKnowledgeBaseRequest *request,
                               Renga__V1__GetKnowledgeBaseResponse_Closure reply, void *data)
{
    knowledge_show(knowledge_of(self), data, reply);
}

static void delete_documents(Renga__V1__ToolRunner_Service *self, const Renga__V1__DeleteDocumentsRequest *request,
                             Renga__V1__DeleteDocumentsResponse_Closure reply, void *data)
{
    knowledge_delete(knowledge_of(self), data, request, reply);
}

/* Methods that are NULL here answer UNIMPLEMENTED. */
static const Renga__V1__ToolRunner_Service functions = {
    .base = {.descriptor = &renga__v1__tool_runner__descriptor, .invoke = rpc_service_invoke},
    .search = service_search,
    .index_documents = index_documents,
    .get_knowledge_base = get_knowledge_base,
    .delete_documents = delete_documents,
    .list_tools = list_tools,
    .run_tools = run_tools,
    .forget_thread = forget_thread,
    .save_note = save_note,
    .list_notes = list_notes,
    .search_playbook = search_playbook,
    .get_playbook = get_playbook,
    .put_playbook = put_playbook,
    .list_playbooks = list_playbooks,
    .list_playbook_changes = list_playbook_changes,
    .restore_playbook = restore_playbook,
    .delete_playbook = delete_playbook,
};

static void tool_runner_destroy(ProtobufCService *service)
{
    struct tool_runner *runner = (struct tool_runner *)service;
    if (!runner)
        return;
    if (runner->shared)
        tool_shared_leave(&runner->shared, runner);
    robots_destroy(&runner->robots);
    free(runner);
}

static bool tool_runner_find_shared(struct tool_runner *runner, const struct service_context *context,
                                    struct status *st)
{
    const struct tool_runner *first = context->instances ? (const struct tool_runner *)context->instances[0] : NULL;
    struct tool_shared *shared = first ? first->shared : tool_shared_create(context, st);
    if (!shared)
        return false;
    runner->shared = shared;
    tool_shared_join(shared, runner);
    return true;
}

static ProtobufCService *tool_runner_create(const struct service_context *context, struct status *st)
{
    struct tool_runner *runner = xcalloc(1, sizeof *runner);
    *runner = (struct tool_runner){
        .base = functions,
        .config = context->config,
        .loop = context->loop,
        .http = context->http,
        .metrics = context->metrics,
        .spans = context->spans,
        .shows_content = config_boolean(context->config, "tool_runner.trace_content"),
    };
    bool obeys = config_boolean(context->config, "tool_runner.robots");
    runner->robots = obeys ? robots_create() : NULL;
    if (obeys && !runner->robots)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the files of robots.txt");
    if ((obeys && !runner->robots) || !tool_runner_find_shared(runner, context, st)) {
        tool_runner_destroy(&runner->base.base);
        return NULL;
    }
    return &runner->base.base;
}

const struct service tool_runner_service = {
    .name = "tool_runner",
    .descriptor = &renga__v1__tool_runner__descriptor,
    .options = tool_runner_options,
    .create = tool_runner_create,
    .destroy = tool_runner_destroy,
};
