#include "node_services.h"

#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/planner.pb-c.h"
#include "renga/v1/reviewer.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

const struct peer_words peer_words[PEER_COUNT] = {
    [PEER_GATEWAY] = {"gateway", "llm_gateway", &renga__v1__llm_gateway__descriptor},
    [PEER_PLANNER] = {"planner", "planner", &renga__v1__planner__descriptor},
    [PEER_TOOL_RUNNER] = {"tool-runner", "tool_runner", &renga__v1__tool_runner__descriptor},
    [PEER_REVIEWER] = {"reviewer", "reviewer", &renga__v1__reviewer__descriptor},
};

struct rpc_principal node_services_caller(const struct node_services *services, const char *tenant, const char *client)
{
    const char *name = client[0] || !services->keyed ? client : "orchestrator";
    return (struct rpc_principal){.name = name, .tenant = tenant};
}
