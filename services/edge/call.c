/* A request as a call of its method, and a unary answer. */
#include "edge_priv.h"

#include "base/memory.h"
#include "errors.h"
#include "header_list.h"
#include "loop/jobs.h"
#include "stream.h"
#include "transcode.h"
#include "writing.h"

#include "rpc/message_field.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METHOD_NAME_MAX 160
#define ARENA_FACTOR    4 /* memory of a message and of its JSON text, in multiples of the largest message */
#define ARENA_MORE      ((size_t)1 << 20)
#define READ_INLINE_MAX ((size_t)32 << 10) /* bytes of a body that the loop reads: at most a millisecond or two */
#define STORAGE_SIZE    4096               /* bytes of it that need no heap */

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void call_client_left(struct http_request *request, void *data)
{
    struct edge_call *call = data;
    rpc_client_call_cancel(&call->base);
}

const struct trace_context *edge_call_trace(const struct http_request *request, struct arena *arena)
{
    const char *header = http_request_header(request, "traceparent");
    struct trace_context *trace = header ? arena_zalloc(arena, sizeof *trace) : NULL;
    return trace && rpc_trace_outside(trace, header, strlen(header)) ? trace : NULL;
}

struct edge_call *edge_call_create(struct edge *edge, struct http_request *request,
                                   const struct rpc_principal *principal, bool streams, size_t size)
{
    struct arena *arena = http_request_arena(request);
    int64_t timeout_ms;
    struct status st = {0};
    if (!edge_deadline_read(request, &timeout_ms, &st)) {
        edge_fail(request, &st);
        return NULL;
    }
    struct edge_call *call = arena_zalloc(arena, size);
    if (!call) {
        edge_fail_with(request, RESOURCE_EXHAUSTED, "no memory for a call");
        return NULL;
    }
    int64_t most = streams ? edge->settings.call_max_ms : edge->settings.timeout_ms;
    rpc_client_call_init(&call->base, edge->loop, NULL);
    call->base.principal = principal;
    call->base.timeout_ms = timeout_ms ? timeout_ms : most;
    call->base.trace = edge_call_trace(request, arena);
    call->edge = edge;
    call->request = request;
    http_request_on_left(request, call_client_left, call);
    edge->calls++;
    return call;
}

/* ---- the request message ----------------------------------------------------------------------------------------- */

/* Forms of a browser, which any page may send, are not JSON. */
bool edge_body_is_json(const struct http_request *request)
{
    const char *type = http_request_header(request, "content-type");
    size_t length = sizeof EDGE_TYPE_JSON - 1;
    return type && strncasecmp(type, EDGE_TYPE_JSON, length) == 0 && strchr("; \t", type[length]);
}

/* The field of the message with this name, or of its `options`; `*holder` is the message that has it, made if absent.
 */
static const ProtobufCFieldDescriptor *call_find_field(ProtobufCMessage *message, const char *name, bool makes,
                                                       struct arena *arena, ProtobufCMessage **holder)
{
    const ProtobufCFieldDescriptor *field = edge_route_field(message->descriptor, name);
    *holder = message;
    if (field)
        return field;
    const ProtobufCFieldDescriptor *options = edge_route_field(message->descriptor, "options");
    if (!options || options->type != PROTOBUF_C_TYPE_MESSAGE || options->label == PROTOBUF_C_LABEL_REPEATED)
        return NULL;
    field = edge_route_field(options->descriptor, name);
    *holder = field && makes ? transcode_submessage(message, options, arena) : NULL;
    return field;
}

static bool call_key_is_valid(const char *key, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (key[i] < ' ' || key[i] > '~' || key[i] == '"')
            return false;
    return length > 0 && length <= 128;
}

