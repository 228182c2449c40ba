/* The server's start and end. listener.c accepts connections, connection.c reads and answers them. */
#include "base/memory.h"
#include "http/hosts.h"
#include "http/server_priv.h"

#include <assert.h>
#include <stdlib.h>

#define CONNECTIONS_DEFAULT_MAX 4096
#define ADDRESS_DEFAULT_MAX     1024
#define HEADER_DEFAULT_MAX      (16u << 10)
#define BODY_DEFAULT_MAX        (8u << 20)
#define STREAM_DEFAULT_MAX      (16u << 20)
#define IDLE_DEFAULT_MS         30000
#define READ_DEFAULT_MS         10000
#define HEAD_MAX                ((size_t)1 << 20) /* bytes of an answer's head, which the arena of its request bounds */

static void limit_passed(struct timer *timer);
static void report_stopped(struct work *work);

struct http_server *http_server_create(struct loop *loop, const struct http_server_options *options, struct status *st)
{
    assert(loop_current() == loop);
    struct http_server *server = xcalloc(1, sizeof *server);
    server->input = xmalloc(SERVER_INPUT_SIZE);
    server->loop = loop;
    server->options = *options;
    if (!server->options.connections_max)
        server->options.connections_max = CONNECTIONS_DEFAULT_MAX;
    if (!server->options.connections_per_address)
        server->options.connections_per_address = ADDRESS_DEFAULT_MAX;
    if (!server->options.header_max)
        server->options.header_max = HEADER_DEFAULT_MAX;
    if (!server->options.body_max)
        server->options.body_max = BODY_DEFAULT_MAX;
    if (!server->options.body_weight)
        server->options.body_weight = 1;
    if (!server->options.stream_max)
        server->options.stream_max = STREAM_DEFAULT_MAX;
    if (!server->options.idle_ms)
        server->options.idle_ms = IDLE_DEFAULT_MS;
    if (!server->options.read_ms)
        server->options.read_ms = server->options.idle_ms < READ_DEFAULT_MS ? server->options.idle_ms : READ_DEFAULT_MS;
    server->limit.expired = limit_passed;
    server->report.run = report_stopped;
    buffer_init(&server->head, 2 * HEAD_MAX);
    const char *listen = server->options.shares ? server->options.shares->options.listen : server->options.listen;
    server->options.listen = listen;
    server->checks_host = server->options.hosts || (server->options.keyless && host_is_loopback(listen));
    if (listener_open(server, st))
        return server;
    free(server->input);
    free(server);
    return NULL;
}

void http_server_set_access(struct http_server *server, const struct http_access *access)
{
    server->access = *access;
}

int http_server_port(const struct http_server *server)
{
    return server->port;
}

static void report_stopped(struct work *work)
{
    struct http_server *server = CONTAINER_OF(work, struct http_server, report);
    void (*stopped)(void *data) = server->stopped;
    server->stopped = NULL;
    loop_disarm(server->loop, &server->limit);
    if (stopped)
        stopped(server->stopped_data);
}

void server_check_stopped(struct http_server *server)
{
    if (server->stopping && server->connection_count == 0)
        loop_defer(server->loop, &server->report);
}

static void server_close_all(struct http_server *server)
{
    for (struct connection *connection = server->connections; connection; connection = connection->next)
        connection_close(connection);
}

static void limit_passed(struct timer *timer)
{
    server_close_all(CONTAINER_OF(timer, struct http_server, limit));
}

void http_server_stop(struct http_server *server, int64_t limit_ms, void (*stopped)(void *data), void *data)
{
    server->stopping = true;
    server->stopped = stopped;
    server->stopped_data = data;
    listener_close(server);
    for (struct connection *connection = server->connections; connection; connection = connection->next)
        if (connection_is_resting(connection))
            connection_close(connection);
    loop_arm_after(server->loop, &server->limit, limit_ms);
    server_check_stopped(server);
}

void http_server_destroy(struct http_server **server_pointer)
{
    struct http_server *server = *server_pointer;
    if (!server)
        return;
    assert(loop_current() == server->loop);
    *server_pointer = NULL;
    listener_close(server);
    server->stopped = NULL;
    server_close_all(server);
    while (server->connections)
        connection_free(server->connections);
    loop_disarm(server->loop, &server->limit);
    loop_undefer(server->loop, &server->report);
    while (server->requests) {
        struct http_request *request = server->requests;
        server->requests = request->next;
        request->server = NULL;
    }
    while (server->tables) {
        struct route_table *table = server->tables;
        server->tables = table->next;
        free(table);
    }
    sources_release(&server->sources);
    buffer_fini(&server->head);
    free(server->input);
    free(server);
}

void http_server_stats(const struct http_server *server, struct http_server_stats *stats)
{
    *stats = (struct http_server_stats){
        .connections = server->connection_count,
        .requests = server->request_count,
        .accepted = server->accepted,
        .served = server->served,
        .left = server->left,
    };
}
