#include "door_priv.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/random.h"
#include "base/trace.h"
#include "daemon/service.h"
#include "limits/room.h"
#include "rpc/auth.h"
#include "rpc/channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VALUES_MAX    ((size_t)64 << 10)      /* in the JSON of a request */
#define BODY_FACTOR   2                       /* a body may be larger than the message it becomes: escapes, names */
#define BODY_WEIGHT   2                       /* the message that the call keeps, and the JSON for the upstream */
#define OUT_MAX       ((size_t)16 << 20)      /* bytes written at once */
#define LINGER_MS     5000                    /* for the gateway to give a slow reader up before the server does */
#define CALL_LIMIT_MS ((int64_t)24 * 3600000) /* where rpc.call_max sets none */
#define SERVICE       "renga.v1.LlmGateway/"
#define JSON_TYPE     "application/json"
#define FORWARDED     "renga-forwarded-bin" /* rpc/forwarded.h */

static void name_request(struct http_request *request)
{
    const uint64_t number[2] = {random_u64(), random_u64()};
    char id[sizeof "req_" + 2 * sizeof number] = "req_";
    trace_hex((const uint8_t *)number, sizeof number, id + strlen(id));
    http_reply_header(request, "x-request-id", id);
}

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

const struct rpc_principal *door_may(const struct door *door, const struct http_request *request, const char *method,
                                     struct status *st)
{
    static const struct rpc_principal anyone = {.name = "", .tenant = ""};
    char name[64];
    if (!door->auth)
        return &anyone;
    const char *header = http_request_header(request, "authorization");
    snprintf(name, sizeof name, SERVICE "%s", method);
    return rpc_auth_check(door->auth, header, header ? strlen(header) : 0, name, st);
}

/* A key that opens no method of the door shall not fill the memory that bodies may take. */
static bool key_opens_any(const struct door *door, const struct http_request *request, uint64_t *owner,
                          struct status *st)
{
    static const char *const methods[] = {"Chat", "ChatStream", "Embed", "ListModels"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        *st = (struct status){0};
        const struct rpc_principal *principal = door_may(door, request, methods[i], st);
        if (!principal)
            continue;
        *owner = budget_owner(principal->tenant, principal->name);
        return true;
    }
    return false;
}

/* Judges the key before any of the body is read; which methods the key may call is judged when the body is known.
 * Clients of this door speak for themselves: an identity beside the key is refused, not ignored. */
static bool is_admitted(const struct http_request *request, uint64_t *owner, struct status *st, void *data)
{
    if (http_request_header(request, FORWARDED))
        return fail(st, INVALID_ARGUMENT,
                    "the header " FORWARDED " is not for this door: nobody calls here on behalf of others; leave it "
                    "out");
    return key_opens_any(data, request, owner, st);
}

static void refuse_key(struct http_request *request, const struct status *st, void *data)
{
    name_request(request);
    door_fail_status(request, st);
}

