/* A small HTTP/1.1 server on a loop: metrics, health, and the APIs that speak JSON or server-sent events.
 *
 *      request read whole ---> handle ---> http_reply                                             whole answer
 *                                 |   `--> http_reply_begin, http_reply_write*, http_reply_end     stream
 *                                 |                                   `-> http_reply_abort         cut, on purpose
 *                                 `--- left, once, if the client goes first
 *
 * A handler ends in exactly one of http_reply (or its relatives), http_reply_end and http_reply_abort, at once or
 * later. It does so also after `left` has run; its answer is then discarded. Until then the request is the handler's.
 *
 * Detecting that a client has left: a reset or an error on the socket, and also a FIN alone, as in nginx, Go and hyper.
 * A client that aborts closes its socket, and before our next write a FIN is the only sign. A client that only ends its
 * own sending (`printf ... | nc -N`) looks the same. It gets its answer when the handler has no `left` callback, and
 * always when `half_close` is set.
 *
 * Pipelined requests are answered in their order, each after the one before it. A request that violates RFC 9112 is
 * refused in JSON before it reaches a handler, and its connection closes.
 *
 * A server belongs to one loop, and all functions here are called from inside it. Several loops serve one port with
 * `shares`. */
#ifndef RENGA_HTTP_SERVER_H
#define RENGA_HTTP_SERVER_H

#include "base/arena.h"
#include "base/status.h"
#include "loop/loop.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct http_server;
struct http_request;

#define HTTP_CONNECTIONS_UNBOUND UINT_MAX    /* of one address */
#define HTTP_SEND_WINDOW         (64u << 10) /* bytes that a stream may buffer before http_reply_writable returns false */

struct http_server_options {
    const char *listen;               /* "0.0.0.0:15080", "[::]:15080"; port 0 picks a free one */
    const struct http_server *shares; /* listen on the same socket as this server of another loop instead; or NULL */
    unsigned connections_max;         /* 0: 4,096; beyond it new ones wait in the backlog */
    unsigned connections_per_address; /* of one source, over all servers that share the port; the next are closed at
                                         once. 0: 1,024. HTTP_CONNECTIONS_UNBOUND: behind a proxy that bounds them */
    size_t header_max;                /* bytes of request line and headers, 414 or 431 beyond; 0: 16 KiB */
    size_t body_max;                  /* bytes, 413 beyond; 0: 8 MiB */
    struct budget *budget; /* which bodies are taken from until they are answered, 503 beyond; NULL: no bound in all.
                              Outlives the server */
    unsigned body_weight;  /* times its size that a body counts in the budget: 2 if a handler keeps as much again
                              while it answers. 0: 1 */
    size_t stream_max;     /* bytes a stream may hold back before it is cut; 0: 16 MiB */
    int64_t idle_ms;       /* 0: 30 s. The longest for an idle connection, and for a client that does not read */
    int64_t read_ms; /* 0: 10 s, or idle_ms if that is less. The longest for a request's headers, for silence within
                        its body, and for the whole body, with 1 s more for each 16 KiB of it; 408 beyond */
    bool keyless; /* no caller is asked for a key: on the loopback a request must name this machine as its Host, or one
                     of `hosts`, so that no page of a browser can ask by a name of its own (403) */
    const char *hosts; /* names, apart by commas; if they are given, every request must name one. NULL: no names */
    bool half_close;   /* a FIN alone does not mean that a client left */
    bool keeps_target; /* http_request_target has the target of each request */
    /* Answers a request that the server itself refuses, in the form of this door; ends as a handler does. NULL:
     * http_reply_error's form. */
    void (*refuse)(struct http_request *request, int http_status, const char *text);
    /* Counts an answer as it begins; `size` is that of its body, SIZE_MAX for a stream. NULL: no counts. */
    void (*answering)(const struct http_request *request, int http_status, size_t size, void *data);
    void *answering_data;
};

/* Strings are borrowed as long as the server lives. UNAVAILABLE if the address cannot be bound. */
struct http_server *http_server_create(struct loop *loop, const struct http_server_options *options, struct status *st);

/* The rows are borrowed as long as the server lives. The longest matching path wins. A GET row answers HEAD too. */
struct http_route {
    const char *method; /* NULL: any */
    const char *path;   /* "/v1/models"; with prefix also the paths below it */
    bool prefix;
    void (*handle)(struct http_request *request, void *data);
};
void http_server_route(struct http_server *server, const struct http_route *routes, size_t count, void *data);

