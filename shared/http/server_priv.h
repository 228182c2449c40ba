/* The private interface between the server's files. */
#ifndef RENGA_HTTP_SERVER_PRIV_H
#define RENGA_HTTP_SERVER_PRIV_H

#include "base/arena.h"
#include "base/budget.h"
#include "base/buffer.h"
#include "http/http1.h"
#include "http/server.h"
#include "http/sources.h"

#include <sys/uio.h>

#define SERVER_INPUT_SIZE (32u << 10) /* bytes received at once, and kept of requests that were sent ahead */
#define DATE_SIZE         30          /* "Sun, 06 Nov 1994 08:49:37 GMT" */

struct connection;

struct route_table {
    struct route_table *next;
    const struct http_route *routes;
    size_t count;
    void *data;
};

struct http_server {
    struct loop *loop;
    struct http_server_options options;
    struct route_table *tables;
    struct http_access access;
    struct sources *sources;
    bool checks_host;

    int listen_fd; /* -1: not listening any more */
    int port;
    struct watch listening; /* not watched while no connection can be accepted */
    struct timer again;     /* there were no descriptors: then it is tried again */
    int64_t quiet_until_ns; /* and has been logged */

    struct connection *connections;
    struct http_request *requests; /* that a handler or a connection still has */
    unsigned connection_count, request_count;
    uint64_t accepted, served, left;

    char *input;        /* the bytes received last; no pointer into it is kept */
    struct buffer head; /* of the whole answer that is being begun */
    int64_t date_s;     /* when `date` was written */
    char date[DATE_SIZE];

    bool stopping;
    struct timer limit;
    struct work report;
    void (*stopped)(void *data);
    void *stopped_data;
};

enum connection_state {
    CONNECTION_IDLE,      /* between two requests */
    CONNECTION_READING,   /* a request has begun */
    CONNECTION_ANSWERING, /* it is the handler's, or its answer is being sent */
    CONNECTION_LINGERING, /* the answer is sent; further bytes of the client are read and dropped */
    CONNECTION_CLOSED,    /* about to be freed */
    CONNECTION_STATES
};

struct connection {
    enum connection_state state;
    bool going;       /* within its turn */
    bool readable;    /* there may be bytes to receive */
    bool fin, broken; /* events seen by the watch */
    int fd;
    struct http_server *server;
    struct connection *next, *previous;
    struct http_request *request; /* that is read, handled or answered */
    struct buffer ahead;          /* bytes received after the request; up to ahead_at they are consumed */
    size_t ahead_at;
    size_t dropped; /* unused bytes: of a refused body, or after the last answer */
    struct watch watch;
    struct work turn; /* go on, or be freed */
    struct timer deadline;
    int64_t since_ns, deadline_ns; /* the present phase: its begin, its end; TIME_NEVER: no bound */
    struct source *source;
};

enum reply_state {
    REPLY_NONE,      /* the handler is at work */
    REPLY_STREAMING, /* begun; pieces are collected in `out` */
    REPLY_ENDED,     /* the handler is finished; the rest of the answer is being sent */
};

struct reply_header {
    struct reply_header *next;
    size_t size;
    char line[]; /* "Name: value\r\n" */
};

/* Two hold it: the handler, from `received` until `handler_done`; the connection, until `connection` is NULL. */
struct http_request {
    struct loop *loop;
    struct http_server *server;    /* NULL: destroyed meanwhile */
    struct connection *connection; /* NULL: answered, or the client is gone */
    struct http_request *next, *previous;

    struct http1 reader;
    const char *path;
    const char *authority; /* of a target in absolute form; NULL: without one */
    const char *target;    /* as it was sent, from its path on; NULL: not kept */
    const char *query;     /* "name\0value\0" for each parameter, in its order */
    size_t query_size;
    struct buffer body;
    struct budget *budget;   /* NULL: no budget */
    struct budget_hold hold; /* of it */
    struct budget *answers;  /* http_request_hold; NULL: none is held */
    struct budget_hold answer_hold;
    bool head_whole, received, handler_done;
    bool gone;     /* the client */
    bool refused;  /* before it was read whole */
    bool bodyless; /* the answer has no body, even if the handler gives one */
    bool chunked;
    bool closes;  /* the connection, after the answer */
    bool too_big; /* the rest of the body is dropped, and the answer is 413 */

    enum reply_state reply;
    struct reply_header *headers, **headers_end;
    struct buffer out; /* framed bytes; up to out_sent the socket has taken them */
    size_t out_sent;
    char *answer; /* after `out`: the unsent rest of a whole answer */
    size_t answer_size, answer_sent;
    bool window_closed;
    struct work leaving;
    const void *subject; /* the handler's */

    void (*left)(struct http_request *request, void *data);
    void *left_data;
    void (*writable)(struct http_request *request, void *data);
    void *writable_data;
    struct arena arena;
    char storage[1600]; /* first block of the arena: enough for a stream, too */
};

/* server.c */
void server_check_stopped(struct http_server *server);

/* listener.c: accepts connections. */
bool listener_open(struct http_server *server, struct status *st);
void listener_close(struct http_server *server);
/* There is room for one more. */
void listener_resume(struct http_server *server);

/* routes.c */
/* Sends the request to its handler, or answers 404 or 405. */
void server_handle(struct http_server *server, struct http_request *request);

/* target.c */
/* Decodes a request's target in place and sets path, authority and query; false: no path, and no URL that has one. */
bool target_read(struct http_request *request);

/* connection.c */
/* Takes the descriptor, and its place among the connections of its source. */
void connection_create(struct http_server *server, int fd, struct source *source);
/* The client is gone, or is being disconnected; the connection is freed later. */
void connection_close(struct connection *connection);
void connection_free(struct connection *connection);
/* True if no answer would be lost. */
bool connection_is_resting(const struct connection *connection);
/* Checks from the recorded events whether the client is gone. */
void connection_check_peer(struct connection *connection);
/* Goes on soon. */
void connection_continue(struct connection *connection);
/* The request has been read, or refused; its answer may be sent. */
void connection_await_answer(struct connection *connection);
/* The answer has been sent whole. */
void connection_answered(struct connection *connection, const struct http_request *request);
/* Begins a phase of idle_ms, or of read_ms. */
void connection_begin_wait(struct connection *connection);
void connection_begin_reading(struct connection *connection);
/* Some of a body arrived; it has `bytes` now. */
void connection_read_on(struct connection *connection, uint64_t bytes);
/* The connection waits for us: no bound. */
void connection_relax(struct connection *connection);

/* request.c */
void request_begin(struct connection *connection);
/* Feeds it the received bytes; returns how many belong to it. */
size_t request_feed(struct http_request *request, const char *bytes, size_t size);
/* Releases the request: it was answered, or the client is gone. */
void request_answered(struct http_request *request);
void request_lost(struct http_request *request);
/* Its client has been too slow: 408, and the connection goes. */
void request_expire(struct http_request *request);
/* The handler has finished its answer. */
void request_done(struct http_request *request);

/* reply_head.c */
/* The head of an answer to the request; `size` is SIZE_MAX for a stream. */
void reply_write_head(struct http_request *request, struct buffer *out, int http_status, const char *content_type,
                      size_t size);

/* reply_send.c */
/* Bytes that the socket has not taken yet. */
size_t reply_pending(const struct http_request *request);
/* Sends as much as possible. False if it must wait for the handler or the client, or if the client is gone. */
bool reply_send(struct http_request *request);
/* As sendmsg. */
ssize_t reply_send_pieces(const struct http_request *request, struct iovec *pieces, size_t count);

#endif
