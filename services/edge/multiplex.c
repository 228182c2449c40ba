/* GET /v1/events:watch?runs=A,B&after.A=N: several runs in one stream, as a browser has six connections to a server.
 *
 * Each run is a WatchRun of its own, which follows the run over its waits. Data are its RunEvents, which have run_id.
 * The id of an event is a list of numbers, one for each run in the order of `runs`: the last event of each, so that a
 * client that comes back with it misses no event and sees no event twice. A run that ends, or cannot be watched, is
 * told by an event `end` or `error` with its run_id; the stream ends with the last of them. */
#include "multiplex.h"

#include "errors.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "stream.h"
#include "transcode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX      50
#define STARTS_A_TURN 4 /* calls of a stream that begin in one turn of the loop: others need it meanwhile */
#define RUN_ID_MAX    64
#define AFTER         "after."
#define WATCH_METHOD  "renga.v1.Orchestrator/WatchRun"

struct watched {
    struct rpc_client_call call; /* first */
    struct multiplex *watch;
    const char *run_id;
    int64_t after;      /* the last event that the client has */
    const char *reason; /* why the run stopped, of the last event that says so; NULL: no event said so */
    bool ended;
};

struct multiplex {
    struct edge_stream stream;
    struct edge *edge;
    struct http_request *request;
    const struct trace_context *trace;
    ProtobufCService *stub;
    const struct rpc_principal *principal;
    int64_t timeout_ms;
    size_t count, open;   /* open: not ended, whether started or not */
    size_t started;       /* the first ones of `runs` */
    struct work starting; /* of the others */
    bool cancelled;
    struct watched runs[];
};

static struct multiplex *watch_of(struct edge_stream *stream)
{
    return CONTAINER_OF(stream, struct multiplex, stream);
}

static void watch_each(struct edge_stream *stream, void (*act)(struct rpc_client_call *call))
{
    struct multiplex *watch = watch_of(stream);
    for (size_t i = 0; i < watch->started; i++)
        if (!watch->runs[i].ended)
            act(&watch->runs[i].call);
}

static void watch_pause(struct edge_stream *stream)
{
    watch_each(stream, rpc_client_call_pause);
}

static void watch_resume(struct edge_stream *stream)
{
    watch_each(stream, rpc_client_call_resume);
}

static void watch_cancel(struct edge_stream *stream)
{
    watch_of(stream)->cancelled = true;
    watch_each(stream, rpc_client_call_cancel);
}

static const struct edge_stream_ops watch_ops = {
    .pause = watch_pause,
    .resume = watch_resume,
    .cancel = watch_cancel,
};

static void watch_left(struct http_request *request, void *data)
{
    struct multiplex *watch = data;
    watch->stream.silent = true;
    watch_cancel(&watch->stream);
}

/* ---- events of the runs ------------------------------------------------------------------------------------------ */

#define POSITIONS_MAX (RUNS_MAX * 21)

static void watch_positions(const struct multiplex *watch, char positions[POSITIONS_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < watch->count; i++)
        used +=
            (size_t)snprintf(positions + used, POSITIONS_MAX - used, "%s%" PRId64, i ? "." : "", watch->runs[i].after);
}

static void watch_close_if_over(struct multiplex *watch)
{
    if (watch->open)
        return;
    struct edge *edge = watch->edge;
    stream_write_end(&watch->stream, "ALL_ENDED");
    stream_close(&watch->stream);
    edge->calls--;
    edge_check_drained(edge);
}

static void watch_run_ended(struct watched *run)
{
    struct multiplex *watch = run->watch;
    struct edge_stream *stream = &watch->stream;
    const char *name = run->call.status.code == OK ? "end" : "error";
    run->ended = true;
    watch->open--;
    if (!stream->silent) {
        struct json_writer writer = stream_event_begin(stream, name, NULL);
        json_write_object(&writer, NULL);
        json_write_string(&writer, "runId", run->run_id);
        if (run->call.status.code == OK)
            json_write_string(&writer, "reason", run->reason ? run->reason : REASON_NOT_SHOWN);
        else
            edge_error_write_call(&writer, "error", &run->call);
        json_write_end(&writer);
        stream_event_end(stream, &writer, name);
    }
    watch_close_if_over(watch);
}