/* Decides about each request after its headers, before any of its body is kept. It may set `owner` to the budget_owner
 * of the caller, which then pays for the body. False: `st` gives the reason. `refuse` (NULL: http_reply_status) answers
 * the request, and the rest of its body is read and dropped. */
struct http_access {
    bool (*admits)(const struct http_request *request, uint64_t *owner, struct status *st, void *data);
    void (*refuse)(struct http_request *request, const struct status *st, void *data);
    void *data;
};
void http_server_set_access(struct http_server *server, const struct http_access *access);

int http_server_port(const struct http_server *server);

/* Stops accepting, closes idle connections and finishes open answers; after `limit_ms` open ones are cut. `stopped`
 * runs once, from the loop, when no connection is left. */
void http_server_stop(struct http_server *server, int64_t limit_ms, void (*stopped)(void *data), void *data);

/* Cuts open answers; `left` of unanswered requests runs soon, from the loop. Not from within a handler. */
void http_server_destroy(struct http_server **server);

struct http_server_stats {
    unsigned connections, requests; /* open, unanswered */
    uint64_t accepted, served, left;
};
void http_server_stats(const struct http_server *server, struct http_server_stats *stats);

/* ---- The request ------------------------------------------------------------------------------------------------ */

const char *http_request_method(const struct http_request *request);
const char *http_request_path(const struct http_request *request); /* percent-decoded, without the query */
/* Path and query as they were sent, in the request's arena; NULL without the option keeps_target. */
const char *http_request_target(const struct http_request *request);
/* A decoded parameter of the query; NULL if it is missing, "" if it has no value. */
const char *http_request_query(const struct http_request *request, const char *name);
/* The last field of that name, as sent; NULL if there is no such field. A request that repeats Authorization,
 * Content-Type or another single-value field is refused before it reaches the handler. */
const char *http_request_header(const struct http_request *request, const char *name);
/* Never NULL, with a NUL behind it. */
const char *http_request_body(const struct http_request *request, size_t *size);
/* Takes `size` bytes of the budget for the answer, in the name of the body's owner, until http_request_unhold, or until
 * the answer has been sent or the client has gone. Always of the same budget, which outlives the server. False: it has
 * no room. */
bool http_request_hold(struct http_request *request, struct budget *budget, size_t size);
void http_request_unhold(struct http_request *request);
/* Frees the body, for a handler that has read it. The budget's bytes stay with the request, for the handler's data. */
void http_request_forget_body(struct http_request *request);
/* The handler's own pointer, for `answering`; NULL at first. Borrowed. */
void http_request_set_subject(struct http_request *request, const void *subject);
const void *http_request_subject(const struct http_request *request);
/* Lives as long as the request. */
struct arena *http_request_arena(struct http_request *request);

/* Runs `left` once if the client goes before the answer is complete; deferred if it has gone already. */
void http_request_on_left(struct http_request *request, void (*left)(struct http_request *request, void *data),
                          void *data);
bool http_request_left(const struct http_request *request);

/* ---- The answer ------------------------------------------------------------------------------------------------- */

/* A header of the answer, before the answer begins. Copied. False if it cannot be sent: it contains a line end, the
 * name is invalid, or the server sends it (Content-Length, Transfer-Encoding, Connection, Date). */
bool http_reply_header(struct http_request *request, const char *name, const char *value);

/* The whole answer; `bytes` is copied. */
void http_reply(struct http_request *request, int http_status, const char *content_type, const void *bytes,
                size_t size);
/* The same with malloc'ed bytes, which are taken. */
void http_reply_take(struct http_request *request, int http_status, const char *content_type, char *bytes, size_t size);
/* {"error":{"message":"..."}} */
void http_reply_error(struct http_request *request, int http_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a status: its HTTP code, its field, and Retry-After if it has a hint. */
void http_reply_status(struct http_request *request, const struct status *status);
int http_status_of(enum status_code code);

/* A stream, chunked for HTTP/1.1. Headers go out at once. */
void http_reply_begin(struct http_request *request, int http_status, const char *content_type);
/* Copies; never blocks. A client is taken to have left if more than stream_max is pending, or if it takes no byte for
 * idle_ms. */
void http_reply_write(struct http_request *request, const void *bytes, size_t size);
/* False while more than HTTP_SEND_WINDOW bytes wait for the client to read. */
bool http_reply_writable(const struct http_request *request);
/* Runs `writable` each time the window opens again. */
void http_reply_on_writable(struct http_request *request, void (*writable)(struct http_request *request, void *data),
                            void *data);
void http_reply_end(struct http_request *request);
/* Closes the connection, so that the client sees a cut stream, or no answer at all. */
void http_reply_abort(struct http_request *request);

#endif
