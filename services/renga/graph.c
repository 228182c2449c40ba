/* `renga graph`: the list of agents, or a drawing of an agent. */
#include "orchestrator_client.h"

#include "graph/agents.h"

#include <stdio.h>

#define NAME          "renga graph"
#define VERSION_SHOWN 12 /* digits, on a terminal */
#define SCHEMA_MAX    ((size_t)1 << 20)

static const struct option options[] = {
    STRING_OPTION("graph_version", NULL, "HASH", "The version of the agent; unset is the current."),
    BOOLEAN_OPTION("schema", "false", "Print the JSON Schema of graph.json, for editors, and ask nobody."),
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

static void show_agent(const struct orchestrator_client *client, const Renga__V1__Agent *agent)
{
    char version[VERSION_SHOWN + 1];
    snprintf(version, sizeof version, "%s", agent->graph_version);
    show_cell(client, BOLD, 24, agent->name);
    show_cell(client, DIM, VERSION_SHOWN, client->terminal ? version : agent->graph_version);
    show_cell(client, PLAIN, 0, agent->description);
}

static void show_problem(const struct orchestrator_client *client, const Renga__V1__AgentProblem *problem)
{
    fflush(stdout);
    const char *between = *problem->agent ? "/" : ""; /* of the folder of all agents */
    char place[32] = "";
    if (problem->line)
        snprintf(place, sizeof place, ":%d:%d", problem->line, problem->column);
    fprintf(stderr, "%s%s%s%s%s: %s%s\n", colour(client, RED), problem->agent, between, problem->file, place,
            problem->message, colour(client, PLAIN));
}

static void agents_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__ListAgentsResponse *response = (const Renga__V1__ListAgentsResponse *)message;
    bool *broken = data;
    *broken = response->n_problems > 0;
    if (client->json) {
        message_print_json(message);
        return;
    }
    for (size_t i = 0; i < response->n_agents; i++)
        show_agent(client, response->agents[i]);
    for (size_t i = 0; i < response->n_problems; i++)
        show_problem(client, response->problems[i]);
}

static void agent_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__DescribeAgentResponse *response = (const Renga__V1__DescribeAgentResponse *)message;
    (void)data;
    if (client->json) {
        message_print_json(message);
        return;
    }
    for (size_t i = 0; i < response->n_graphs; i++) {
        if (response->n_graphs > 1)
            printf("%s%%%% %s%s\n", colour(client, BOLD), response->graphs[i]->name, colour(client, PLAIN));
        show_text(response->graphs[i]->mermaid);
    }
}

/* It depends only on the release: no orchestrator is needed. */
static int print_schema(void)
{
    struct buffer text;
    buffer_init(&text, SCHEMA_MAX);
    graph_write_document_schema(&text);
    puts(buffer_text(&text));
    bool good = !text.failed;
    buffer_fini(&text);
    return good ? COMMAND_OK : COMMAND_FAILED;
}

static int graph_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (config_boolean(config, "schema"))
        return print_schema();
    if (!orchestrator_client_open(&client, process, config, NAME, 0, 1, "name one agent at most"))
        return COMMAND_USAGE;
    const char *version = config_string(config, "graph_version");
    Renga__V1__ListAgentsRequest all = RENGA__V1__LIST_AGENTS_REQUEST__INIT;
    Renga__V1__DescribeAgentRequest one = RENGA__V1__DESCRIBE_AGENT_REQUEST__INIT;
    one.agent = (char *)(uintptr_t)client.arguments[0];
    one.graph_version = command_text(version);
    bool broken = false;
    bool asked = client.argument_count
                     ? orchestrator_client_call_soon(&client, "DescribeAgent", &one.base, agent_received, NULL)
                     : orchestrator_client_call_soon(&client, "ListAgents", &all.base, agents_received, &broken);
    return asked && !broken ? COMMAND_OK : COMMAND_FAILED;
}

static int graph(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "[AGENT]",
        .summary =
            "lists the agents and what is wrong with their documents, or draws one as Mermaid. Exit code 0: every "
            "agent is usable; 1: a document has a problem, or the call failed; 2: the command line is wrong.",
        .examples = "renga graph\n"
                    "renga graph helpdesk > helpdesk.mmd\n"
                    "renga graph --schema > graph.schema.json\n",
        .options = options,
        .work = graph_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_graph = {.name = "graph", .summary = "list agents, draw one as Mermaid", .run = graph};