const struct rpc_principal *door_admit(const struct door *door, struct http_request *request, const char *method)
{
    struct status st = {0};
    const struct rpc_principal *principal = door_may(door, request, method, &st);
    if (!principal)
        door_fail_status(request, &st);
    return principal;
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

/* Forms of a browser, which any page may send, are not JSON. */
static bool is_json(const struct http_request *request)
{
    const char *type = http_request_header(request, "content-type");
    size_t length = sizeof JSON_TYPE - 1;
    return type && strncasecmp(type, JSON_TYPE, length) == 0 && strchr("; \t", type[length]);
}

cJSON *door_read_body(struct http_request *request, size_t *size)
{
    static const struct json_limits limits = {.values = VALUES_MAX};
    struct status st = {0};
    if (!is_json(request)) {
        door_refuse(request, 415, "unsupported_media_type", "the content-type must be " JSON_TYPE);
        return NULL;
    }
    const char *body = http_request_body(request, size);
    cJSON *root = json_parse(body, *size, &limits, &st);
    http_request_forget_body(request);
    if (!root)
        door_refuse(request, 400, "invalid_json", "the body is not the JSON it should be: %s", st.text);
    return root;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void client_left(struct http_request *request, void *data)
{
    struct door_call *call = data;
    rpc_client_call_cancel(&call->base);
}

/* How long the client waits, as OpenAI's own SDKs tell it: in seconds. */
static int64_t timeout_of(const struct door *door, const struct http_request *request)
{
    const char *header = http_request_header(request, "x-stainless-timeout");
    char *end;
    double seconds = header ? strtod(header, &end) : 0;
    if (!header || end == header || *end || !(seconds > 0) || seconds * 1000 >= (double)door->call_max_ms)
        return door->call_max_ms;
    return (int64_t)(seconds * 1000) + 1;
}

/* The client's own span becomes the parent of the call's. */
static const struct trace_context *trace_of(const struct http_request *request, struct arena *arena)
{
    const char *header = http_request_header(request, "traceparent");
    struct trace_context *trace = header ? arena_zalloc(arena, sizeof *trace) : NULL;
    return trace && rpc_trace_outside(trace, header, strlen(header)) ? trace : NULL;
}

struct door_call *door_call_create(struct door *door, struct http_request *request,
                                   const struct rpc_principal *principal, size_t size)
{
    struct arena *arena = http_request_arena(request);
    struct door_call *call = arena_zalloc(arena, size);
    if (!call) {
        door_refuse(request, 500, NULL, "no memory for a call");
        return NULL;
    }
    rpc_client_call_init(&call->base, door->loop, NULL);
    call->base.principal = principal;
    call->base.timeout_ms = timeout_of(door, request);
    call->base.trace = trace_of(request, arena);
    call->door = door;
    call->request = request;
    http_request_on_left(request, client_left, call);
    door->calls++;
    return call;
}

void door_call_tell_room(const struct door_call *call)
{
    for (size_t i = 0; i < ROOM_HEADERS; i++) {
        size_t size;
        const char *metadata = rpc_client_call_metadata(&call->base, room_names[i], &size);
        if (!metadata || size >= ROOM_VALUE_MAX)
            continue;
        char value[ROOM_VALUE_MAX];
        memcpy(value, metadata, size);
        value[size] = '\0';
        http_reply_header(call->request, room_names[i], value);
    }
}

static void check_drained(struct door *door)
{
    if (door->stopped && !door->calls && door->drained)
        loop_defer(door->loop, &door->report);
}

void door_call_ended(struct door_call *call)
{
    call->door->calls--;
    check_drained(call->door);
}

void door_tell_origin(struct http_request *request, const Renga__V1__AnsweredBy *by, Renga__V1__CacheUse use)
{
    static const char *const uses[] = {
        [RENGA__V1__CACHE_USE__CACHE_USE_HIT] = "hit",
        [RENGA__V1__CACHE_USE__CACHE_USE_COALESCED] = "coalesced",
        [RENGA__V1__CACHE_USE__CACHE_USE_STORED] = "stored",
        [RENGA__V1__CACHE_USE__CACHE_USE_REPEATED] = "repeated",
    };
    if (by)
        http_reply_header(request, "x-renga-deployment", by->deployment);
    if ((size_t)use < sizeof uses / sizeof uses[0] && uses[use])
        http_reply_header(request, "x-renga-cache", uses[use]);
}

void door_reply(struct http_request *request, struct buffer *out)
{
    size_t size;
    char *bytes = buffer_take(out, &size);
    if (bytes)
        http_reply_take(request, 200, JSON_TYPE, bytes, size);
    else
        door_refuse(request, 500, NULL, "the answer has more than %zu bytes", out->limit);
}

/* ---- what is served ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *method, *path;
    bool prefix; /* also what stands below */
    void (*handle)(struct door *door, struct http_request *request);
} rows[] = {
    {"POST", "/v1/chat/completions", false, door_chat},
    {"POST", "/v1/embeddings", false, door_embed},
    {"GET", "/v1/models", false, door_models},
    {"GET", "/v1/models/", true, door_model},
};

/* All methods and paths come here, so that whatever is wrong is said in OpenAI's way. */
static void handle(struct http_request *request, void *data)
{
    const char *method = http_request_method(request), *path = http_request_path(request);
    name_request(request);
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool here =
            rows[i].prefix ? strncmp(path, rows[i].path, strlen(rows[i].path)) == 0 : strcmp(path, rows[i].path) == 0;
        if (here && strcmp(method, rows[i].method) == 0) {
            rows[i].handle(data, request);
            return;
        }
        if (here) {
            http_reply_header(request, "allow", rows[i].method);
            door_refuse(request, 405, "method_not_allowed", "%s is not served at %.200s; use %s", method, path,
                        rows[i].method);
            return;
        }
    }
    door_refuse(request, 404, "unknown_url", "nothing is served at %s %.200s", method, path);
}

