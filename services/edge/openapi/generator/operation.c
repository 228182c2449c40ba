#include "operation.h"

#include "parameter.h"
#include "prose.h"
#include "schema.h"

#include "base/buffer.h"
#include "http/server.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HTTP_STATUS_MAX       600
#define RESPONSE_BYTES_MAX    (64u << 10)
#define OPERATION_VERB_MAX    8 /* bytes of "delete", the NUL included */
#define STATUS_CODE_BIT(code) (1u << (code))

static void reference_add(cJSON *list, const char *reference)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "$ref", reference);
    cJSON_AddItemToArray(list, item);
}

static bool has_body(const struct edge_route *route)
{
    return strcmp(route->verb, "POST") == 0 || strcmp(route->verb, "PUT") == 0;
}

/* ---- Parameters and body ---------------------------------------------------------------------------------------- */

/* Whether the request has the field, or its options have it, as those of the typed agents do. */
static bool request_has(const struct contract *contract, const struct contract_type *request, const char *name)
{
    const FieldProto *options = contract_find_field(request, "options");
    return contract_find_field(request, name) ||
           (options && options->type_name && strcmp(options->type_name, ".renga.v1.AgentOptions") == 0 &&
            contract_find_field(contract_find_type(contract, options->type_name), name));
}

static bool parameters_write(struct contract *contract, const struct edge_route *route,
                             const struct contract_method *method, cJSON *operation, struct status *st)
{
    cJSON *parameters = cJSON_AddArrayToObject(operation, "parameters");
    if (!parameter_write_path(contract, route->path, method->request, parameters, st))
        return false;
    if (!has_body(route))
        parameter_write_query(contract, route->path, method->request, parameters);
    if (request_has(contract, method->request, "request_id") || contract_find_field(method->request, "idempotency_key"))
        reference_add(parameters, "#/components/parameters/IdempotencyKey");
    if (method->server_streams && request_has(contract, method->request, "after_event_id")) {
        reference_add(parameters, "#/components/parameters/LastEventId");
        reference_add(parameters, "#/components/parameters/After");
    }
    reference_add(parameters, "#/components/parameters/RequestTimeout");
    return true;
}

static bool requires_field(struct contract *contract, const struct contract_type *request, const char *path)
{
    for (size_t i = 0; i < request->message->n_field; i++) {
        const char *variable = arena_printf(&contract->arena, "{%s}", request->message->field[i]->name);
        if (schema_is_required(contract, request, i) && !strstr(path, variable))
            return true;
    }
    return false;
}

static cJSON *content_add(cJSON *owner, const char *type)
{
    cJSON *content = cJSON_GetObjectItemCaseSensitive(owner, "content");
    return cJSON_AddObjectToObject(content ? content : cJSON_AddObjectToObject(owner, "content"), type);
}

static void body_write(struct contract *contract, const struct edge_route *route, const struct contract_type *request,
                       const cJSON *example, cJSON *operation)
{
    cJSON *body = cJSON_AddObjectToObject(operation, "requestBody");
    cJSON_AddStringToObject(body, "description", prose_markdown(&contract->arena, request->comment));
    cJSON_AddBoolToObject(body, "required", requires_field(contract, request, route->path));
    cJSON *media = content_add(body, "application/json");
    cJSON_AddItemToObject(media, "schema", schema_reference(contract, request, SCHEMA_REQUEST));
    if (example)
        cJSON_AddItemToObject(media, "example", cJSON_Duplicate(example, true));
}

/* ---- Answers ---------------------------------------------------------------------------------------------------- */

/* OpenAPI 3.1 cannot type the events of a stream: the schema is of the text, and x-event-schema of one event. */
static void stream_write(struct contract *contract, const struct contract_type *event, cJSON *response)
{
    static const char *const types[] = {"application/x-ndjson", "text/event-stream"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        cJSON *schema = cJSON_AddObjectToObject(content_add(response, types[i]), "schema");
        cJSON_AddStringToObject(schema, "type", "string");
        cJSON_AddItemToObject(schema, "x-event-schema", schema_reference(contract, event, SCHEMA_RESPONSE));
    }
}

static void answer_write(struct contract *contract, const struct contract_method *method, const cJSON *example,
                         cJSON *responses)
{
    cJSON *response = cJSON_AddObjectToObject(responses, "200");
    const char *comment = prose_markdown(&contract->arena, method->response->comment);
    cJSON_AddStringToObject(response, "description",
                            method->server_streams ? arena_printf(&contract->arena, "A stream of events. %s", comment)
                                                   : comment);
    if (method->server_streams) {
        stream_write(contract, method->response, response);
        return;
    }
    cJSON *media = content_add(response, "application/json");
    cJSON_AddItemToObject(media, "schema", schema_reference(contract, method->response, SCHEMA_RESPONSE));
    if (example)
        cJSON_AddItemToObject(media, "example", cJSON_Duplicate(example, true));
}

/* Adds the rows of a comment's list of errors that HTTP tells as `http_status`. */
static void rows_print(struct contract *contract, const char *comment, int http_status, struct buffer *out)
{
    struct prose_item items[PROSE_ITEMS_MAX];
    size_t count = prose_split(&contract->arena, comment, items);
    for (size_t i = 0; i < count; i++)
        for (int code = OK + 1; code < STATUS_CODES_COUNT; code++)
            if (items[i].codes & STATUS_CODE_BIT(code) && http_status_of(code) == http_status)
                buffer_printf(out, "%s- `%s`: %s", out->length ? "\n" : "", status_code_name(code), items[i].text);
}