static void watch_run_came(const ProtobufCMessage *message, void *data)
{
    struct watched *run = data;
    struct multiplex *watch = run->watch;
    char positions[POSITIONS_MAX];
    if (!message) {
        watch_run_ended(run);
        return;
    }
    if (watch->stream.silent)
        return;
    const Renga__V1__RunEvent *event = (const Renga__V1__RunEvent *)message;
    if (event->event_id > run->after)
        run->after = event->event_id;
    const char *reason = stream_reason_of(message);
    run->reason = reason ? reason : run->reason;
    watch_positions(watch, positions);
    stream_write_message(&watch->stream, positions, message);
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static bool watch_read_number(const char *text, const char *end, int64_t *number)
{
    char *stop;
    errno = 0;
    long long value = strtoll(text, &stop, 10);
    *number = value;
    return stop == end && text < end && text[strspn(text, "0123456789")] == *end && value >= 0 && errno == 0;
}

/* "12.7.0", in the order of the runs. */
static bool watch_read_positions(struct multiplex *watch, const char *positions, struct status *st)
{
    for (size_t i = 0; i < watch->count; i++) {
        const char *end = positions + strcspn(positions, ".");
        if (!watch_read_number(positions, end, &watch->runs[i].after) || (*end == '.') != (i + 1 < watch->count))
            return fail_field(st, "Last-Event-ID", "is no id of this stream: %zu numbers, apart by points",
                              watch->count);
        positions = end + 1;
    }
    return true;
}

static bool watch_read_after(struct multiplex *watch, struct http_request *request, const char *query,
                             struct status *st)
{
    struct arena *arena = http_request_arena(request);
    const char *last = http_request_header(request, "last-event-id");
    if (last && *last)
        return watch_read_positions(watch, last, st);
    for (size_t i = 0; i < watch->count; i++) {
        char *name = arena_printf(arena, AFTER "%s", watch->runs[i].run_id);
        const char *after = name ? transcode_parameter(query, name, arena) : NULL;
        if (after && !watch_read_number(after, after + strlen(after), &watch->runs[i].after))
            return fail_field(st, name, "must be the number of an event");
    }
    return true;
}

/* Of runs that the stream has; each parameter once. */
static bool watch_check_parameter(const struct multiplex *watch, const char *name, const char *value, bool *seen,
                                  struct status *st)
{
    bool is_after = strncmp(name, AFTER, sizeof AFTER - 1) == 0;
    size_t place = is_after ? 0 : watch->count;
    while (is_after && place < watch->count && strcmp(watch->runs[place].run_id, name + sizeof AFTER - 1) != 0)
        place++;
    if (is_after && place == watch->count)
        return fail_field(st, name, "names a run that is not in 'runs'");
    if (!is_after && strcmp(name, "runs") != 0)
        return fail_field(st, name, "is no parameter of events:watch; it takes runs=A,B and after.A=NUMBER");
    if (seen[place])
        return fail_field(st, name, "stands twice");
    if (!value)
        return fail_field(st, name, TRANSCODE_UNDECODABLE);
    return seen[place] = true;
}

static bool watch_check_query(const struct multiplex *watch, const char *query, struct arena *arena, struct status *st)
{
    bool seen[RUNS_MAX + 1] = {false};
    const char *name, *value;
    while ((name = transcode_next(&query, &value, arena)))
        if (!watch_check_parameter(watch, name, value, seen, st))
            return false;
    return true;
}

static struct multiplex *watch_read(struct edge *edge, struct http_request *request, const char *query,
                                    struct status *st)
{
    struct arena *arena = http_request_arena(request);
    const char *runs = transcode_parameter(query, "runs", arena);
    size_t count = runs && *runs ? 1 : 0;
    for (const char *at = runs; at && *at; at++)
        count += *at == ',';
    if (!count || count > RUNS_MAX) {
        fail_field(st, "runs", "must name 1 to %d runs, apart by commas", RUNS_MAX);
        return NULL;
    }
    struct multiplex *watch = arena_zalloc(arena, sizeof *watch + count * sizeof watch->runs[0]);
    if (!watch) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the stream");
        return NULL;
    }
    watch->edge = edge;
    watch->request = request;
    watch->trace = edge_call_trace(request, arena);
    for (const char *at = runs; watch->count < count; at += strcspn(at, ",") + 1) {
        struct watched *run = &watch->runs[watch->count++];
        size_t length = strcspn(at, ",");
        run->watch = watch;
        run->run_id = arena_strndup(arena, at, length);
        if (!length || length > RUN_ID_MAX || !run->run_id) {
            fail_field(st, "runs", "has an empty name, or one above %d bytes", RUN_ID_MAX);
            return NULL;
        }
        for (size_t i = 0; i + 1 < watch->count; i++)
            if (strcmp(watch->runs[i].run_id, run->run_id) == 0) {
                fail_field(st, "runs", "names a run twice");
                return NULL;
            }
    }
    bool reads = watch_check_query(watch, query, arena, st) && watch_read_after(watch, request, query, st) &&
                 edge_deadline_read(request, &watch->timeout_ms, st);
    return reads ? watch : NULL;
}

