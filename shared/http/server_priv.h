/* What the files of the server share. */
#ifndef RENGA_HTTP_SERVER_PRIV_H
#define RENGA_HTTP_SERVER_PRIV_H

#include "base/arena.h"
#include "base/buffer.h"
#include "http/server.h"

#include <microhttpd.h>

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
    struct MHD_Daemon *daemon;
    int listen_fd; /* -1: not listening any more */
    int port;
    struct watch watch;  /* of the daemon's epoll */
    struct timer again;  /* the daemon has more to do at once */
    struct work resumed; /* a connection was given back to the daemon */
    struct route_table *tables;

    struct connection *connections;
    struct http_request *requests; /* that a handler, or the daemon, still has */
    unsigned connection_count, request_count;
    uint64_t accepted, served, left;

    bool stopping;
    struct timer limit;
    struct work report;
    void (*stopped)(void *data);
    void *stopped_data;
};

/* Lives as long as its TCP connection. */
struct connection {
    struct http_server *server;
    struct connection *next, *previous;
    struct MHD_Connection *mhd;
    int fd;
    struct http_request *request; /* NULL between two */
    struct watch watch;           /* edges of leaving and of room to send; from the first wait on */
    bool watched;
    bool fin, broken; /* what the watch saw */
    struct timer deadline;
    int64_t since_ns, deadline_ns; /* the present phase: its begin, its end; TIME_NEVER: no bound */
};

enum reply_state {
    REPLY_NONE,      /* the handler is at work */
    REPLY_WHOLE,     /* `response` is complete */
    REPLY_STREAMING, /* begun; pieces are collected in `out` */
    REPLY_ENDED,     /* the handler has said its last; `out` may hold the rest */
    REPLY_ABORTED,   /* the connection is to be closed */
};

struct reply_header {
    struct reply_header *next;
    const char *name, *value;
};

/* Two hold it: the handler, from `received` until `handler_done`; the daemon, until `connection` is NULL. */
struct http_request {
    struct loop *loop;
    struct http_server *server;    /* NULL: destroyed meanwhile */
    struct connection *connection; /* NULL: the daemon is done with it */
    struct http_request *next, *previous;
    const char *method, *path;
    bool http_1_0;
    bool received, handler_done;
    bool gone;      /* the client */
    bool suspended; /* in the daemon, by us */
    bool sending;   /* the stream is written by us */
    int refusal;    /* HTTP status to answer with instead of handling; 0: none */
    size_t dropped; /* bytes of a refused request's body */
    struct buffer body;

    enum reply_state reply;
    int http_status;
    struct MHD_Response *response; /* until it is queued */
    struct reply_header *headers;
    struct buffer out; /* framed bytes; up to out_sent the socket has taken them */
    size_t out_sent;
    bool window_closed;
    struct work flush, leaving;

    void (*left)(struct http_request *request, void *data);
    void *left_data;
    void (*writable)(struct http_request *request, void *data);
    void *writable_data;
    struct arena arena;
    char storage[512]; /* the arena's first block */
};

/* server.c */
void server_run(struct http_server *server);
void server_check_stopped(struct http_server *server);

/* routes.c */
/* Sends the request to its handler, or answers 404 or 405. */
void server_handle(struct http_server *server, struct http_request *request);

/* connection.c */
void connection_notified(void *cls, struct MHD_Connection *mhd, void **socket_context,
                         enum MHD_ConnectionNotificationCode code);
/* From now on the client's leaving is looked for. */
void connection_watch(struct connection *connection);
/* Looks at what was seen so far: is the client gone? */
void connection_judge(struct connection *connection);
/* Begins a phase of idle_ms (0 bytes), or extends the present one by what `bytes` so far need. */
void connection_allow(struct connection *connection, uint64_t bytes);
/* The connection waits for us: no bound. */
void connection_relax(struct connection *connection);
void connection_cut(struct connection *connection);

/* request.c */
enum MHD_Result request_accessed(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                                 const char *version, const char *upload, size_t *upload_size, void **request_cls);
void request_completed(void *cls, struct MHD_Connection *mhd, void **request_cls, enum MHD_RequestTerminationCode code);
void request_suspend(struct http_request *request);
/* Gives the connection back to the daemon. */
void request_resume(struct http_request *request);
/* The client has gone: frees the connection and tells the handler, deferred. */
void request_lost(struct http_request *request);
/* The handler has said its last. */
void request_done(struct http_request *request);

/* reply.c */
enum MHD_Result reply_queue(struct http_request *request);

/* stream.c */
struct MHD_Response *stream_response(struct http_request *request);
void stream_flush(struct http_request *request);
void stream_flush_deferred(struct work *work);

#endif
