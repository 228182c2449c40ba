/* The table of paths. Planner, Reviewer and NodeService serve our own services and are not on the edge. */
#include "routes.h"

#include "renga/v1/ace.pb-c.h"
#include "renga/v1/autonomous_research.pb-c.h"
#include "renga/v1/deep_research.pb-c.h"
#include "renga/v1/helpdesk.pb-c.h"
#include "renga/v1/interview.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#define ORCHESTRATOR &renga__v1__orchestrator__descriptor
#define HELPDESK     &renga__v1__helpdesk__descriptor
#define DEEP         &renga__v1__deep_research__descriptor
#define AUTONOMOUS   &renga__v1__autonomous_research__descriptor
#define INTERVIEW    &renga__v1__form_interview__descriptor
#define ACE          &renga__v1__ace_generator__descriptor
#define GATEWAY      &renga__v1__llm_gateway__descriptor
#define TOOLS        &renga__v1__tool_runner__descriptor

const struct edge_route edge_routes[] = {
    {ORCHESTRATOR, "StartRun", "POST", "/v1/runs"},
    {ORCHESTRATOR, "ListRuns", "GET", "/v1/runs"},
    {ORCHESTRATOR, "GetRun", "GET", "/v1/runs/{run_id}"},
    {ORCHESTRATOR, "WatchRun", "GET", "/v1/runs/{run_id}/events"},
    {ORCHESTRATOR, "CancelRun", "POST", "/v1/runs/{run_id}:cancel"},
    {ORCHESTRATOR, "ResumeRun", "POST", "/v1/runs/{run_id}:resume"},
    {ORCHESTRATOR, "MigrateRun", "POST", "/v1/runs/{run_id}:migrate"},
    {ORCHESTRATOR, "ListThreads", "GET", "/v1/threads"},
    {ORCHESTRATOR, "DeleteThread", "DELETE", "/v1/threads/{thread_id}"},
    {ORCHESTRATOR, "GetState", "GET", "/v1/threads/{thread_id}/state"},
    {ORCHESTRATOR, "UpdateState", "POST", "/v1/threads/{thread_id}/state"},
    {ORCHESTRATOR, "ListCheckpoints", "GET", "/v1/threads/{thread_id}/checkpoints"},
    {ORCHESTRATOR, "ForkThread", "POST", "/v1/threads/{thread_id}:fork"},
    {ORCHESTRATOR, "CopyThread", "POST", "/v1/threads/{thread_id}:copy"},
    {ORCHESTRATOR, "ListAgents", "GET", "/v1/agents"},
    {ORCHESTRATOR, "DescribeAgent", "GET", "/v1/agents/{agent}"},
    {HELPDESK, "Ask", "POST", "/v1/helpdesk:ask"},
    {HELPDESK, "AskStream", "POST", "/v1/helpdesk:askStream"},
    {DEEP, "Research", "POST", "/v1/deepResearch:research"},
    {DEEP, "ResearchStream", "POST", "/v1/deepResearch:researchStream"},
    {DEEP, "FollowUp", "POST", "/v1/deepResearch:followUp"},
    {AUTONOMOUS, "Research", "POST", "/v1/autonomousResearch:research"},
    {AUTONOMOUS, "ResearchStream", "POST", "/v1/autonomousResearch:researchStream"},
    {AUTONOMOUS, "Resume", "POST", "/v1/autonomousResearch:resume"},
    {AUTONOMOUS, "ResumeStream", "POST", "/v1/autonomousResearch:resumeStream"},
    {INTERVIEW, "Start", "POST", "/v1/interviews"},
    {INTERVIEW, "ListSessions", "GET", "/v1/interviews"},
    {INTERVIEW, "GetSession", "GET", "/v1/interviews/{session_id}"},
    {INTERVIEW, "DeleteSession", "DELETE", "/v1/interviews/{session_id}"},
    {INTERVIEW, "Answer", "POST", "/v1/interviews/{session_id}:answer"},
    {INTERVIEW, "AnswerStream", "POST", "/v1/interviews/{session_id}:answerStream"},
    {INTERVIEW, "Confirm", "POST", "/v1/interviews/{session_id}:confirm"},
    {ACE, "Generate", "POST", "/v1/ace:generate"},
    {ACE, "Reflect", "POST", "/v1/ace:reflect"},
    {ACE, "Curate", "POST", "/v1/ace:curate"},
    {ACE, "Adapt", "POST", "/v1/ace:adapt"},
    {ACE, "Feedback", "POST", "/v1/ace:feedback"},
    {GATEWAY, "ListModels", "GET", "/v1/models"},
    {GATEWAY, "GetUsage", "GET", "/v1/usage"},
    {GATEWAY, "Chat", "POST", "/v1/llm:chat"},
    {GATEWAY, "ChatStream", "POST", "/v1/llm:chatStream"},
    {GATEWAY, "Embed", "POST", "/v1/llm:embed"},
    {TOOLS, "ListTools", "GET", "/v1/tools"},
    {TOOLS, "RunTools", "POST", "/v1/tools:run"},
    {TOOLS, "Search", "POST", "/v1/documents:search"},
    {TOOLS, "IndexDocuments", "POST", "/v1/documents:index"},
    {TOOLS, "DeleteDocuments", "POST", "/v1/documents:delete"},
    {TOOLS, "GetKnowledgeBase", "GET", "/v1/knowledgeBase"},
    {TOOLS, "SaveNote", "POST", "/v1/notes"},
    {TOOLS, "ListNotes", "GET", "/v1/notes"},
    {TOOLS, "ForgetThread", "POST", "/v1/threads/{thread_id}:forget"},
    {TOOLS, "ListPlaybooks", "GET", "/v1/playbooks"},
    {TOOLS, "GetPlaybook", "GET", "/v1/playbooks/{dataset}"},
    {TOOLS, "PutPlaybook", "PUT", "/v1/playbooks/{dataset}"},
    {TOOLS, "DeletePlaybook", "DELETE", "/v1/playbooks/{dataset}"},
    {TOOLS, "ListPlaybookChanges", "GET", "/v1/playbooks/{dataset}/changes"},
    {TOOLS, "SearchPlaybook", "POST", "/v1/playbooks/{dataset}:search"},
    {TOOLS, "RestorePlaybook", "POST", "/v1/playbooks/{dataset}:restore"},
};
const size_t edge_route_count = sizeof edge_routes / sizeof edge_routes[0];

const char *const edge_internal_services[] = {"renga.v1.Planner", "renga.v1.Reviewer", "renga.v1.NodeService", NULL};
