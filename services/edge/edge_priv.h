/* Private to the edge: the parts of an instance, and the path of a request through them.
 *
 *      head ---> access.c: key, session, origin ---> body ---> handle.c ---> call.c: unary ---> errors.c or reply.c
 *                                                                  |---> stream.c, multiplex.c: streams
 *                                                                  '---> session.c, assets.c, openapi_answer.c: own
 *
 * Each loop has an instance, all on one port; they have `shared` in common. */
#ifndef RENGA_EDGE_PRIV_H
#define RENGA_EDGE_PRIV_H

#include "base/buffer.h"
#include "base/status.h"
#include "config/config.h"
#include "http/server.h"
#include "loop/loop.h"
#include "routes.h"
#include "rpc/rpc.h"
#include "rpc/schema.h"

#include <protobuf-c/protobuf-c.h>

#define EDGE_SERVICES_MAX 12
#define EDGE_TYPE_JSON    "application/json"

struct budget;
struct edge_shared;
struct edge_metrics;
struct service_context;

extern const struct option edge_options[];

/* The stub of a service of the table. */
struct edge_peer {
    const ProtobufCServiceDescriptor *descriptor;
    ProtobufCService *stub; /* NULL: `why` */
    struct status why;
};

struct edge_settings {
    const char *listen; /* NULL: nowhere */
    const char *hosts, *origin;
    const char *const *cors; /* origins whose pages may call */
    size_t cors_count;
    size_t message_max;
    int64_t timeout_ms;      /* of a unary call without a deadline of its own */
    int64_t call_max_ms;     /* of any */
    int64_t heartbeat_ms;    /* between two signs of life of a stream */
    int64_t reader_ms;       /* how long a reader of a stream may read no bytes */
    const char *session_key; /* NULL: sessions are in memory */
    int64_t session_idle_ms, session_max_ms;
    unsigned streams_per_client;
    bool is_loopback;
};

struct edge {
    ProtobufCService base; /* first; without a descriptor */
    struct loop *loop;
    const struct rpc_auth *auth; /* NULL: no keys */
    const struct rpc_schema *schema;
    struct budget *answers; /* of the process */
    struct edge_settings settings;
    struct edge_shared *shared;
    struct edge_metrics *metrics; /* NULL: no counts */
    struct http_server *server;   /* NULL: it does not listen */
    struct edge_peer peers[EDGE_SERVICES_MAX];
    size_t peer_count;
    struct buffer out; /* the next output; empty between two callbacks */

    unsigned calls; /* under way */
    struct edge_stream *streams;
    bool stopped;
    struct work report;
    void (*drained)(void *data);
    void *drained_data;
};

/* ---- handle.c ---------------------------------------------------------------------------------------------------- */

/* Every request comes here. `data` is the edge. */
void edge_handle(struct http_request *request, void *data);

const struct edge_peer *edge_find_peer(const struct edge *edge, const ProtobufCServiceDescriptor *service);

/* ---- access.c ---------------------------------------------------------------------------------------------------- */

/* Decides, for http/server.h, whether a request is accepted, before its body is read. */
bool edge_admits(const struct http_request *request, uint64_t *owner, struct status *st, void *data);
void edge_refuse_head(struct http_request *request, const struct status *st, void *data);
/* The answer to a request that the server itself refuses. */
void edge_refuse_raw(struct http_request *request, int http_status, const char *text);

/* The caller of the method, "renga.v1.Helpdesk/Ask"; NULL with UNAUTHENTICATED or PERMISSION_DENIED. */
const struct rpc_principal *edge_principal(const struct edge *edge, const struct http_request *request,
                                           const char *method, struct status *st);

/* ---- reply.c ----------------------------------------------------------------------------------------------------- */

/* The headers that every answer has. First. */
void edge_reply_headers(const struct edge *edge, struct http_request *request);
/* Answers with the JSON in `out`, and empties `out`. */
void edge_reply_json(struct edge *edge, struct http_request *request, int http_status, struct buffer *out);

/* ---- call.c ------------------------------------------------------------------------------------------------------ */

/* A call under way for a request; in the request's arena. */
struct edge_call {
    struct rpc_client_call base; /* first */
    struct edge *edge;
    struct http_request *request;
};

/* Calls the matched method: `target` is the request's own. */
void edge_call_begin(struct edge *edge, struct http_request *request, const struct edge_match *match);

/* The client's own span, which becomes the parent of the call's; NULL: it has none. */
const struct trace_context *edge_call_trace(const struct http_request *request, struct arena *arena);

/* Whether the body is JSON by its Content-Type. */
bool edge_body_is_json(const struct http_request *request);

/* A call of `size` bytes that begins with a struct edge_call, for the principal, with the client's deadline; NULL: the
 * request has been answered. */
struct edge_call *edge_call_create(struct edge *edge, struct http_request *request,
                                   const struct rpc_principal *principal, bool streams, size_t size);
void edge_check_drained(struct edge *edge);

/* ---- openapi_answer.c -------------------------------------------------------------------------------------------- */

/* Answers GET /openapi.json, from the document of openapi/openapi.h. */
void openapi_handle(struct edge *edge, struct http_request *request);

/* ---- deadline.c -------------------------------------------------------------------------------------------------- */

/* The deadline that the client sets by X-Request-Timeout or Grpc-Timeout, in milliseconds, 0 without one.
 * INVALID_ARGUMENT for one that cannot be read, or two that differ. */
bool edge_deadline_read(const struct http_request *request, int64_t *timeout_ms, struct status *st);

#endif
