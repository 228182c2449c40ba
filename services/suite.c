#include "suite.h"

#include "proto/descriptor_set.h"
#include "renga/v1/ace.pb-c.h"
#include "renga/v1/autonomous_research.pb-c.h"
#include "renga/v1/deep_research.pb-c.h"
#include "renga/v1/helpdesk.pb-c.h"
#include "renga/v1/interview.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "renga/v1/planner.pb-c.h"
#include "renga/v1/reviewer.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

/* The orchestrator first: suite_keep_runs leaves it out. */
static const struct peer peers[] = {
    {"peers.orchestrator", &renga__v1__orchestrator__descriptor},
    {"peers.llm_gateway", &renga__v1__llm_gateway__descriptor},
    {"peers.planner", &renga__v1__planner__descriptor},
    {"peers.tool_runner", &renga__v1__tool_runner__descriptor},
    {"peers.reviewer", &renga__v1__reviewer__descriptor},
    {0},
};

static const struct peer peers_with_agents[] = {
    {"peers.orchestrator", &renga__v1__orchestrator__descriptor},
    {"peers.orchestrator", &renga__v1__helpdesk__descriptor},
    {"peers.orchestrator", &renga__v1__deep_research__descriptor},
    {"peers.orchestrator", &renga__v1__autonomous_research__descriptor},
    {"peers.orchestrator", &renga__v1__form_interview__descriptor},
    {"peers.orchestrator", &renga__v1__ace_generator__descriptor},
    {"peers.llm_gateway", &renga__v1__llm_gateway__descriptor},
    {"peers.tool_runner", &renga__v1__tool_runner__descriptor},
    {0},
};

#define PEER(peer_name, what)                                                                                          \
    {                                                                                                                  \
        .name = "peers." peer_name, .type = OPTION_STRING, .unit = "TARGET",                                           \
        .help = "Where the " what " is, \"dns:///HOST:PORT\"; unset where it is in this process or not needed."        \
    }

static const struct option peer_options[] = {
    PEER("orchestrator", "orchestrator"), PEER("llm_gateway", "LLM gateway"), PEER("planner", "planner"),
    PEER("tool_runner", "tool-runner"),   PEER("reviewer", "reviewer"),       {0},
};

void suite_keep_runs(struct daemon *daemon)
{
    daemon->peers = peers + 1;
}

void suite_call_agents(struct daemon *daemon)
{
    daemon->peers = peers_with_agents;
}

struct daemon suite_daemon(const char *name, const char *summary, const struct service *const *services)
{
    return (struct daemon){
        .name = name,
        .summary = summary,
        .services = services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
}
