/* A client in one loop, our own server in another. Include it instead of cmocka.h, and after all else of ours. */
#ifndef RENGA_TESTS_HTTP_CLIENT_FIXTURE_H
#define RENGA_TESTS_HTTP_CLIENT_FIXTURE_H

#include "peer_fixture.h"

#include "http/server.h"

static struct {
    struct loop *loop;
    struct http_server *server;
    int port;
    struct http_request *held[512];
    int held_count, left_count;
} served;

static inline void prepare(struct exchange *exchange, const char *path)
{
    prepare_at(exchange, "http", served.port, path);
}

/* ---- the server's routes ---------------------------------------------------------------------------------------- */

static inline void echo(struct http_request *request, void *data)
{
    size_t size;
    const char *body = http_request_body(request, &size);
    const char *type = http_request_header(request, "Content-Type"), *extra = http_request_header(request, "X-Extra");
    char told[128];
    snprintf(told, sizeof told, "%s %s %s", http_request_method(request), type ? type : "-", extra ? extra : "-");
    http_reply_header(request, "X-Answer", told);
    http_reply(request, 200, "text/plain", body, size);
}

static inline void hold(struct http_request *request, void *data)
{
    served.held[served.held_count++] = request;
}

static inline void client_left(struct http_request *request, void *data)
{
    served.left_count++;
    http_reply_abort(request);
}

static inline void hold_and_watch(struct http_request *request, void *data)
{
    hold(request, data);
    http_request_on_left(request, client_left, NULL);
}

static inline void redirect(struct http_request *request, void *data)
{
    http_reply_header(request, "Location", "/echo");
    http_reply(request, 302, NULL, NULL, 0);
}

static inline void stream_pieces(struct http_request *request, void *data)
{
    http_reply_begin(request, 200, "text/event-stream");
    for (int i = 0; i < 1000; i++) {
        char piece[64];
        int size = snprintf(piece, sizeof piece, "data: %04d\n\n", i);
        http_reply_write(request, piece, (size_t)size);
    }
    http_reply_end(request);
}

static const struct http_route routes[] = {
    {"GET", "/echo", false, echo},         {"POST", "/echo", false, echo},
    {"PUT", "/echo", false, echo},         {"DELETE", "/echo", false, echo},
    {"GET", "/hold", false, hold},         {"GET", "/watch", false, hold_and_watch},
    {"GET", "/redirect", false, redirect}, {"GET", "/stream", false, stream_pieces},
};

static inline int set_up_served(void **state)
{
    struct status st = {0};
    memset(&served, 0, sizeof served);
    served.loop = loop_started(1);
    loop_enter(served.loop);
    served.server = http_server_create(served.loop, &(struct http_server_options){.listen = "127.0.0.1:0"}, &st);
    if (!served.server)
        fail_msg("%s", st.text);
    http_server_route(served.server, routes, sizeof routes / sizeof *routes, NULL);
    served.port = http_server_port(served.server);
    loop_leave(served.loop);
    client_options = (struct http_client_options){.pools_max = 2, .queue_max = 16};
    return set_up(state);
}

static inline int tear_down_served(void **state)
{
    tear_down(state);
    loop_enter(served.loop);
    http_server_destroy(&served.server);
    loop_leave(served.loop);
    loop_ended(&served.loop);
    return 0;
}

#define SERVED(name) cmocka_unit_test_setup_teardown(name, set_up_served, tear_down_served)

static inline void answer_held(const char *text)
{
    loop_enter(served.loop);
    for (int i = 0; i < served.held_count; i++)
        http_reply(served.held[i], 200, "text/plain", text, strlen(text));
    served.held_count = 0;
    loop_leave(served.loop);
}

#endif
