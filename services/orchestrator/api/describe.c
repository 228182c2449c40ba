/* The list of agents, and the description of an agent. */
#include "api.h"
#include "thread/request.h"

#include "graph/agents.h"
#include "rpc/rpc.h"
#include "runtime/runner.h"

#include <string.h>

#define LISTED_MAX        1000                /* agents, and problems, as ListAgentsResponse says */
#define PART_MAX          ((size_t)256 << 10) /* bytes of a drawing or a schema, as GraphDescription says */
#define PROBLEM_MAX       1024                /* bytes of a message, as AgentProblem says */
#define PROBLEM_FILE_MAX  256                 /* bytes */
#define PROBLEM_AGENT_MAX 64                  /* bytes */
#define NO_MEMORY         "no memory for the answer"

static Renga__V1__Agent *agent_message(struct arena *arena, const struct agent *agent)
{
    Renga__V1__Agent *message = arena_alloc(arena, sizeof *message);
    if (!message)
        return NULL;
    renga__v1__agent__init(message);
    message->name = arena_strdup(arena, agent->name);
    message->description = arena_strdup(arena, agent->description ? agent->description : "");
    message->graph_version = arena_strdup(arena, agent->version);
    message->loaded_ms = agent->loaded_ms;
    return message;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

struct list {
    struct access_control access;
    struct arena *arena;
    Renga__V1__ListAgentsResponse response;
    Renga__V1__Agent *agents[LISTED_MAX];
    Renga__V1__AgentProblem *problems[LISTED_MAX];
};

static void take_agent(const struct agent *agent, void *data)
{
    struct list *list = data;
    if (list->response.n_agents < LISTED_MAX && access_control_allows(&list->access, agent->name))
        list->agents[list->response.n_agents++] = agent_message(list->arena, agent);
}

static void take_problem(const struct agent_problem *problem, void *data)
{
    struct list *list = data;
    Renga__V1__AgentProblem *message = arena_alloc(list->arena, sizeof *message);
    if (list->response.n_problems == LISTED_MAX || !message || !access_control_allows(&list->access, problem->agent))
        return;
    renga__v1__agent_problem__init(message);
    message->agent = arena_strndup(list->arena, problem->agent, strnlen(problem->agent, PROBLEM_AGENT_MAX));
    message->file = arena_strndup(list->arena, problem->file, strnlen(problem->file, PROBLEM_FILE_MAX));
    message->line = problem->line;
    message->column = problem->column;
    message->message = arena_strndup(list->arena, problem->message, strnlen(problem->message, PROBLEM_MAX));
    list->problems[list->response.n_problems++] = message;
}

void list_agents(struct api *api, struct rpc_call *call, Renga__V1__ListAgentsResponse_Closure reply)
{
    struct list *list = arena_zalloc(rpc_call_arena(call), sizeof *list);
    if (!list) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, NO_MEMORY);
        return;
    }
    list->arena = rpc_call_arena(call);
    list->access = api_access_control(api, call);
    renga__v1__list_agents_response__init(&list->response);
    list->response.agents = list->agents;
    list->response.problems = list->problems;
    agents_each(api->orchestrator->agents, take_agent, take_problem, list);
    if (list->arena->exhausted)
        rpc_fail_with(call, RESOURCE_EXHAUSTED, NO_MEMORY);
    else
        reply(&list->response, call);
}

/* ---- a single agent ---------------------------------------------------------------------------------------------- */

/* Empty if it is larger than the contract allows. */
static char *describe_part(struct arena *arena, const struct graph *graph,
                           void (*write)(const struct graph *graph, struct buffer *out))
{
    struct buffer out;
    buffer_init(&out, PART_MAX);
    write(graph, &out);
    char *text = arena_strndup(arena, buffer_text(&out), out.length);
    buffer_fini(&out);
    return text;
}

