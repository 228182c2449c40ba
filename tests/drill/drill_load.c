/* Calls of several kinds at once, over gRPC, to a gateway that is to be pressed hard:
 *
 *      drill-load HOST:PORT [NAME=VALUE]... KIND...
 *
 *      connections=8     in_flight=64      calls at once; one that is due when all are out is not made, and counted
 *      rate=0            calls a second, whatever comes back; 0: the next begins when one ends
 *      calls=N seconds=S which comes first (0: does not)
 *      key=TEXT          the caller's, as a bearer token
 *      ask=64            bytes of a question
 *
 * A KIND is METHOD:MODEL:SHARE[:WORD]...: of METHOD Chat, ChatStream or Embed. "leave=MS" leaves so long after the call
 * began, "leave=first" at the first piece; "same" asks the same every time, and allows the cache; "says" prints
 * "gone ID" and the time in ns at each leave. Questions begin with their call's number ("call-ID").
 * Prints a line of JSON a kind: calls by gRPC status, latencies of those that ended OK in µs, bytes of text streamed;
 * `short` counts streams that ended OK with less text than the model gives. */
#include "drill_plan.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "../bench/load.h"

#define RECEIVE (256 << 10)
#define WINDOW  (1 << 20)
#define MS      INT64_C(1000000)

struct connection {
    int fd;
    bool dirty;
    nghttp2_session *session;
    struct connection *next; /* of those with something to send */
};

struct call {
    struct connection *connection;
    struct kind *kind;
    struct call *next, **link; /* free ones, or of its kind those that are to leave, the oldest first */
    int64_t due_ns, leave_ns;
    unsigned long id;
    int32_t stream;
    size_t sent, text;
    int status;
    bool left;
    uint8_t lead[9]; /* of the message that comes: its length, then where it begins */
    size_t lead_size, rest;
};

static unsigned long unsent, begun, ended;
static struct call *free_calls;
static struct connection *dirty;

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void touch(struct connection *connection)
{
    if (connection->dirty)
        return;
    connection->dirty = true;
    connection->next = dirty;
    dirty = connection;
}

static void flush(void)
{
    while (dirty) {
        struct connection *connection = dirty;
        const uint8_t *bytes;
        dirty = connection->next;
        connection->dirty = false;
        for (ssize_t size; (size = nghttp2_session_mem_send(connection->session, &bytes)) > 0;)
            for (ssize_t sent = 0; sent < size;) {
                ssize_t more = send(connection->fd, bytes + sent, (size_t)(size - sent), MSG_NOSIGNAL);
                if (more <= 0)
                    plan_refuse("the gateway closed a connection");
                sent += more;
            }
    }
}

static void await_leave(struct call *call)
{
    struct kind *kind = call->kind;
    call->leave_ns = call->due_ns + kind->leave_ms * MS;
    call->next = NULL;
    call->link = kind->last;
    *kind->last = call;
    kind->last = &call->next;
}

static void leave_queue(struct call *call)
{
    if (!call->link)
        return;
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    else
        call->kind->last = call->link;
    call->link = NULL;
}

static void leave(struct call *call)
{
    leave_queue(call);
    call->left = true;
    nghttp2_submit_rst_stream(call->connection->session, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL);
    touch(call->connection);
    if (call->kind->says)
        printf("gone %lu %lld\n", call->id, (long long)now_ns());
}

static void note_latency(struct kind *kind, int64_t latency_ns)
{
    if (kind->done == kind->room) {
        kind->room = kind->room ? 2 * kind->room : 1 << 12;
        kind->latencies = realloc(kind->latencies, kind->room * sizeof *kind->latencies);
    }
    kind->latencies[kind->done++] = latency_ns;
}

static void call_ended(struct call *call)
{
    struct kind *kind = call->kind;
    leave_queue(call);
    kind->text += call->text;
    if (call->left)
        kind->gone++;
    else
        kind->by_status[call->status >= 0 && call->status < STATUSES ? call->status : 2]++;
    if (!call->left && call->status == 0) {
        note_latency(kind, now_ns() - call->due_ns);
        kind->cut += kind->streams && call->text != kind->whole;
    }
    ended++;
    call->next = free_calls;
    free_calls = call;
}

