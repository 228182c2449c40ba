#include "openai_http_priv.h"

#include "admission/rate_limit_headers.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/trace.h"
#include "config/config.h"
#include "daemon/service.h"
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
#define CALL_LIMIT_MS ((int64_t)24 * 3600000) /* if rpc.call_max is not set */
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

/* ---- authorization ----------------------------------------------------------------------------------------------- */

const struct rpc_principal *openai_http_authorize(const struct openai_http *openai_http,
                                                  const struct http_request *request, const char *method,
                                                  struct status *st)
{
    static const struct rpc_principal anyone = {.name = "", .tenant = ""};
    char name[64];
    if (!openai_http->auth)
        return &anyone;
    const char *header = http_request_header(request, "authorization");
    snprintf(name, sizeof name, SERVICE "%s", method);
    return rpc_auth_check(openai_http->auth, header, header ? strlen(header) : 0, name, st);
}

/* A key that opens no method of the OpenAI HTTP interface shall not fill the memory that bodies may take. */
static bool key_opens_any(const struct openai_http *openai_http, const struct http_request *request, uint64_t *owner,
                          struct status *st)
{
    static const char *const methods[] = {"Chat", "ChatStream", "Embed", "ListModels"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        *st = (struct status){0};
        const struct rpc_principal *principal = openai_http_authorize(openai_http, request, methods[i], st);
        if (!principal)
            continue;
        *owner = budget_owner(principal->tenant, principal->name);
        return true;
    }
    return false;
}

/* Judges the key before any of the body is read; which methods the key may call is judged when the body is known.
 * Clients of this interface speak for themselves: an identity beside the key is refused, not ignored. */
static bool openai_http_is_admitted(const struct http_request *request, uint64_t *owner, struct status *st, void *data)
{
    if (http_request_header(request, FORWARDED))
        return fail(st, INVALID_ARGUMENT,
                    "the header " FORWARDED
                    " is not for this interface: nobody calls here on behalf of others; leave it "
                    "out");
    return key_opens_any(data, request, owner, st);
}

static void openai_http_refuse_key(struct http_request *request, const struct status *st, void *data)
{
    name_request(request);
    openai_http_fail_status(request, st);
}

const struct rpc_principal *openai_http_admit(const struct openai_http *openai_http, struct http_request *request,
                                              const char *method)
{
    struct status st = {0};
    const struct rpc_principal *principal = openai_http_authorize(openai_http, request, method, &st);
    if (!principal)
        openai_http_fail_status(request, &st);
    return principal;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Forms of a browser, which any page may send, are not JSON. */
static bool openai_http_is_json(const struct http_request *request)
{
    const char *type = http_request_header(request, "content-type");
    size_t length = sizeof JSON_TYPE - 1;
    return type && strncasecmp(type, JSON_TYPE, length) == 0 && strchr("; \t", type[length]);
}

cJSON *openai_http_read_body(struct http_request *request, size_t *size)
{
    static const struct json_limits limits = {.values = VALUES_MAX};
    struct status st = {0};
    if (!openai_http_is_json(request)) {
        openai_http_refuse(request, 415, "unsupported_media_type", "the content-type must be " JSON_TYPE);
        return NULL;
    }
    const char *body = http_request_body(request, size);
    cJSON *root = json_parse(body, *size, &limits, &st);
    http_request_forget_body(request);
    if (!root)
        openai_http_refuse(request, 400, "invalid_json", "the body is not the JSON it should be: %s", st.text);
    return root;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void openai_http_client_left(struct http_request *request, void *data)
{
    struct openai_http_call *call = data;
    rpc_client_call_cancel(&call->base);
}

/* How long the client waits, as OpenAI's own SDKs tell it: in seconds. */
static int64_t timeout_of(const struct openai_http *openai_http, const struct http_request *request)
{
    const char *header = http_request_header(request, "x-stainless-timeout");
    char *end;
    double seconds = header ? strtod(header, &end) : 0;
    if (!header || end == header || *end || !(seconds > 0) || seconds * 1000 >= (double)openai_http->call_max_ms)
        return openai_http->call_max_ms;
    return (int64_t)(seconds * 1000) + 1;
}

struct openai_http_call *openai_http_call_create(struct openai_http *openai_http, struct http_request *request,
                                                 const struct rpc_principal *principal, size_t size)
{
    struct arena *arena = http_request_arena(request);
    struct openai_http_call *call = arena_zalloc(arena, size);
    if (!call) {
        openai_http_refuse(request, 500, NULL, "no memory for a call");
        return NULL;
    }
    rpc_client_call_init(&call->base, openai_http->loop, NULL);
    call->base.principal = principal;
    call->base.timeout_ms = timeout_of(openai_http, request);
    /* The client's own span becomes the parent of the call's. */
    const char *header = http_request_header(request, "traceparent");
    struct trace_context *trace = header ? arena_zalloc(arena, sizeof *trace) : NULL;
    call->base.trace = trace && rpc_trace_outside(trace, header, strlen(header)) ? trace : NULL;
    call->openai_http = openai_http;
    call->request = request;
    http_request_on_left(request, openai_http_client_left, call);
    openai_http->calls++;
    return call;
}

void openai_http_call_rate_limits(const struct openai_http_call *call)
{
    for (size_t i = 0; i < RATE_LIMIT_HEADERS; i++) {
        size_t size;
        const char *metadata = rpc_client_call_metadata(&call->base, rate_limit_header_names[i], &size);
        if (!metadata || size >= RATE_LIMIT_VALUE_MAX)
            continue;
        char value[RATE_LIMIT_VALUE_MAX];
        memcpy(value, metadata, size);
        value[size] = '\0';
        http_reply_header(call->request, rate_limit_header_names[i], value);
    }
}

static void check_drained(struct openai_http *openai_http)
{
    if (openai_http->stopped && !openai_http->calls && openai_http->drained)
        loop_defer(openai_http->loop, &openai_http->report);
}

void openai_http_call_ended(struct openai_http_call *call)
{
    call->openai_http->calls--;
    check_drained(call->openai_http);
}

void openai_http_origin_headers(struct http_request *request, const Renga__V1__AnsweredBy *by, Renga__V1__CacheUse use)
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

void openai_http_reply(struct http_request *request, struct buffer *out)
{
    size_t size;
    char *bytes = buffer_take(out, &size);
    if (bytes)
        http_reply_take(request, 200, JSON_TYPE, bytes, size);
    else
        openai_http_refuse(request, 500, NULL, "the answer has more than %zu bytes", out->limit);
}

/* ---- routes ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *method, *path;
    bool prefix; /* also all paths below it */
    void (*handle)(struct openai_http *openai_http, struct http_request *request);
} rows[] = {
    {"POST", "/v1/chat/completions", false, openai_http_chat},
    {"POST", "/v1/embeddings", false, openai_http_embed},
    {"GET", "/v1/models", false, openai_http_models},
    {"GET", "/v1/models/", true, openai_http_model},
};

/* Handles all methods and paths, so that every error has OpenAI's form. */
static void openai_http_handle(struct http_request *request, void *data)
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
            openai_http_refuse(request, 405, "method_not_allowed", "%s is not served at %.200s; use %s", method, path,
                               rows[i].method);
            return;
        }
    }
    openai_http_refuse(request, 404, "unknown_url", "nothing is served at %s %.200s", method, path);
}

