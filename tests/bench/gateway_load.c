/* Asks a gateway as fast as it answers, or at a steady rate:
 *
 *      gateway-load grpc|http HOST:PORT MODEL whole|stream ASK_BYTES IN_FLIGHT RATE CALLS [HEADER: VALUE]...
 *
 * RATE 0 is as fast as it answers; else a call begins each 1/RATE s, and what waits for a free one of the IN_FLIGHT
 * waits on its own account: latency counts from when the call was due. CALLS may be a number, or seconds: "3s".
 * Over HTTP a connection has one call, over gRPC CALLS_A_CONNECTION. Prints one line of names and values, times in µs;
 * `first` is when the first piece of a stream's text came. */
#include "renga/v1/llm_gateway.pb-c.h"

#include <arpa/inet.h>
#include <errno.h>
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

#include "load.h"

#define CALLS_A_CONNECTION 8
#define ANSWER_MAX         (512 << 10)
#define WINDOW             (1 << 20)
#define PIECE              "8 bytes " /* of a stream, as the upstream of the bench gives it */

struct connection;

struct call {
    struct connection *connection;
    struct call *next; /* that are free */
    int64_t due_ns, first_ns;
    size_t sent, got;
    int status, grpc_status;
};

struct connection {
    int fd, epoll;
    nghttp2_session *session; /* NULL: HTTP/1.1 */
    struct call *call;        /* HTTP/1.1: its one */
    char answer[ANSWER_MAX + 1];
};

static bool over_grpc, streams;
static size_t answer_bytes; /* at least, of a good answer */
static char request[1 << 18];
static size_t request_size;
static nghttp2_nv fields[24];
static size_t field_count;
static struct call *free_calls;
static int64_t *latencies, *firsts;
static size_t done, room, failures;

static void die(const char *what)
{
    fprintf(stderr, "gateway-load: %s\n", what);
    exit(2);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static void call_ended(struct call *call)
{
    if (done == room) {
        room = room ? 2 * room : 1 << 16;
        latencies = realloc(latencies, room * sizeof *latencies);
        firsts = realloc(firsts, room * sizeof *firsts);
    }
    bool good =
        call->status == 200 && call->grpc_status == 0 && call->got >= answer_bytes && (!streams || call->first_ns);
    failures += !good;
    latencies[done] = now_ns() - call->due_ns;
    firsts[done++] = call->first_ns ? call->first_ns - call->due_ns : 0;
    call->next = free_calls;
    free_calls = call;
}

static void send_http(struct connection *connection)
{
    for (size_t sent = 0; sent < request_size;) {
        ssize_t more = send(connection->fd, request + sent, request_size - sent, MSG_NOSIGNAL);
        if (more <= 0)
            die("the gateway closed a connection");
        sent += (size_t)more;
    }
}

static void flush(struct connection *connection)
{
    const uint8_t *bytes;
    for (ssize_t size; (size = nghttp2_session_mem_send(connection->session, &bytes)) > 0;)
        for (ssize_t sent = 0; sent < size;) {
            ssize_t more = send(connection->fd, bytes + sent, (size_t)(size - sent), MSG_NOSIGNAL);
            if (more <= 0)
                die("the gateway closed a connection");
            sent += more;
        }
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *out, size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *data)
{
    struct call *call = source->ptr;
    size_t left = request_size - call->sent, now = left < size ? left : size;
    memcpy(out, request + call->sent, now);
    call->sent += now;
    if (call->sent == request_size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)now;
}

static void call_begin(struct call *call, int64_t due_ns)
{
    struct connection *connection = call->connection;
    call->due_ns = due_ns;
    call->first_ns = 0;
    call->sent = call->got = 0;
    call->status = 0;
    call->grpc_status = over_grpc ? -1 : 0;
    if (!over_grpc) {
        send_http(connection);
        return;
    }
    nghttp2_data_provider body = {.source.ptr = call, .read_callback = read_body};
    nghttp2_submit_request(connection->session, NULL, fields, field_count, &body, call);
    flush(connection);
}

/* ---- gRPC -------------------------------------------------------------------------------------------------------- */

static int header_came(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                       const uint8_t *value, size_t length, uint8_t flags, void *data)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (call && name_length == 7 && memcmp(name, ":status", 7) == 0)
        call->status = atoi((const char *)value);
    if (call && name_length == 11 && memcmp(name, "grpc-status", 11) == 0)
        call->grpc_status = atoi((const char *)value);
    return 0;
}