static ssize_t read_ask(nghttp2_session *session, int32_t stream, uint8_t *out, size_t size, uint32_t *flags,
                        nghttp2_data_source *source, void *data)
{
    struct call *call = source->ptr;
    const struct kind *kind = call->kind;
    char number[NAMED_DIGITS + 1];
    size_t left = kind->ask_size - call->sent, now = left < size ? left : size;
    snprintf(number, sizeof number, "%0*lu", NAMED_DIGITS, kind->same ? 0 : call->id % 1000000000);
    for (size_t i = 0; i < now; i++) {
        size_t at = call->sent + i;
        bool in_number = at >= kind->named_at && at < kind->named_at + NAMED_DIGITS;
        out[i] = in_number ? (uint8_t)number[at - kind->named_at] : kind->ask[at];
    }
    call->sent += now;
    if (call->sent == kind->ask_size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)now;
}

/* The kinds take turns by their shares, evenly. */
static struct kind *next_kind(void)
{
    static unsigned long turn;
    unsigned long at = (turn++ * 7919) % plan.shares;
    for (size_t i = 0;; i++) {
        if (at < plan.kinds[i].share)
            return &plan.kinds[i];
        at -= plan.kinds[i].share;
    }
}

static void begin(int64_t due_ns)
{
    struct kind *kind = next_kind();
    struct call *call = free_calls;
    struct connection *connection = call->connection;
    free_calls = call->next;
    *call = (struct call){.connection = connection, .kind = kind, .due_ns = due_ns, .id = ++begun, .status = -1};
    kind->calls++;
    nghttp2_data_provider body = {.source.ptr = call, .read_callback = read_ask};
    call->stream = nghttp2_submit_request(connection->session, NULL, kind->fields, kind->field_count, &body, call);
    if (call->stream < 0)
        plan_refuse("a connection has had all the calls that it can have");
    touch(connection);
    if (kind->leaves && kind->leave_ms != LEAVES_FIRST)
        await_leave(call);
}

/* ---- what comes back --------------------------------------------------------------------------------------------- */

static int header_came(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                       const uint8_t *value, size_t size, uint8_t flags, void *data)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (call && name_size == 11 && memcmp(name, "grpc-status", 11) == 0)
        call->status = atoi((const char *)value);
    return 0;
}

/* A ChatStreamEvent with text begins with its tag and a length: 0x12, and one byte or two. */
static void message_began(struct call *call)
{
    const uint8_t *message = call->lead + 5;
    if (message[0] != 0x12)
        return;
    call->text += message[1] < 128 ? message[1] : (size_t)(message[1] & 127) + ((size_t)message[2] << 7);
    if (call->kind->leaves && call->kind->leave_ms == LEAVES_FIRST && !call->left)
        leave(call);
}

static uint32_t message_size(const struct call *call)
{
    uint32_t size;
    memcpy(&size, call->lead + 1, 4);
    return ntohl(size);
}

static int data_came(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t size,
                     void *data)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    while (call && size) {
        if (call->rest) {
            size_t now = call->rest < size ? call->rest : size;
            call->rest -= now, bytes += now, size -= now;
            if (!call->rest)
                call->lead_size = 0;
            continue;
        }
        call->lead[call->lead_size++ & 7] = *bytes++;
        size--;
        if (call->lead_size < 5 || (call->lead_size < 8 && call->lead_size < 5 + message_size(call)))
            continue;
        if (call->kind->streams)
            message_began(call);
        call->rest = message_size(call) + 5 - call->lead_size;
        call->lead_size = call->rest ? 8 : 0;
    }
    return 0;
}

static int stream_ended(nghttp2_session *session, int32_t stream, uint32_t error, void *data)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    if (call)
        call_ended(call);
    return 0;
}

static void readable(struct connection *connection)
{
    static uint8_t bytes[RECEIVE];
    ssize_t got = recv(connection->fd, bytes, sizeof bytes, 0);
    if (got <= 0 || nghttp2_session_mem_recv(connection->session, bytes, (size_t)got) < 0)
        plan_refuse("the gateway closed a connection");
    touch(connection);
}

