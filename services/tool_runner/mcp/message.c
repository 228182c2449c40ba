/* JSON-RPC 2.0: requests, notifications, and their answers. Our ids and the server's ids are separate. */
#include "base/trace.h"
#include "mcp_priv.h"
#include "json/writer.h"

#include <string.h>

#define META             "io.modelcontextprotocol/"
#define METHOD_NOT_FOUND (-32601)

/* ---- sent messages ----------------------------------------------------------------------------------------------- */

/* In 2026-07-28 each request carries clientInfo and capabilities; the trace is sent in both revisions. */
static void write_meta(const struct mcp_server *server, struct json_writer *writer, const struct trace_context *trace)
{
    char parent[TRACEPARENT_LENGTH + 1];
    if (!server->modern && !trace)
        return;
    json_write_object(writer, "_meta");
    if (server->modern) {
        json_write_string(writer, META "protocolVersion", MCP_REVISION_MODERN);
        json_write_object(writer, META "clientInfo");
        json_write_string(writer, "name", "renga");
        json_write_string(writer, "version", RENGA_VERSION);
        json_write_end(writer);
        json_write_object(writer, META "clientCapabilities");
        json_write_end(writer);
    }
    if (trace) {
        trace_format(trace, parent);
        json_write_string(writer, "traceparent", parent);
    }
    json_write_end(writer);
}

static void request_late(struct timer *timer)
{
    struct mcp_request *request = CONTAINER_OF(timer, struct mcp_request, late);
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "the tool server '%s' did not answer %s within %lld ms", request->server->setup->name,
         request->method, (long long)request->timeout_ms);
    mcp_request_cancel(request);
    request->answered(request, NULL, &st);
}

void mcp_request(struct mcp_server *server, struct mcp_request *request, const char *tool,
                 const struct trace_context *trace, void (*write)(struct json_writer *params, const void *data),
                 const void *data)
{
    struct buffer message;
    struct json_writer writer;
    request->server = server;
    request->id = server->next_id++;
    request->exchange = NULL;
    request->next = server->requests;
    server->requests = request;
    server->request_count++;
    request->late.expired = request_late;
    if (request->timeout_ms)
        loop_arm_after(server->loop, &request->late, request->timeout_ms);
    buffer_init(&message, MCP_MESSAGE_MAX);
    json_writer_init(&writer, &message);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "jsonrpc", "2.0");
    json_write_int(&writer, "id", request->id);
    json_write_string(&writer, "method", request->method);
    json_write_object(&writer, "params");
    if (write)
        write(&writer, data);
    write_meta(server, &writer, trace);
    json_write_end(&writer);
    json_write_end(&writer);
    server->transport->send(server, &message, request, request->method, tool);
    buffer_fini(&message);
}

void mcp_notify(struct mcp_server *server, const char *method,
                void (*write)(struct json_writer *params, const void *data), const void *data)
{
    struct buffer message;
    struct json_writer writer;
    buffer_init(&message, MCP_MESSAGE_MAX);
    json_writer_init(&writer, &message);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "jsonrpc", "2.0");
    json_write_string(&writer, "method", method);
    if (write) {
        json_write_object(&writer, "params");
        write(&writer, data);
        write_meta(server, &writer, NULL);
        json_write_end(&writer);
    }
    json_write_end(&writer);
    server->transport->send(server, &message, NULL, method, NULL);
    buffer_fini(&message);
}

/* ---- requests under way ------------------------------------------------------------------------------------------ */

static void forget(struct mcp_request *request, bool answered)
{
    struct mcp_server *server = request->server;
    struct mcp_request **at = &server->requests;
    while (*at && *at != request)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = request->next;
    server->request_count--;
    loop_disarm(server->loop, &request->late);
    if (request->exchange)
        server->transport->forget(request, answered);
}

void mcp_request_forget(struct mcp_request *request)
{
    forget(request, false);
}

static void write_cancelled(struct json_writer *params, const void *data)
{
    const struct mcp_request *request = data;
    json_write_int(params, "requestId", request->id);
    json_write_string(params, "reason", "not wanted any more");
}

void mcp_request_cancel(struct mcp_request *request)
{
    struct mcp_server *server = request->server;
    mcp_request_forget(request);
    if (server->wire && !server->failing)
        mcp_notify(server, "notifications/cancelled", write_cancelled, request);
}

void mcp_request_failed(struct mcp_request *request, const struct status *status)
{
    mcp_request_forget(request);
    request->answered(request, NULL, status);
}

void mcp_fail_requests(struct mcp_server *server, const struct status *status)
{
    while (server->requests)
        mcp_request_failed(server->requests, status);
}

/* ---- received messages ------------------------------------------------------------------------------------------- */

static struct mcp_request *message_find_request(const struct mcp_server *server, const cJSON *id)
{
    struct mcp_request *request = server->requests;
    while (request && !(cJSON_IsNumber(id) && id->valuedouble == (double)request->id))
        request = request->next;
    return request;
}

cJSON *mcp_take_result(struct mcp_server *server)
{
    cJSON *result = server->result;
    server->result = NULL;
    return result;
}

static void message_answered(struct mcp_server *server, cJSON *message, const cJSON *id)
{
    struct status st = {0};
    struct mcp_request *request = message_find_request(server, id);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(message, "error");
    if (!request)
        return; /* cancelled, or never asked */
    cJSON *result = cJSON_DetachItemFromObjectCaseSensitive(message, "result");
    if (!cJSON_IsObject(result)) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(error, "message"));
        double code = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(error, "code"));
        fail(&st, UNKNOWN, "%.400s (code %.0f)", text ? text : "neither a result nor an error came", code);
        cJSON_Delete(result);
        result = NULL;
    }
    forget(request, true);
    server->result = result;
    request->answered(request, result, &st);
    cJSON_Delete(mcp_take_result(server));
}

/* ping is answered; roots, sampling and elicitation we have not declared. */
static void message_reply(struct mcp_server *server, const char *method, const cJSON *id)
{
    struct buffer message;
    struct json_writer writer;
    buffer_init(&message, MCP_MESSAGE_MAX);
    json_writer_init(&writer, &message);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "jsonrpc", "2.0");
    json_write_tree(&writer, "id", id);
    if (strcmp(method, "ping") == 0) {
        json_write_object(&writer, "result");
    } else {
        json_write_object(&writer, "error");
        json_write_int(&writer, "code", METHOD_NOT_FOUND);
        json_write_string(&writer, "message", "Method not found");
    }
    json_write_end(&writer);
    json_write_end(&writer);
    server->transport->send(server, &message, NULL, NULL, NULL);
    buffer_fini(&message);
}

void mcp_dispatch(struct mcp_server *server, cJSON *message)
{
    const char *method = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "method"));
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(message, "id");
    if (!method)
        message_answered(server, message, id);
    else if (cJSON_IsNumber(id) || cJSON_IsString(id))
        message_reply(server, method, id);
    else if (strcmp(method, "notifications/tools/list_changed") == 0)
        mcp_list_changed(server);
}