static void bytes_came(struct call *call, const void *bytes, size_t size)
{
    call->got += size;
    if (streams && !call->first_ns && memmem(bytes, size, PIECE, sizeof PIECE - 1))
        call->first_ns = now_ns();
}

static int data_came(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t size,
                     void *data)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    if (call)
        bytes_came(call, bytes, size);
    return 0;
}

static int stream_ended(nghttp2_session *session, int32_t stream, uint32_t error, void *data)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    if (call)
        call_ended(call);
    return 0;
}

static void open_session(struct connection *connection)
{
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
    flush(connection);
}

static void read_grpc(struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->answer, ANSWER_MAX, 0);
    if (got <= 0 || nghttp2_session_mem_recv(connection->session, (uint8_t *)connection->answer, (size_t)got) < 0)
        die("the gateway closed a connection");
    flush(connection);
}

/* ---- HTTP/1.1 ---------------------------------------------------------------------------------------------------- */

static bool is_whole(const char *answer, size_t size)
{
    const char *body = strstr(answer, "\r\n\r\n");
    if (!body)
        return false;
    const char *length = strcasestr(answer, "\ncontent-length:");
    if (length && length < body)
        return (size_t)(body + 4 - answer) + strtoul(length + 16, NULL, 10) <= size;
    return size >= 5 && memcmp(answer + size - 5, "0\r\n\r\n", 5) == 0;
}

static void read_http(struct connection *connection)
{
    struct call *call = connection->call;
    char *at = connection->answer + call->got;
    ssize_t got = recv(connection->fd, at, ANSWER_MAX - call->got, 0);
    if (got <= 0)
        die("the gateway closed a connection");
    at[got] = '\0';
    bytes_came(call, at, (size_t)got);
    if (!is_whole(connection->answer, call->got))
        return;
    call->status = atoi(connection->answer + sizeof "HTTP/1.1");
    call_ended(call);
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static void add_field(const char *name, const char *value)
{
    fields[field_count++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                                         .value = (uint8_t *)(uintptr_t)value,
                                         .namelen = strlen(name),
                                         .valuelen = strlen(value)};
}

static void write_grpc(const char *target, const char *model, char *ask)
{
    Renga__V1__ChatRequest message = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT, *turns[] = {&turn};
    turn.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    turn.content = ask;
    message.model = (char *)(uintptr_t)model;
    message.n_messages = 1;
    message.messages = turns;
    message.max_output_tokens = 256;
    size_t size = renga__v1__chat_request__pack(&message, (uint8_t *)request + 5);
    uint32_t length = htonl((uint32_t)size);
    request[0] = 0;
    memcpy(request + 1, &length, 4);
    request_size = 5 + size;
    add_field(":method", "POST");
    add_field(":scheme", "http");
    add_field(":path", streams ? "/renga.v1.LlmGateway/ChatStream" : "/renga.v1.LlmGateway/Chat");
    add_field(":authority", target);
    add_field("te", "trailers");
    add_field("content-type", "application/grpc");
}

static void write_http(const char *target, const char *model, const char *ask, char **headers, int count)
{
    static char body[1 << 17];
    int size = snprintf(body, sizeof body,
                        "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"max_tokens\":256%s}",
                        model, ask, streams ? ",\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "");
    int at = snprintf(request, sizeof request,
                      "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
                      "Content-Length: %d\r\n",
                      target, size);
    for (int i = 0; i < count; i++)
        at += snprintf(request + at, sizeof request - (size_t)at, "%s\r\n", headers[i]);
    at += snprintf(request + at, sizeof request - (size_t)at, "\r\n%s", body);
    request_size = (size_t)at;
}

static void write_request(char **argv, int argc)
{
    static char ask[100 << 10];
    size_t bytes = strtoul(argv[5], NULL, 10);
    if (bytes >= sizeof ask)
        die("so long a question is not asked");
    for (size_t i = 0; i < bytes; i++)
        ask[i] = "What does a gateway add to a call? "[i % 35];
    if (over_grpc)
        write_grpc(argv[2], argv[3], ask);
    else
        write_http(argv[2], argv[3], ask, argv + 9, argc - 9);
    int whole = 0, pieces = 0;
    sscanf(argv[3], "bench-%d-%d", &whole, &pieces);
    answer_bytes = streams ? (size_t)pieces * (sizeof PIECE - 1) : (size_t)whole;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void connect_to(const char *target, int epoll, int calls)
{
    char host[64] = {0};
    int port = 0, yes = 1;
    if (sscanf(target, "%63[^:]:%d", host, &port) != 2)
        die("the target is HOST:PORT");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    struct connection *connection = calloc(1, sizeof *connection);
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof address))
        die("there is no connection");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event);
    if (over_grpc)
        open_session(connection);
    for (int i = 0; i < calls; i++) {
        struct call *call = calloc(1, sizeof *call);
        call->connection = connection;
        connection->call = call;
        call->next = free_calls;
        free_calls = call;
    }
}