static void connect_to(int epoll, int calls)
{
    char host[64];
    int port = 0, yes = 1;
    if (sscanf(plan.target, "%63[^:]:%d", host, &port) != 2)
        plan_refuse("the target is HOST:PORT");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    struct connection *connection = calloc(1, sizeof *connection);
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof address))
        plan_refuse("there is no connection");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event);

    nghttp2_session_callbacks *callbacks;
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}};
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header_came);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_came);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_ended);
    nghttp2_session_client_new(&connection->session, callbacks, connection);
    nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 1);
    nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0, 16 * WINDOW);
    nghttp2_session_callbacks_del(callbacks);
    touch(connection);
    while (calls--) {
        struct call *call = calloc(1, sizeof *call);
        call->connection = connection;
        call->next = free_calls;
        free_calls = call;
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int64_t leave_due(void)
{
    int64_t soonest = INT64_MAX;
    for (size_t i = 0; i < plan.kind_count; i++) {
        while (plan.kinds[i].first && plan.kinds[i].first->leave_ns <= now_ns())
            leave(plan.kinds[i].first);
        if (plan.kinds[i].first && plan.kinds[i].first->leave_ns < soonest)
            soonest = plan.kinds[i].first->leave_ns;
    }
    return soonest;
}

/* Begins what is due; when the next one is. */
static int64_t begin_due(int64_t began_ns, bool *over)
{
    static unsigned long slots; /* of the rate, used or not */
    int64_t now = now_ns();
    *over = (plan.for_ns && now - began_ns >= plan.for_ns) || (plan.calls_max && begun >= plan.calls_max);
    if (*over)
        return INT64_MAX;
    if (!(plan.rate > 0)) {
        for (; free_calls && (!plan.calls_max || begun < plan.calls_max);)
            begin(now);
        return INT64_MAX;
    }
    for (; began_ns + (int64_t)((double)slots * 1e9 / plan.rate) <= now; slots++) {
        if (free_calls)
            begin(began_ns + (int64_t)((double)slots * 1e9 / plan.rate));
        else
            unsent++;
    }
    return began_ns + (int64_t)((double)slots * 1e9 / plan.rate);
}

static void run(int epoll)
{
    struct epoll_event events[64];
    int64_t began_ns = now_ns();
    for (bool over = false; !over || ended < begun;) {
        int64_t next_ns = begin_due(began_ns, &over), leave_ns = leave_due();
        flush();
        if (over && ended == begun)
            break;
        next_ns = leave_ns < next_ns ? leave_ns : next_ns;
        if (plan.for_ns && !over && began_ns + plan.for_ns < next_ns)
            next_ns = began_ns + plan.for_ns;
        int64_t wait_ns = next_ns == INT64_MAX ? 1000 * MS : next_ns - now_ns();
        struct timespec wait = {.tv_sec = wait_ns > 0 ? wait_ns / (1000 * MS) : 0,
                                .tv_nsec = wait_ns > 0 ? wait_ns % (1000 * MS) : 0};
        int count = epoll_pwait2(epoll, events, 64, &wait, NULL);
        for (int i = 0; i < count; i++)
            readable(events[i].data.ptr);
    }
}

static double at(const struct kind *kind, double part)
{
    return kind->done ? (double)kind->latencies[(size_t)((double)(kind->done - 1) * part)] / 1e3 : 0;
}

static void report(struct kind *kind, double seconds)
{
    if (kind->done)
        qsort(kind->latencies, kind->done, sizeof *kind->latencies, ascending);
    printf("{\"kind\":\"%s\",\"calls\":%lu,\"left\":%lu,\"text\":%lu,\"short\":%lu,\"unsent\":%lu,\"seconds\":%.3f,"
           "\"p50\":%.0f,"
           "\"p99\":%.0f,\"max\":%.0f,\"status\":{",
           kind->name, kind->calls, kind->gone, kind->text, kind->cut, unsent, seconds, at(kind, 0.5), at(kind, 0.99),
           at(kind, 1));
    const char *between = "";
    for (int i = 0; i < STATUSES; i++)
        if (kind->by_status[i]) {
            printf("%s\"%d\":%lu", between, i, kind->by_status[i]);
            between = ",";
        }
    printf("}}\n");
}

int main(int argc, char **argv)
{
    plan_read(argc, argv);
    int epoll = epoll_create1(0);
    for (int i = 0; i < plan.connections; i++)
        connect_to(epoll, (plan.in_flight + plan.connections - 1 - i) / plan.connections);
    int64_t began_ns = now_ns();
    run(epoll);
    for (size_t i = 0; i < plan.kind_count; i++)
        report(&plan.kinds[i], (double)(now_ns() - began_ns) / 1e9);
}
