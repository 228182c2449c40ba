/* The collections that a request names. The tool-runner knows those of the caller's tenant; a name that it does not
 * have ends the call before a run begins. If it cannot be asked, the run begins all the same: its searches tell why. */
#include "agent_run.h"

#include "base/nearest.h"
#include "daemon/service.h"
#include "json/json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <string.h>

#define LOOK_MS 3000

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

/* The index of the first name that no collection has; the count of names: there is none. */
static size_t unknown_collection(const struct agent_run *run, const Renga__V1__GetKnowledgeBaseResponse *known)
{
    for (size_t i = 0; i < run->collection_count; i++) {
        size_t at = 0;
        while (at < known->n_collections && strcmp(run->collections[i], known->collections[at]->name) != 0)
            at++;
        if (at == known->n_collections)
            return i;
    }
    return run->collection_count;
}

static void refuse_collection(const struct agent_run *run, size_t index,
                              const Renga__V1__GetKnowledgeBaseResponse *known, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    struct nearest nearest = nearest_to(run->collections[index]);
    for (size_t i = 0; i < known->n_collections; i++)
        nearest_try(&nearest, known->collections[i]->name);
    snprintf(field, sizeof field, "collections[%zu]", index);
    fail_field(st, field, "there is no collection '%.64s'; %s", run->collections[index],
               known->n_collections ? nearest_hint(&nearest).text : "no documents have been indexed");
    st->code = NOT_FOUND;
}

/* ---- tools that have collections of their own -------------------------------------------------------------------- */

static bool has_collections(const Renga__V1__Tool *tool)
{
    struct status ignored = {0};
    const char *text = tool->definition ? tool->definition->parameters_json : "";
    cJSON *schema = tool->server[0] ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    bool has = cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(schema, "properties"), "collections");
    cJSON_Delete(schema);
    return has;
}

static void collections_tools_listed(const Renga__V1__ListToolsResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    bool elsewhere = false;
    for (size_t i = 0; response && i < response->n_tools; i++)
        elsewhere |= has_collections(response->tools[i]);
    if (!elsewhere || rpc_call_cancelled(run->call)) {
        rpc_fail(run->call, &run->end);
        return;
    }
    status_clear(&run->end);
    agent_run_start(run);
}

/* A tool server may know the name, if one of its tools has an argument of this name. */
static void collections_list_tools(struct agent_run *run)
{
    Renga__V1__ListToolsRequest request = RENGA__V1__LIST_TOOLS_REQUEST__INIT;
    agent_call_prepare(run, &run->get);
    run->get.timeout_ms = LOOK_MS;
    renga__v1__tool_runner__list_tools(run->tool_runner, &request, collections_tools_listed, &run->get);
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static void collections_listed(const Renga__V1__GetKnowledgeBaseResponse *response, void *data)
{
    struct agent_run *run = ((struct rpc_client_call *)data)->owner;
    size_t unknown = response ? unknown_collection(run, response) : run->collection_count;
    if (rpc_call_cancelled(run->call)) {
        rpc_fail_with(run->call, CANCELLED, "the caller went away");
    } else if (unknown == run->collection_count) {
        agent_run_start(run);
    } else {
        refuse_collection(run, unknown, response, &run->end);
        collections_list_tools(run);
    }
}

void agent_collections_check(struct agent_run *run)
{
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    agent_call_prepare(run, &run->get);
    run->get.timeout_ms = LOOK_MS;
    renga__v1__tool_runner__get_knowledge_base(run->tool_runner, &request, collections_listed, &run->get);
}