static Renga__V1__GraphDescription *graph_message(struct arena *arena, const struct graph *graph)
{
    Renga__V1__GraphDescription *message = arena_alloc(arena, sizeof *message);
    if (!message)
        return NULL;
    renga__v1__graph_description__init(message);
    message->name = arena_strdup(arena, graph->name);
    message->mermaid = describe_part(arena, graph, graph_write_mermaid);
    message->document_json = arena_strdup(arena, graph->document_json);
    message->state_schema_json = describe_part(arena, graph, graph_write_state_schema);
    message->input_schema_json = describe_part(arena, graph, graph_write_input_schema);
    message->output_schema_json = describe_part(arena, graph, graph_write_output_schema);
    return message;
}

/* The versions are present; adds the graphs of the requested version. */
static bool add_graphs(struct arena *arena, const struct agent *agent, const struct agent *current,
                       Renga__V1__DescribeAgentResponse *response)
{
    Renga__V1__GraphDescription **graphs = arena_alloc(arena, agent->graph_count * sizeof *graphs);
    if (!graphs)
        return false;
    response->agent = agent_message(arena, current);
    for (size_t i = 0; i < agent->graph_count; i++)
        graphs[response->n_graphs++] = graph_message(arena, agent->graphs[i]);
    response->graphs = graphs;
    return !arena->exhausted;
}

static bool add_prompts(struct arena *arena, const struct agent *agent, Renga__V1__DescribeAgentResponse *response)
{
    response->prompts = arena_alloc(arena, agent->prompt_count * sizeof(*response->prompts));
    for (size_t i = 0; i < agent->prompt_count && !arena->exhausted; i++) {
        const struct prompt *prompt = &agent->prompts[i];
        Renga__V1__AgentPrompt *message = arena_alloc(arena, sizeof *message);
        if (!message)
            return false;
        renga__v1__agent_prompt__init(message);
        message->name = arena_strdup(arena, prompt->name);
        message->language = arena_strdup(arena, prompt->language);
        message->text = arena_strndup(arena, prompt->text, prompt->size);
        response->prompts[response->n_prompts++] = message;
    }
    return !arena->exhausted;
}

struct describe_call {
    struct request request; /* first */
    struct rpc_call *call;
    Renga__V1__DescribeAgentResponse_Closure reply;
    struct agents *agents;
};

/* The current version of the agent; if the name is gone and only an old version is left, the old version. */
static struct agent *current_of(struct agents *agents, struct agent *agent)
{
    struct status ignored = {0};
    struct agent *current = agents_find(agents, agent->name, "", &ignored);
    if (!current)
        agent_hold(current = agent);
    return current;
}

static void described(struct request *request)
{
    struct describe_call *self = (struct describe_call *)request;
    if (request->status.code != OK) {
        rpc_fail(self->call, &request->status);
        return;
    }
    struct agents *agents = self->agents; /* the answer frees the call */
    struct agent *agent = request->place, *current = current_of(agents, agent);
    Renga__V1__DescribeAgentResponse *response = (Renga__V1__DescribeAgentResponse *)request->response;
    const Renga__V1__DescribeAgentRequest *message = (const void *)request->message;
    if (add_graphs(request->arena, agent, current, response) &&
        (!message->with_prompts || add_prompts(request->arena, agent, response)))
        self->reply(response, self->call);
    else
        rpc_fail_with(self->call, RESOURCE_EXHAUSTED, NO_MEMORY);
    agent_release(agents, current);
    agent_release(agents, agent);
}

void describe_agent(struct api *api, struct rpc_call *call, const Renga__V1__DescribeAgentRequest *request,
                    Renga__V1__DescribeAgentResponse_Closure reply)
{
    struct status st = {0};
    const struct access_control access = api_access_control(api, call);
    if (!api_enter(api, call, &request->base))
        return;
    if (!access_control_check(&access, request->agent, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct describe_call *self = arena_zalloc(rpc_call_arena(call), sizeof *self);
    if (!self) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, NO_MEMORY);
        return;
    }
    self->call = call;
    self->reply = reply;
    self->agents = api->orchestrator->agents;
    self->request = (struct request){
        .loop = api->loop,
        .tenant = rpc_call_principal(call)->tenant,
        .message = &request->base,
        .arena = rpc_call_arena(call),
        .answered = described,
        .owner = self,
    };
    runner_run(api->orchestrator->runner, &self->request);
}
