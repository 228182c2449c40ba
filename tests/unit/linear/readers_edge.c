/* What clients of HTTP send to the edge: bodies, queries and paths. */
#include "readers.h"

#include "errors.h"
#include "header_list.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "routes.h"
#include "transcode.h"

static ProtobufCMessage *edge_message(struct input *in)
{
    const ProtobufCMessageDescriptor *type = in->reader->with;
    ProtobufCMessage *message = arena_alloc(&in->arena, type->sizeof_message);
    protobuf_c_message_init(type, message);
    return message;
}

/* The message is also written again, as an answer. */
static void edge_read_body(struct input *in)
{
    struct json_writer writer;
    ProtobufCMessage *message = edge_message(in);
    in->accepted = transcode_read_body(message, in->text, in->length, &in->arena, &in->st);
    if (!in->accepted)
        return;
    json_writer_init(&writer, &in->out);
    transcode_write(&writer, NULL, message);
}

static void edge_read_query(struct input *in)
{
    in->accepted = transcode_read_query(edge_message(in), in->text, NULL, &in->arena, &in->st);
    transcode_parameter(in->text, "after", &in->arena);
}

static void edge_read_path(struct input *in)
{
    struct edge_path path;
    struct edge_match match;
    if (edge_path_read(in->text, &in->arena, &path, &in->st))
        edge_route_match(&path, "GET", &match);
}

static void edge_read_details(struct input *in)
{
    struct json_writer writer;
    struct status st = {.code = ABORTED, .text = "why"};
    json_writer_init(&writer, &in->out);
    edge_error_write(&writer, NULL, 0, &st, in->text, in->length);
}

static void edge_read_lists(struct input *in)
{
    size_t length;
    header_list_accepts(in->text, "text/event-stream");
    header_list_find(in->text, "gzip");
    header_list_cookie(in->text, "renga_session_8080", &length);
}

static const struct generator lists[] = {
    {"media types", 0, .unit = "text/html;q=0.5, "},
    {"parameters of a type", 0, .begin = "text/event-stream", .unit = ";q=1"},
    {"parameters that are no quality", 0, .begin = "text/event-stream", .unit = ";\tq"},
    {"commas", 0, .unit = ", "},
    {"cookies", 0, .unit = "a\1=b; "},
    {"cookies of nearly the name", 0, .unit = "renga_session_808=b; "},
    {"semicolons", 0, .unit = ";"},
    {.name = NULL},
};

static const struct generator runs[] = {
    {"nodes to stop before", 0, .begin = "{\"agent\":\"a\",\"interruptBefore\":[\"a\"", .unit = ",\"b\"", .end = "]}"},
    {"labels", 0, .begin = "{\"agent\":\"a\",\"labels\":{\"a\":\"a\"", .unit = ",\"k\1\":\"b\"", .end = "}}"},
    {"labels of one name", 0, .begin = "{\"labels\":{\"a\":\"a\"", .unit = ",\"b\":\"b\"", .end = "}}"},
    {"unknown fields", 0, .begin = "{\"agent\":\"a\"", .unit = ",\"agent\1\":\"b\"", .end = "}"},
    {"an input", 0, .begin = "{\"inputJson\":{\"a\":[0", .unit = ",1", .end = "]}}"},
    {"values of a wrong type", 0, .begin = "{\"interruptBefore\":[1", .unit = ",1", .end = "]}"},
    {.name = NULL},
};

static const struct generator chats[] = {
    {"messages of a chat", 0, .begin = "{\"messages\":[{\"content\":\"a\"}",
     .unit = ",{\"role\":\"CHAT_ROLE_USER\",\"content\":\"a\"}", .end = "]}"},
    {"tools of a chat", 0, .begin = "{\"tools\":[{\"name\":\"a\"}", .unit = ",{\"name\":\"a\1\",\"parametersJson\":{}}",
     .end = "]}"},
    {.name = NULL},
};

static const struct generator queries[] = {
    {"parameters", 0, .begin = "agent=a", .unit = "&states=1"},
    {"labels of a query", 0, .begin = "agent=a", .unit = "&labels.k\1=1"},
    {"one long parameter", 0, .begin = "agent=", .unit = "%41+"},
    {"points of a name", 0, .begin = "a", .unit = ".a"},
    {"marks", 0, .unit = "&"},
    {.name = NULL},
};

static const struct generator paths[] = {
    {"parts of a path", 0, .unit = "/v1"},
    {"verbs of a path", 0, .begin = "/v1/runs/a", .unit = ":a"},
    {"a long name", 0, .begin = "/v1/runs/", .unit = "%e3%81%82"},
    {.name = NULL},
};

const struct reader readers_edge[] = {
    {"body of a run over HTTP", edge_read_body, .sets = HOSTILE_JSON, .own = runs,
     .with = &renga__v1__start_run_request__descriptor, .accepts = true},
    {"body of a chat over HTTP", edge_read_body, .own = chats, .with = &renga__v1__chat_request__descriptor,
     .accepts = true},
    {"query over HTTP", edge_read_query, .sets = HOSTILE_FIELD, .own = queries,
     .with = &renga__v1__list_runs_request__descriptor, .accepts = true},
    {"path over HTTP", edge_read_path, .sets = HOSTILE_FIELD, .own = paths},
    {"lists in headers", edge_read_lists, .sets = HOSTILE_HEAD | HOSTILE_FIELD, .own = lists},
    {"details of an error", edge_read_details, .sets = HOSTILE_BYTES},
    {.name = NULL},
};
