/* The collections that a request names: a name that the tenant does not have ends the call before a run begins. */
#include "agent_run.h"

#include "api/collection_check.h"
#include "daemon/service.h"

#include "renga/v1/tool_runner.pb-c.h"

ProtobufCService *agent_tool_runner(const struct service_context *context)
{
    struct status ignored = {0};
    return context->process ? service_peer(context, &renga__v1__tool_runner__descriptor, &ignored) : NULL;
}

void agent_run_look_in(struct agent_run *run, char *const *collections, size_t collection_count,
                       const Renga__V1__DeepResearchSource *sources, size_t source_count)
{
    bool internal = source_count == 0;
    for (size_t i = 0; i < source_count; i++)
        internal |= sources[i] == RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_INTERNAL;
    run->collections = collections;
    run->collection_count = internal ? collection_count : 0;
}

static void agent_collections_checked(struct collection_check *check, const struct status *st)
{
    struct agent_run *run = CONTAINER_OF(check, struct agent_run, check);
    if (rpc_call_cancelled(run->call))
        rpc_fail_with(run->call, CANCELLED, "the caller went away");
    else if (st->code != OK)
        rpc_fail(run->call, st);
    else
        agent_run_start(run);
}

void agent_collections_check(struct agent_run *run)
{
    run->check = (struct collection_check){.call = run->call,
                                           .principal = rpc_call_principal(run->call),
                                           .tool_runner = run->tool_runner,
                                           .field = "collections",
                                           .names = run->collections,
                                           .count = run->collection_count,
                                           .checked = agent_collections_checked};
    collection_check_begin(&run->check);
}