static void watch_start_run(struct multiplex *watch, struct watched *run)
{
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run->run_id;
    request.after_event_id = run->after;
    request.follow = true;
    rpc_client_call_init(&run->call, watch->edge->loop, NULL);
    run->call.principal = watch->principal;
    run->call.timeout_ms = watch->timeout_ms ? watch->timeout_ms : watch->edge->settings.call_max_ms;
    run->call.trace = watch->trace;
    renga__v1__orchestrator__watch_run(watch->stub, &request, (Renga__V1__RunEvent_Closure)watch_run_came, run);
    if (watch->stream.paused)
        rpc_client_call_pause(&run->call);
}

/* Starts some of the calls that have not begun, or drops these if the client is gone. */
static void watch_start_some(struct work *work)
{
    struct multiplex *watch = CONTAINER_OF(work, struct multiplex, starting);
    for (unsigned i = 0; i < STARTS_A_TURN && watch->started < watch->count && !watch->cancelled; i++)
        watch_start_run(watch, &watch->runs[watch->started++]);
    if (watch->started == watch->count)
        return;
    if (!watch->cancelled) {
        loop_post(watch->edge->loop, &watch->starting);
        return;
    }
    watch->open -= watch->count - watch->started;
    watch->count = watch->started;
    watch_close_if_over(watch);
}

static void watch_start(struct multiplex *watch, const struct edge_peer *peer, const struct rpc_principal *principal)
{
    watch->stub = peer->stub;
    watch->principal = principal;
    watch->open = watch->count;
    watch->starting.run = watch_start_some;
    watch->edge->calls++;
    http_request_on_left(watch->request, watch_left, watch);
    watch_start_some(&watch->starting);
}

void multiplex_watch(struct edge *edge, struct http_request *request)
{
    const char *query = strchr(http_request_target(request), '?');
    const struct edge_peer *peer = edge_find_peer(edge, &renga__v1__orchestrator__descriptor);
    struct status st = {0};
    const struct rpc_principal *principal = edge_principal(edge, request, WATCH_METHOD, &st);
    if (principal && !peer->stub)
        st = peer->why;
    struct multiplex *watch = st.code == OK ? watch_read(edge, request, query ? query + 1 : NULL, &st) : NULL;
    if (!watch)
        edge_fail(request, &st);
    else if (strcmp(http_request_method(request), "HEAD") == 0)
        http_reply(request, 200, "text/event-stream; charset=utf-8", NULL, 0);
    else if (stream_open(&watch->stream, &watch_ops, edge, request, principal, WATCH_METHOD, (unsigned)watch->count))
        watch_start(watch, peer, principal);
}