static const struct http_route routes[] = {
    {"GET", "/", true, openai_http_handle},   {"POST", "/", true, openai_http_handle},
    {"PUT", "/", true, openai_http_handle},   {"DELETE", "/", true, openai_http_handle},
    {"PATCH", "/", true, openai_http_handle}, {"OPTIONS", "/", true, openai_http_handle},
};

/* ---- its life ---------------------------------------------------------------------------------------------------- */

static void report_drained(struct work *work)
{
    struct openai_http *openai_http = CONTAINER_OF(work, struct openai_http, report);
    void (*drained)(void *data) = openai_http->drained;
    openai_http->drained = NULL;
    drained(openai_http->drained_data);
}

static void server_stopped(void *data)
{
    struct openai_http *openai_http = data;
    openai_http->stopped = true;
    check_drained(openai_http);
}

struct openai_http *openai_http_create(const struct service_context *context, const struct openai_http_options *options,
                                       struct status *st)
{
    const struct config *config = context->config;
    size_t message_max = (size_t)config_size(config, "rpc.message_max");
    struct http_server_options server = {
        .listen = options->listen,
        .shares = options->first ? options->first->server : NULL,
        .body_max = BODY_FACTOR * message_max,
        .budget = context->budget,
        .body_weight = BODY_WEIGHT,
        .idle_ms = options->reader_wait_ms + LINGER_MS,
        .read_ms = options->read_ms,
        .connections_max = (options->connections + context->loop_count - 1) / context->loop_count,
        .connections_per_address =
            options->connections_per_address ? options->connections_per_address : HTTP_CONNECTIONS_UNBOUND,
        .keyless = !context->auth,
        .hosts = options->hosts,
    };
    struct openai_http *openai_http = xcalloc(1, sizeof *openai_http);
    openai_http->server = http_server_create(context->loop, &server, st);
    if (!openai_http->server) {
        free(openai_http);
        return NULL;
    }
    openai_http->loop = context->loop;
    openai_http->auth = context->auth;
    openai_http->stub = rpc_local_stub(context->schema, context->instances, message_max, context->answers);
    openai_http->message_max = message_max;
    openai_http->call_max_ms = config_duration_ms(config, "rpc.call_max");
    if (!openai_http->call_max_ms)
        openai_http->call_max_ms = CALL_LIMIT_MS;
    openai_http->opened_s = clock_wall_ns() / NS_PER_SEC;
    openai_http->report.run = report_drained;
    buffer_init(&openai_http->out, OUT_MAX);
    http_server_set_access(openai_http->server, &(struct http_access){.admits = openai_http_is_admitted,
                                                                      .refuse = openai_http_refuse_key,
                                                                      .data = openai_http});
    http_server_route(openai_http->server, routes, sizeof routes / sizeof routes[0], openai_http);
    return openai_http;
}

void openai_http_drain(struct openai_http *openai_http, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    openai_http->drained = drained;
    openai_http->drained_data = data;
    http_server_stop(openai_http->server, limit_ms, server_stopped, openai_http);
}

void openai_http_destroy(struct openai_http **openai_http_pointer)
{
    struct openai_http *openai_http = *openai_http_pointer;
    if (!openai_http)
        return;
    *openai_http_pointer = NULL;
    http_server_destroy(&openai_http->server);
    loop_undefer(openai_http->loop, &openai_http->report);
    protobuf_c_service_destroy(openai_http->stub);
    buffer_fini(&openai_http->out);
    free(openai_http);
}

int openai_http_port(const struct openai_http *openai_http)
{
    return http_server_port(openai_http->server);
}