static const struct http_route routes[] = {
    {"GET", "/", true, handle},    {"POST", "/", true, handle},  {"PUT", "/", true, handle},
    {"DELETE", "/", true, handle}, {"PATCH", "/", true, handle}, {"OPTIONS", "/", true, handle},
};

/* ---- its life ---------------------------------------------------------------------------------------------------- */

static void report_drained(struct work *work)
{
    struct door *door = OWNER_OF(work, struct door, report);
    void (*drained)(void *data) = door->drained;
    door->drained = NULL;
    drained(door->drained_data);
}

static void server_stopped(void *data)
{
    struct door *door = data;
    door->stopped = true;
    check_drained(door);
}

struct door *door_create(const struct service_context *context, const struct door_options *options, struct status *st)
{
    const struct config *config = context->config;
    size_t message_max = (size_t)config_size(config, "rpc.message_max");
    struct http_server_options server = {
        .listen = options->listen,
        .shares = options->first ? options->first->server : NULL,
        .body_max = BODY_FACTOR * message_max,
        .budget = context->budget,
        .body_weight = BODY_WEIGHT,
        .idle_ms = options->reader_patience_ms + LINGER_MS,
        .read_ms = options->read_ms,
        .connections_max = (options->connections + context->loop_count - 1) / context->loop_count,
        .connections_per_address =
            options->connections_per_address ? options->connections_per_address : HTTP_CONNECTIONS_UNBOUND,
        .keyless = !context->auth,
        .hosts = options->hosts,
    };
    struct door *door = calloc(1, sizeof *door);
    if (!door)
        fatal("llm_gateway.memory", "no memory for a door");
    door->server = http_server_create(context->loop, &server, st);
    if (!door->server) {
        free(door);
        return NULL;
    }
    door->loop = context->loop;
    door->auth = context->auth;
    door->stub = rpc_local_stub(context->schema, context->instances, message_max);
    door->message_max = message_max;
    door->call_max_ms = config_duration_ms(config, "rpc.call_max");
    if (!door->call_max_ms)
        door->call_max_ms = CALL_LIMIT_MS;
    door->opened_s = clock_wall_ns() / NS_PER_SEC;
    door->report.run = report_drained;
    buffer_init(&door->out, OUT_MAX);
    http_server_judge(door->server, &(struct http_judge){.admits = is_admitted, .refuse = refuse_key, .data = door});
    http_server_route(door->server, routes, sizeof routes / sizeof routes[0], door);
    return door;
}

void door_drain(struct door *door, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    door->drained = drained;
    door->drained_data = data;
    http_server_stop(door->server, limit_ms, server_stopped, door);
}

void door_destroy(struct door **door_pointer)
{
    struct door *door = *door_pointer;
    if (!door)
        return;
    *door_pointer = NULL;
    http_server_destroy(&door->server);
    loop_undefer(door->loop, &door->report);
    protobuf_c_service_destroy(door->stub);
    buffer_fini(&door->out);
    free(door);
}

int door_port(const struct door *door)
{
    return http_server_port(door->server);
}