/* Idempotency-Key fills the field that names a call: request_id, or idempotency_key. Bare or in quotes. */
static bool call_set_key(struct http_request *request, const struct rpc_method *method, ProtobufCMessage *message,
                         struct arena *arena, struct status *st)
{
    const char *key = http_request_header(request, "idempotency-key");
    size_t length = key ? strlen(key) : 0;
    ProtobufCMessage *holder = NULL;
    if (!key)
        return true;
    if (length >= 2 && key[0] == '"' && key[length - 1] == '"') {
        key++;
        length -= 2;
    }
    if (!call_key_is_valid(key, length))
        return fail_field(st, "Idempotency-Key", "must be 1 to 128 printable ASCII characters without quotes within");
    const ProtobufCFieldDescriptor *field = call_find_field(message, "request_id", true, arena, &holder);
    if (!field)
        field = call_find_field(message, "idempotency_key", true, arena, &holder);
    if (!field)
        return method->idempotent || fail_field(st, "Idempotency-Key", "has no place in a %s, which cannot be repeated",
                                                message->descriptor->short_name);
    char *text = arena_strndup(arena, key, length);
    if (!text || !holder)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the request");
    return transcode_set(holder, field, text, "the header Idempotency-Key", arena, st);
}

/* Last-Event-ID, or ?after=, is the event after which a stream continues. */
static bool call_set_after(struct http_request *request, const char *query, ProtobufCMessage *message,
                           struct arena *arena, struct status *st)
{
    const char *after = transcode_parameter(query, "after", arena);
    const char *last = http_request_header(request, "last-event-id");
    ProtobufCMessage *holder = NULL;
    if (last && *last)
        after = last; /* a client that comes back with the URL of its first request */
    if (!after || !*after)
        return true;
    const ProtobufCFieldDescriptor *field = call_find_field(message, "after_event_id", true, arena, &holder);
    if (!field)
        return fail_field(st, last ? "Last-Event-ID" : "after", "has no place here: events of this stream have no ids");
    if (!holder)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the request");
    if (last && *last) /* it is later than a number in the URL or in the body */
        memset((char *)holder + field->offset, 0, message_field_size(field));
    bool fits = transcode_set(holder, field, after, last ? "the header Last-Event-ID" : "after", arena, st);
    if (!fits && last && *last && st->code == INVALID_ARGUMENT) {
        status_clear(st);
        fail_field(st, "Last-Event-ID", "is no id of an event: a whole number, as the stream gave it");
    }
    return fits;
}

static bool call_read_message(struct http_request *request, const struct rpc_method *method, const char *query,
                              ProtobufCMessage *message, struct arena *arena, struct status *st)
{
    static const char *const of_streams[] = {"after", NULL};
    const char *verb = http_request_method(request);
    bool has_body = strcmp(verb, "POST") == 0 || strcmp(verb, "PUT") == 0;
    const char *const *skips = method->server_streams ? of_streams : NULL;
    size_t size;
    const char *body = http_request_body(request, &size);
    if (!has_body)
        return transcode_read_query(message, query, skips, arena, st);
    if (query && *query && !(skips && strncmp(query, "after=", 6) == 0 && !strchr(query, '&')))
        return fail(st, INVALID_ARGUMENT, "the fields of a %s stand in the body, not in the query", verb);
    if (query && *query && !transcode_parameter(query, "after", arena))
        return fail_field(st, "after", TRANSCODE_UNDECODABLE);
    return !size || transcode_read_body(message, body, size, arena, st);
}

