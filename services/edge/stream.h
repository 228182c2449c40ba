/* An answer in pieces: server-sent events for a client that accepts them, else lines of JSON.
 *
 *      opened ---(the first event, an error's event, or STREAM_OPEN_MS)---> begun ---> closed
 *         '---(an error before it has begun: the request fails with its HTTP status)---> released
 *
 * Events wait for the client in its connection, HTTP_SEND_WINDOW bytes and one event at most: beyond it `pause` is
 * called, and `resume` when the client has read. A large event is written by a worker (writing.h): meanwhile the stream
 * is paused, too, and what the owner writes or closes waits behind the event. A client that reads no bytes for
 * edge.reader_timeout gets the event `gap`, and its stream ends; it comes back with the id of the last event that it
 * has seen.
 *
 * The owner of a stream embeds it in memory of the request, and closes or releases it once: after the last run of its
 * calls' closures. */
#ifndef RENGA_EDGE_STREAM_H
#define RENGA_EDGE_STREAM_H

#include "edge_priv.h"

#include "base/buffer.h"

#define STREAM_OPEN_MS  300  /* how long an error may still be an HTTP status */
#define STREAM_RETRY_MS 2000 /* the wait of a client of events before it reconnects */
#define STREAM_LEAVE_MS 9000 /* the spread of that when the process leaves, above a second */

struct edge_stream;

struct edge_stream_ops {
    void (*pause)(struct edge_stream *stream);
    void (*resume)(struct edge_stream *stream);
    /* The client is gone: the owner ends the calls. May run more than once. */
    void (*cancel)(struct edge_stream *stream);
};

struct edge_stream {
    const struct edge_stream_ops *ops;
    struct edge *edge;
    struct http_request *request;
    struct edge_stream *next, **link;      /* in edge->streams */
    const struct rpc_principal *principal; /* valid as long as the request */
    uint64_t owner;                        /* of the client */
    unsigned calls;                        /* that it takes of those of its tenant */
    struct buffer waiting;                 /* events behind a large one that is being written */
    const char *method;                    /* valid as long as the request */
    struct timer opening, heartbeat, patience, access;
    bool is_sse, begun, paused;
    bool silent;           /* its last event has been written: others are dropped */
    bool writing, closing; /* a large event is under way; the stream closes behind it */
};

/* `stream` is zeroed. `calls`: the calls of services that it consists of. `method` is the one that the client's key
 * must allow; it is asked for again each edge.heartbeat, and a client whose key has gone, or who has signed out, gets
 * an event `error`. False: the client has too many, or accepts no form of a stream; the request has been answered. */
bool stream_open(struct edge_stream *stream, const struct edge_stream_ops *ops, struct edge *edge,
                 struct http_request *request, const struct rpc_principal *principal, const char *method,
                 unsigned calls);

/* Begins an event in edge->out; its data are written behind it, one value of JSON. `name` NULL: a message of the
 * contract; in a stream of lines, others stand in an object of that name. `id` NULL or empty: no id. */
struct json_writer stream_event_begin(struct edge_stream *stream, const char *name, const char *id);
/* Sends it. */
void stream_event_end(struct edge_stream *stream, struct json_writer *writer, const char *name);

/* A message of the contract as an event, with its event_id or, if `id` is not NULL, with that id. */
void stream_write_message(struct edge_stream *stream, const char *id, const ProtobufCMessage *message);

#define REASON_DEFAULT   "COMPLETED" /* of a stream whose messages have no stop reason */
#define REASON_NOT_SHOWN "NOT_SHOWN" /* the message that has it stands before the client's id */

/* The name of the stop reason that a message has, or NULL. The last message of a stream of the contract has one. */
const char *stream_reason_of(const ProtobufCMessage *message);
/* Whether messages of the type can have one. */
bool stream_has_reasons(const ProtobufCMessageDescriptor *type);

/* The last events. Each is written once; the owner then closes the stream. */
void stream_write_end(struct edge_stream *stream, const char *reason);
void stream_write_error(struct edge_stream *stream, const struct rpc_client_call *call);
void stream_write_gap(struct edge_stream *stream, const char *reason, const char *text);

/* Ends the answer. */
void stream_close(struct edge_stream *stream);
/* The answer was not begun, and the owner ends the request itself. */
void stream_release(struct edge_stream *stream);

/* The process stops: tells all clients to reconnect, each after its own random delay. */
void stream_leave_all(struct edge *edge);

/* Calls a method that streams. */
void stream_begin(struct edge *edge, struct http_request *request, const struct rpc_principal *principal,
                  ProtobufCService *stub, const struct rpc_method *method, const ProtobufCMessage *message);

#define STREAM_ID_MAX 24 /* bytes of an event's number as text */
/* The event_id of a message as text; empty if its type has no event_id. */
void stream_event_id(const ProtobufCMessage *message, char id[STREAM_ID_MAX]);

#endif
