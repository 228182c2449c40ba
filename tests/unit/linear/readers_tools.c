/* services/tool_runner: formulas, zones, arguments of tools, and messages of tool servers (MCP). */
#include "readers.h"

#include "base/buffer.h"
#include "instance/tool_runner_instance.h"
#include "knowledge/postings.h"
#include "mcp/mcp_priv.h"
#include "run/tool_call.h"
#include "run/tool_run.h"
#include "tools/formula.h"
#include "tools/zone.h"

static void tools_calculate(struct input *in)
{
    double value;
    formula_value(in->text, &value, &in->st);
}

static void find_zone(struct input *in)
{
    int32_t offset;
    zone_offset(in->text, 0, &offset, &in->st);
    zone_read(in->text, in->length, 0, &offset);
}

static void tools_read_arguments(struct input *in)
{
    static const struct tool tool = {.name = "tool"};
    const struct catalog_entry entry = {.tool = &tool};
    cJSON_Delete(tool_call_read_arguments(&entry, in->text, &in->st));
}

static void read_postings(struct input *in)
{
    struct postings postings = {.at = (const uint8_t *)in->text, .end = (const uint8_t *)in->text + in->length};
    for (struct posting posting; postings_next(&postings, &posting);) {
    }
}

/* ---- a server of tools ------------------------------------------------------------------------------------------- */

static void tools_drop(struct mcp_server *server, const struct buffer *message, struct mcp_request *request,
                       const char *method, const char *tool)
{
}

static const struct mcp_transport nowhere = {.send = tools_drop};

/* A runner with a loop that is never stepped: all work is done at once. */
static struct tool_runner *lone_runner(void)
{
    static struct tool_runner runner;
    if (!runner.loop)
        runner.loop = loop_create(0);
    return &runner;
}

/* The text as a message to a server that is being asked for its tools. */
static void tools_receive_bytes(const char *text, size_t length)
{
    static const struct mcp_setup setup = {
        .name = "server", .timeout_ms = 60000, .start_timeout_ms = 60000, .output_max = (size_t)16 << 20};
    const struct status over = {.code = UNAVAILABLE};
    struct mcp_server server = {.runner = lone_runner(), .loop = lone_runner()->loop};
    mcp_server_init(&server, NULL, &setup);
    server.transport = &nowhere;
    server.wire = &server;
    loop_enter(server.loop);
    mcp_list(&server);
    mcp_received(&server, text, length);
    mcp_fail_requests(&server, &over);
    loop_leave(server.loop);
    mcp_server_fini(&server);
}

static void receive_message(struct input *in)
{
    tools_receive_bytes(in->text, in->length);
}

static void receive_tools(struct input *in)
{
    buffer_printf(&in->out, "{\"id\":0,\"result\":%s}", in->text);
    tools_receive_bytes(buffer_text(&in->out), in->out.length);
}

static const cJSON *result_of_tool;

static void tools_write_result(struct tool_run *run)
{
    mcp_result_write(run, result_of_tool);
}

static void tools_run_ended(struct tool_run *run)
{
    ((struct input *)run->owner)->accepted = run->status.code == OK;
}

static void receive_result(struct input *in)
{
    static const struct tool tool = {.name = "tool", .start = tools_write_result, .size = 8};
    static const struct rpc_principal nobody = {.name = "", .tenant = ""};
    static const struct trace_context trace;
    struct tool_run_options options = {
        .tool = &tool,
        .runner = lone_runner(),
        .arguments = cJSON_CreateObject(),
        .arguments_json = "{}",
        .principal = &nobody,
        .trace = &trace,
        .timeout_ms = 60000,
        .output_max = (size_t)1 << 20,
        .ended = tools_run_ended,
        .owner = in,
    };
    result_of_tool = input_json(in);
    struct tool_run *run = tool_run_create(&options);
    loop_enter(options.runner->loop);
    tool_run_start(run);
    loop_leave(options.runner->loop);
    tool_run_release(&run);
}

#define LETTERS "pondpondpondpondpondpondpondpondpondpond"
#define TOOL    "{\"name\":\"a\",\"description\":\"b\",\"inputSchema\":{\"type\":\"object\"}}"

static const struct generator lists[] = {
    {"tools of a server", 0, .begin = "{\"tools\":[" TOOL,
     .unit = ",{\"name\":\"" LETTERS "\1\",\"inputSchema\":{\"type\":\"object\"}}", .end = "]}"},
    {"tools of one name", 0, .begin = "{\"tools\":[" TOOL, .unit = "," TOOL, .end = "]}"},
    {"tools whose names must be changed", 0, .begin = "{\"tools\":[" TOOL, .unit = ",{\"name\":\"a.b\1\"}",
     .end = "]}"},
    {"a long description", 0, .begin = "{\"tools\":[{\"name\":\"a\",\"description\":\"", .unit = "あ", .end = "\"}]}"},
    {"properties of a tool", 0, .begin = "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"properties\":{\"\":{}",
     .unit = ",\"p\1\":{\"type\":\"string\"}", .end = "}}}]}"},
    {"a long cursor", 0, .begin = "{\"tools\":[],\"nextCursor\":\"", .unit = "a", .end = "\"}"},
    {.name = NULL},
};

static const struct generator results[] = {
    {"parts of a result", 0, .begin = "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}",
     .unit = ",{\"type\":\"text\",\"text\":\"a\"}", .end = "]}"},
    {"parts that are left out", 0, .begin = "{\"content\":[{\"type\":\"image\"}", .unit = ",{\"type\":\"image\"}",
     .end = "]}"},
    {"a long part", 0, .begin = "{\"content\":[{\"type\":\"text\",\"text\":\"", .unit = "あ", .end = "\"}]}"},
    {"a structure", 0, .begin = "{\"structuredContent\":{\"a\":0", .unit = ",\"a\1\":0", .end = "}}"},
    {.name = NULL},
};

const struct reader readers_tools[] = {
    {"formula", tools_calculate, .sets = HOSTILE_EXPRESSION},
    {"time zone", find_zone, .sets = HOSTILE_FIELD | HOSTILE_BYTES},
    {"arguments of a tool", tools_read_arguments, .sets = HOSTILE_JSON},
    {"postings of a file", read_postings, .sets = HOSTILE_BYTES | HOSTILE_EXPRESSION},
    {"message of a tool server", receive_message, .sets = HOSTILE_JSON},
    {"tools of a server", receive_tools, .own = lists},
    {"result of a tool", receive_result, .own = results, .accepts = true},
    {.name = NULL},
};