static void error_write(const char *description, int http_status, cJSON *responses)
{
    char key[8];
    snprintf(key, sizeof key, "%d", http_status);
    cJSON *response = cJSON_AddObjectToObject(responses, key);
    cJSON_AddStringToObject(response, "description", description);
    cJSON *schema = cJSON_AddObjectToObject(content_add(response, "application/json"), "schema");
    cJSON_AddStringToObject(schema, "$ref", "#/components/schemas/Error");
}

/* The errors that the comments of the method and of its service list; any other is the default. */
static void errors_write(struct contract *contract, const struct edge_route *route,
                         const struct contract_method *method, cJSON *responses)
{
    for (int status = 400; status < HTTP_STATUS_MAX; status++) {
        struct buffer rows;
        buffer_init(&rows, RESPONSE_BYTES_MAX);
        rows_print(contract, method->comment, status, &rows);
        rows_print(contract, method->service_comment, status, &rows);
        if (rows.length > 0)
            error_write(buffer_text(&rows), status, responses);
        else if (has_body(route) && (status == 413 || status == 415))
            cJSON_AddStringToObject(cJSON_AddObjectToObject(responses, status == 413 ? "413" : "415"), "$ref",
                                    status == 413 ? "#/components/responses/BodyTooLarge"
                                                  : "#/components/responses/NotJson");
        buffer_fini(&rows);
    }
    cJSON_AddStringToObject(cJSON_AddObjectToObject(responses, "default"), "$ref", "#/components/responses/Error");
}

/* ---- The operation ---------------------------------------------------------------------------------------------- */

static const char *service_name(const struct contract_method *method)
{
    return strrchr(method->service, '.') + 1;
}

/* A request message has one body schema, so that all its paths must take the same fields. */
static bool bind_path(struct contract *contract, const struct edge_route *route, struct contract_type *request,
                      struct status *st)
{
    const char *own = strchr(route->path, '{'), *other = request->path_bound ? strchr(request->path_bound, '{') : own;
    if (!has_body(route))
        return true;
    if (!own != !other || (own && strncmp(own, other, strcspn(own, "}")) != 0))
        return fail(st, INVALID_ARGUMENT, "%s and %s take other fields of %s from the path", route->path,
                    request->path_bound, request->full_name);
    request->path_bound = route->path;
    schema_use(contract, request, SCHEMA_REQUEST);
    return true;
}

static bool operation_fill(struct contract *contract, const struct edge_route *route,
                           const struct contract_method *method, const cJSON *examples, cJSON *operation,
                           struct status *st)
{
    const char *name = arena_printf(&contract->arena, "%s_%s", service_name(method), method->name);
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(examples, name);
    cJSON_AddStringToObject(operation, "operationId", name);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(operation, "tags"), cJSON_CreateString(service_name(method)));
    cJSON_AddStringToObject(operation, "summary", prose_summary(&contract->arena, method->comment));
    cJSON_AddStringToObject(operation, "description", prose_markdown(&contract->arena, method->comment));
    if (!bind_path(contract, route, method->request, st) || !parameters_write(contract, route, method, operation, st))
        return false;
    if (has_body(route))
        body_write(contract, route, method->request, cJSON_GetObjectItemCaseSensitive(own, "request"), operation);
    schema_use(contract, method->response, SCHEMA_RESPONSE);
    cJSON *responses = cJSON_AddObjectToObject(operation, "responses");
    answer_write(contract, method, cJSON_GetObjectItemCaseSensitive(own, "response"), responses);
    errors_write(contract, route, method, responses);
    cJSON_AddStringToObject(operation, "x-grpc-method",
                            arena_printf(&contract->arena, "%s/%s", method->service, method->name));
    return true;
}

bool operation_write(struct contract *contract, const struct edge_route *route, const cJSON *examples, cJSON *paths,
                     struct status *st)
{
    char verb[OPERATION_VERB_MAX] = "";
    const struct contract_method *method = contract_find_method(contract, route->service->name, route->method);
    if (!method)
        return fail(st, INVALID_ARGUMENT, "%s: the contract has no method %s of %s", route->path, route->method,
                    route->service->name);
    const char *path = parameter_path(contract, route->path, method->request);
    for (size_t i = 0; route->verb[i] && i + 1 < sizeof verb; i++)
        verb[i] = (char)tolower((unsigned char)route->verb[i]);
    cJSON *item = cJSON_GetObjectItemCaseSensitive(paths, path);
    cJSON *operation = cJSON_AddObjectToObject(item ? item : cJSON_AddObjectToObject(paths, path), verb);
    return operation_fill(contract, route, method, examples, operation, st);
}

void operation_write_tags(struct contract *contract, cJSON *tags)
{
    const char *last = "";
    for (size_t i = 0; i < edge_route_count; i++) {
        const struct contract_method *method =
            contract_find_method(contract, edge_routes[i].service->name, edge_routes[i].method);
        if (strcmp(method->service, last) == 0)
            continue;
        cJSON *tag = cJSON_CreateObject();
        cJSON_AddStringToObject(tag, "name", service_name(method));
        cJSON_AddStringToObject(tag, "description", prose_markdown(&contract->arena, method->service_comment));
        cJSON_AddItemToArray(tags, tag);
        last = method->service;
    }
}
