/* `renga tools`: which tools there are, as the tool-runner has them. */
#include "commands.h"
#include "gateway.h"
#include "orchestrator_client.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"
#include "table.h"
#include "tool_runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME        "renga tools"
#define SUMMARY_MAX 72 /* bytes of a description in the table */

static const struct option options[] = {
    TABLE_OPTIONS,
    CONNECT_OPTION("Ask a tool-runner that runs, HOST:PORT of it or of 'renga serve', instead of one with this "
                   "configuration."),
    {0},
};

struct tools {
    struct command_call call; /* first */
    ProtobufCService *runner;
    const struct config *config;
    Renga__V1__ListToolsRequest request;
    bool missing; /* a tool that was named is not there */
};

/* The first line, cut at a character. */
static const char *summary(struct table *table, const char *text)
{
    size_t length = strcspn(text, "\r\n"), room = length < SUMMARY_MAX ? length : SUMMARY_MAX;
    while (room && ((unsigned char)text[room] & 0xc0) == 0x80)
        room--;
    char *cell = arena_printf(&table->arena, "%.*s%s", (int)room, text, room < length ? "…" : "");
    return cell ? table_text(table, cell) : "";
}

static void print_table(const Renga__V1__ListToolsResponse *response)
{
    static const struct table_column columns[] = {
        {"tool", false}, {"server", false}, {"changes", false}, {"seconds", true}, {"what it does", false}};
    struct table table;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < response->n_tools; i++) {
        const Renga__V1__Tool *tool = response->tools[i];
        const char **cells = table_row(&table);
        if (!cells)
            break;
        cells[0] = table_text(&table, tool->definition->name);
        cells[1] = table_text(&table, tool->server[0] ? tool->server : "-");
        cells[2] = tool->side_effects ? "yes" : "no";
        cells[3] = table_print_cell(&table, "%" PRId64, tool->timeout_ms / 1000);
        cells[4] = summary(&table, tool->definition->description);
    }
    table_print(&table, stdout, false);
    table_fini(&table);
}

static bool tools_has(const Renga__V1__ListToolsResponse *response, const char *name)
{
    for (size_t i = 0; i < response->n_tools; i++)
        if (strcmp(response->tools[i]->definition->name, name) == 0)
            return true;
    return false;
}

static void tools_print(struct tools *tools, const Renga__V1__ListToolsResponse *response)
{
    if (config_boolean(tools->config, "json"))
        message_print_json(&response->base);
    else if (response->n_tools || !tools->request.n_names)
        print_table(response);
    for (size_t i = 0; i < tools->request.n_names; i++) {
        if (tools_has(response, tools->request.names[i]))
            continue;
        tools->missing = true;
        fprintf(stderr, NAME ": there is no tool '%s'; '" NAME "' lists them\n", tools->request.names[i]);
    }
    for (size_t i = 0; i < response->n_degradations; i++)
        fprintf(stderr, NAME ": %s: %s\n", response->degradations[i]->part, response->degradations[i]->reason);
}

static void tools_answered(const Renga__V1__ListToolsResponse *response, void *data)
{
    struct tools *tools = ((struct rpc_client_call *)data)->owner;
    if (response)
        tools_print(tools, response);
    command_call_ended(&tools->call);
}

static void tools_begin(struct command_call *call)
{
    struct tools *tools = (struct tools *)call;
    renga__v1__tool_runner__list_tools(tools->runner, &tools->request, tools_answered, &call->call);
}

static int tools_list(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    size_t count;
    const char *const *names = config_arguments(config, &count);
    struct tools tools = {.call.begin = tools_begin, .config = config};
    renga__v1__list_tools_request__init(&tools.request);
    tools.request.names = (char **)(uintptr_t)names;
    tools.request.n_names = count;
    tools.runner = process_stub(process, &renga__v1__tool_runner__descriptor, &st);
    if (!tools.runner) {
        fprintf(stderr, NAME ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    command_call_prepare(&tools.call, process, config_duration_ms(config, "timeout"));
    return command_call_run(&tools.call, NAME) && !tools.missing ? COMMAND_OK : COMMAND_FAILED;
}

static int tools(int argc, char **argv)
{
    static const struct service *const runner[] = {&tool_runner_service, &llm_gateway_service, NULL};
    static const struct peer peers[] = {{CONNECT, &renga__v1__tool_runner__descriptor},
                                        {"peers.tool_runner", &renga__v1__tool_runner__descriptor},
                                        {"peers.llm_gateway", &renga__v1__llm_gateway__descriptor},
                                        {0}};
    struct daemon daemon = command_daemon(
        NAME, "lists the tools that agents may use: of a tool-runner that runs, or of one with this configuration.",
        runner, argc, argv);
    daemon.usage = NAME " [OPTIONS] [NAME...]";
    daemon.examples = NAME " --connect 127.0.0.1:15000\n" NAME " --tool_runner.mcp mcp.json\n";
    daemon.extra_options = options;
    daemon.peers = peers;
    return command_with_process(&daemon, argc, argv, tools_list);
}

const struct command command_tools = {
    .name = "tools",
    .summary = "list the tools that agents may use",
    .run = tools,
};