static void run(int epoll, double rate, size_t calls, int64_t for_ns)
{
    struct epoll_event events[64];
    int64_t began_ns = now_ns(), gap_ns = rate > 0 ? (int64_t)(1e9 / rate) : 0;
    size_t begun = 0, all = calls;
    while (done < begun || (begun < all && (!for_ns || now_ns() - began_ns < for_ns))) {
        int64_t now = now_ns(), due_ns = began_ns + (int64_t)begun * gap_ns;
        if (for_ns && now - began_ns >= for_ns)
            all = begun;
        for (; free_calls && begun < all && (!gap_ns || due_ns <= now); begun++, due_ns += gap_ns) {
            struct call *call = free_calls;
            free_calls = call->next;
            call_begin(call, gap_ns ? due_ns : now_ns());
        }
        int64_t wait_ns = gap_ns && free_calls && begun < all ? due_ns - now_ns() : 1000000000;
        struct timespec wait = {.tv_nsec = wait_ns > 0 ? wait_ns % 1000000000 : 0, .tv_sec = wait_ns / 1000000000};
        int count = epoll_pwait2(epoll, events, 64, &wait, NULL);
        for (int i = 0; i < count; i++)
            (over_grpc ? read_grpc : read_http)(events[i].data.ptr);
    }
}

static double at(int64_t *times, double part)
{
    return done ? (double)times[(size_t)((double)(done - 1) * part)] / 1e3 : 0;
}

int main(int argc, char **argv)
{
    if (argc < 9)
        die("grpc|http HOST:PORT MODEL whole|stream ASK_BYTES IN_FLIGHT RATE CALLS [HEADER]...");
    over_grpc = strcmp(argv[1], "grpc") == 0;
    streams = strcmp(argv[4], "stream") == 0;
    write_request(argv, argc);
    int in_flight = atoi(argv[6]), epoll = epoll_create1(0);
    for (int calls = 0; calls < in_flight; calls += over_grpc ? CALLS_A_CONNECTION : 1)
        connect_to(argv[2], epoll,
                   !over_grpc                               ? 1
                   : in_flight - calls < CALLS_A_CONNECTION ? in_flight - calls
                                                            : CALLS_A_CONNECTION);
    bool timed = strchr(argv[8], 's') != NULL;
    int64_t began_ns = now_ns();
    run(epoll, atof(argv[7]), timed ? SIZE_MAX : strtoul(argv[8], NULL, 10),
        timed ? (int64_t)(atof(argv[8]) * 1e9) : 0);
    double seconds = (double)(now_ns() - began_ns) / 1e9;
    qsort(latencies, done, sizeof *latencies, ascending);
    qsort(firsts, done, sizeof *firsts, ascending);
    printf("calls %zu failures %zu seconds %.3f rate %.0f p50 %.1f p99 %.1f first_p50 %.1f first_p99 %.1f\n", done,
           failures, seconds, (double)done / seconds, at(latencies, 0.5), at(latencies, 0.99), at(firsts, 0.5),
           at(firsts, 0.99));
    return failures != 0;
}