/* The matched method's request, from path, query, body and headers. */
static bool call_read(struct edge *edge, struct http_request *request, const struct edge_match *match,
                      const struct rpc_method *method, ProtobufCMessage *message, struct arena *arena,
                      struct status *st)
{
    const char *target = http_request_target(request), *mark = strchr(target, '?');
    const char *query = mark ? mark + 1 : NULL;
    if (!call_read_message(request, method, query, message, arena, st))
        return false;
    for (size_t i = 0; i < match->count; i++) {
        const ProtobufCFieldDescriptor *field = edge_route_field(message->descriptor, match->names[i]);
        if (!transcode_set(message, field, match->values[i], "the path", arena, st))
            return false;
    }
    return call_set_key(request, method, message, arena, st) &&
           (!method->server_streams || call_set_after(request, query, message, arena, st));
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void call_written(struct writing *writing, void *data)
{
    struct http_request *request = data;
    if (writing->job.status.code == OK)
        edge_reply_json(writing->edge, request, 200, &writing->out);
    else
        edge_fail(request, &writing->job.status);
}

static void call_answered(const ProtobufCMessage *response, void *data)
{
    struct edge_call *call = data;
    struct edge *edge = call->edge;
    size_t size = rpc_client_call_received_bytes(&call->base);
    struct json_writer writer;
    struct status st = {0};
    if (!response) {
        edge_fail_call(call->request, &call->base);
    } else if (size > WRITE_INLINE_MAX && !writing_hold(edge, call->request, size, &st)) {
        edge_fail(call->request, &st);
    } else if (size > WRITE_INLINE_MAX) {
        writing_start(writing_create(edge, call->base.principal), response, size, call_written, call->request);
    } else {
        json_writer_init(&writer, &edge->out);
        transcode_write(&writer, NULL, response);
        edge_reply_json(edge, call->request, 200, &edge->out);
    }
    edge->calls--; /* `call` was in the request's memory */
    edge_check_drained(edge);
}

static void call_start(struct edge *edge, struct http_request *request, const struct edge_match *match,
                       const struct rpc_method *method, const ProtobufCMessage *message)
{
    char name[METHOD_NAME_MAX];
    struct status st = {0};
    const struct edge_peer *peer = edge_find_peer(edge, match->route->service);
    snprintf(name, sizeof name, "%s/%s", method->service, method->name);
    const struct rpc_principal *principal = edge_principal(edge, request, name, &st);
    if (principal && !peer->stub)
        st = peer->why;
    if (st.code != OK) {
        edge_fail(request, &st);
        return;
    }
    assert(peer->stub);
    if (method->server_streams && strcmp(http_request_method(request), "HEAD") == 0) {
        http_reply(request, 200, "text/event-stream; charset=utf-8", NULL, 0);
        return;
    }
    if (!method->server_streams && !header_list_accepts(http_request_header(request, "accept"), EDGE_TYPE_JSON)) {
        edge_refuse(request, 406, "the answer is " EDGE_TYPE_JSON ", which Accept leaves out");
        return;
    }
    if (method->server_streams) {
        stream_begin(edge, request, principal, peer->stub, method, message);
        return;
    }
    struct edge_call *call = edge_call_create(edge, request, principal, false, sizeof *call);
    if (call)
        peer->stub->invoke(peer->stub, method->index, message, call_answered, &call->base);
}

static const struct rpc_method *call_method(const struct edge *edge, const struct edge_route *route)
{
    size_t count;
    const struct rpc_method *methods = rpc_schema_service(edge->schema, route->service->name, &count);
    for (size_t i = 0; methods && i < count; i++)
        if (strcmp(methods[i].name, route->method) == 0)
            return &methods[i];
    return NULL;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A request that is read: of a small body at once, of a large one by a worker. */
struct call_reading {
    struct job job;
    struct edge *edge;
    struct http_request *request;
    struct edge_match match;
    const struct rpc_method *method;
    struct arena arena;
    ProtobufCMessage *message; /* NULL: `status` */
    size_t message_size;       /* packed */
    struct status status;
};

static void call_reading_init(struct call_reading *reading, struct edge *edge, struct http_request *request,
                              const struct edge_match *match, void *storage, size_t storage_size)
{
    *reading = (struct call_reading){
        .edge = edge,
        .request = request,
        .match = *match,
        .method = call_method(edge, match->route),
    };
    arena_init(&reading->arena, storage, storage_size, ARENA_FACTOR * edge->settings.message_max + ARENA_MORE);
}

static void call_reading_read(struct call_reading *reading)
{
    const ProtobufCMessageDescriptor *type = edge_route_method(reading->match.route)->input;
    ProtobufCMessage *message = arena_alloc(&reading->arena, type->sizeof_message);
    if (!message) {
        fail(&reading->status, RESOURCE_EXHAUSTED, "no memory for the request");
        return;
    }
    protobuf_c_message_init(type, message);
    if (!call_read(reading->edge, reading->request, &reading->match, reading->method, message, &reading->arena,
                   &reading->status))
        return;
    reading->message_size = protobuf_c_message_get_packed_size(message);
    reading->message = message;
}

static void call_reading_finish(struct call_reading *reading)
{
    size_t most = reading->edge->settings.message_max;
    if (!reading->message && reading->job.status.code == OK && reading->status.code == RESOURCE_EXHAUSTED)
        edge_refuse(reading->request, 413, "the request needs more memory than the %zu bytes that it may have: %s",
                    ARENA_FACTOR * most + ARENA_MORE, reading->status.text);
    else if (!reading->message)
        edge_fail(reading->request, &reading->status);
    else if (reading->message_size > most)
        edge_refuse(reading->request, 413, "the request has %zu bytes as a message, more than the %zu that are allowed",
                    reading->message_size, most);
    else /* which copies the message */
        call_start(reading->edge, reading->request, &reading->match, reading->method, reading->message);
    arena_fini(&reading->arena);
}

static void call_reading_run(struct job *job)
{
    call_reading_read(CONTAINER_OF(job, struct call_reading, job));
}

static void call_reading_ended(struct job *job)
{
    struct call_reading *reading = CONTAINER_OF(job, struct call_reading, job);
    struct edge *edge = reading->edge;
    if (job->status.code != OK)
        reading->status = job->status;
    call_reading_finish(reading);
    free(reading);
    edge->calls--;
    edge_check_drained(edge);
}

/* In a worker. While it reads, the request stays as it is: this handler has not answered it. */
static void call_read_large(struct edge *edge, struct http_request *request, const struct edge_match *match,
                            size_t size)
{
    char name[METHOD_NAME_MAX];
    struct status st = {0};
    snprintf(name, sizeof name, "%s/%s", match->route->service->name, match->route->method);
    const struct rpc_principal *principal = edge_principal(edge, request, name, &st);
    if (!principal) {
        edge_fail(request, &st);
        return;
    }
    struct call_reading *reading = xmalloc(sizeof *reading);
    call_reading_init(reading, edge, request, match, NULL, 0);
    reading->job = (struct job){
        .loop = edge->loop,
        .run = call_reading_run,
        .ended = call_reading_ended,
        .owner = job_owner(principal->tenant, principal->name),
    };
    edge->calls++;
    job_start(&reading->job, size);
}

void edge_call_begin(struct edge *edge, struct http_request *request, const struct edge_match *match)
{
    struct call_reading reading;
    char storage[STORAGE_SIZE];
    size_t size;
    http_request_body(request, &size);
    if (size && strcmp(match->route->verb, "POST") != 0 && strcmp(match->route->verb, "PUT") != 0) {
        edge_refuse(request, 400, "a %s has no body here; its fields stand in the query", match->route->verb);
        return;
    }
    if (size && !edge_body_is_json(request)) {
        edge_refuse(request, 415, "the body must have the Content-Type " EDGE_TYPE_JSON);
        return;
    }
    const char *coding = http_request_header(request, "content-encoding");
    if (size && coding && strcasecmp(coding, "identity") != 0) {
        edge_refuse(request, 415, "the body has the Content-Encoding '%.32s'; send it as it is", coding);
        return;
    }
    if (size > READ_INLINE_MAX) {
        call_read_large(edge, request, match, size);
        return;
    }
    call_reading_init(&reading, edge, request, match, storage, sizeof storage);
    call_reading_read(&reading);
    call_reading_finish(&reading);
}
