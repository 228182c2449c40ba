/* The inside of mcp/: a server, its requests, and its two transports.
 *
 *      IDLE ---> STARTING ---> READY ---.     all callbacks of a server run in the loop of its runner
 *       ^           |            |      |
 *       '-- BACKOFF <------------'      '---> (a session that the server has lost is begun anew: STARTING)
 *
 * A transport carries messages: it passes received messages to mcp_received, a request that cannot be answered to
 * mcp_request_failed, and its own end to mcp_server_fail. */
#ifndef RENGA_MCP_PRIV_H
#define RENGA_MCP_PRIV_H

#include "base/buffer.h"
#include "mcp.h"
#include "setup.h"
#include "telemetry/metrics.h"

#include <pthread.h>

#define MCP_REVISION_LEGACY "2025-11-25"
#define MCP_REVISION_MODERN "2026-07-28"
#define MCP_MESSAGE_MAX     ((size_t)1 << 20) /* bytes of a message of ours */
#define MCP_HEADER_MAX      512               /* bytes of a tool's name as a header */
#define MCP_WAITING_MAX     1024              /* requests under way at a server */

struct http_headers;
struct json_writer;
struct mcp_call;
struct mcp_reading;

enum mcp_state { MCP_IDLE, MCP_STARTING, MCP_READY, MCP_BACKOFF };

/* A request of ours, until its answer. Embedded in its owner. */
struct mcp_request {
    int64_t id;
    const char *method;
    /* Once: a result (mcp_take_result) or, if it is NULL, the reason in `status`. */
    void (*answered)(struct mcp_request *request, const cJSON *result, const struct status *status);
    struct timer late;
    int64_t timeout_ms; /* 0: its owner looks at the time itself */
    bool unsent;        /* of a failed request: it has not reached the server */
    struct mcp_server *server;
    struct mcp_request *next; /* of those under way */
    void *exchange;           /* the transport's */
};

struct mcp_transport {
    /* A process is started, a session is prepared: handshake may be sent. */
    bool (*open)(struct mcp_server *server, struct status *st);
    /* `request` NULL: the server sends no answer. `tool` is the called tool, or NULL. */
    void (*send)(struct mcp_server *server, const struct buffer *message, struct mcp_request *request,
                 const char *method, const char *tool);
    /* Its answer has come, or is no longer wanted; may be NULL. */
    void (*forget)(struct mcp_request *request, bool answered);
    /* Closes the connection at once; its process or its transfers end later, without a further call. */
    void (*close)(struct mcp_server *server);
    /* Waits a moment for the closed connections. */
    void (*reap)(struct mcp_server *server);
    bool probes; /* a request can tell whether a silent server still works */
};
extern const struct mcp_transport mcp_stdio, mcp_streamable;

struct mcp_server {
    struct mcp *mcp;
    const struct mcp_setup *setup;
    const struct mcp_transport *transport;
    struct tool_runner *runner; /* the instance that has it; NULL: not asked yet */
    struct loop *loop;          /* of `runner` */

    unsigned state;
    bool modern; /* revision 2026-07-28 */
    char revision[16];
    void *wire;   /* the transport's */
    void *closed; /* closed connections that have not ended yet */
    struct mcp_request *requests;
    unsigned request_count;
    int64_t next_id;
    struct mcp_request handshake, list, probe;
    cJSON *result; /* while `answered` runs */
    bool listing, probing, changed;
    struct mcp_tools *fresh; /* the list that is being read */
    unsigned pages;

    struct mcp_reading *readings, **readings_end; /* received and not understood yet, in order */
    size_t unread_bytes;
    unsigned dropped; /* readings that a worker still has */
    bool dispatching;

    struct mcp_discovery *discoveries;
    struct mcp_call *waiting, **waiting_end; /* calls until it is ready */
    struct timer start_limit, relist;
    struct work failure_work;
    bool failing;
    struct status failure; /* why it is not tried now */
    unsigned failures;     /* in a row */
    int64_t backoff_until_ns;

    pthread_mutex_t lock;    /* of: */
    struct mcp_tools *tools; /* as it last said */
};

/* Its loop; any thread. */
struct loop *mcp_server_loop(struct mcp_server *server);

/* ---- server.c: its life ------------------------------------------------------------------------------------------ */

void mcp_server_init(struct mcp_server *server, struct mcp *mcp, const struct mcp_setup *setup);
void mcp_server_fini(struct mcp_server *server);

/* From inside its loop. False with `st`: it is in backoff, or could not be started. */
bool mcp_server_start(struct mcp_server *server, struct status *st);
/* The server has failed: waiting callers are told, soon. */
void mcp_server_fail(struct mcp_server *server, const struct status *why);
/* The session is lost, the server still works: repeats the handshake, and sends the calls that it has not seen
 * again. */
void mcp_session_lost(struct mcp_server *server);
/* Our process ends: all requests fail. */
void mcp_server_close(struct mcp_server *server);
/* A call was answered: earlier failures are forgotten. */
void mcp_server_works(struct mcp_server *server);
/* A call was not answered in time: checks whether the server still answers. */
void mcp_probe(struct mcp_server *server);
/* The list of tools is known: it is ready. */
void mcp_server_listed(struct mcp_server *server, const struct status *status);

/* ---- handshake.c, listing.c -------------------------------------------------------------------------------------- */

void mcp_handshake(struct mcp_server *server);
void mcp_list(struct mcp_server *server);
void mcp_list_changed(struct mcp_server *server);

/* ---- message.c: sent and received messages ----------------------------------------------------------------------- */

/* Sends a request: `write` adds to its params; may be NULL. `trace` may be NULL. */
void mcp_request(struct mcp_server *server, struct mcp_request *request, const char *tool,
                 const struct trace_context *trace, void (*write)(struct json_writer *params, const void *data),
                 const void *data);
void mcp_notify(struct mcp_server *server, const char *method,
                void (*write)(struct json_writer *params, const void *data), const void *data);
/* Cancels a request: the server is told, and `answered` does not run. */
void mcp_request_cancel(struct mcp_request *request);
/* Removes a request; `answered` does not run. */
void mcp_request_forget(struct mcp_request *request);
void mcp_request_failed(struct mcp_request *request, const struct status *status);
void mcp_fail_requests(struct mcp_server *server, const struct status *status);

void mcp_dispatch(struct mcp_server *server, cJSON *message);
/* From within `answered`: the result becomes the caller's. */
cJSON *mcp_take_result(struct mcp_server *server);

/* ---- reading.c: a long message becomes JSON in a worker ---------------------------------------------------------- */

/* A single message, a JSON object. Other values are ignored. */
void mcp_received(struct mcp_server *server, const char *text, size_t length);
/* The same of a text on the heap, NUL-terminated, which it takes. */
void mcp_received_text(struct mcp_server *server, char *text, size_t length);
/* Calls `then` when all received messages are understood: perhaps at once, and at the latest when the wire is
 * closed. */
void mcp_after(struct mcp_server *server, void (*then)(void *data), void *data);
/* The wire is closed: drops all messages that are not understood yet. */
void mcp_readings_drop(struct mcp_server *server);
/* Waits a moment for the workers that still read dropped messages. */
void mcp_readings_await(struct mcp_server *server);

/* ---- header.c ---------------------------------------------------------------------------------------------------- */

/* The text itself or, if it has other characters than ASCII's, an encoded form in the room; NULL if it is too long. */
const char *mcp_header_text(const char *name, char room[MCP_HEADER_MAX + 1]);
/* Adds the headers of all requests to the server. */
bool mcp_add_headers(struct http_headers *headers, const struct mcp_setup *setup, struct status *st);

/* ---- call.c ------------------------------------------------------------------------------------------------------ */

void mcp_call_start(struct tool_run *run);
void mcp_call_cancel(struct tool_run *run);
/* Sends or refuses the waiting calls: the server is ready, or will not be (`status`). */
void mcp_calls_send(struct mcp_server *server);
void mcp_calls_refuse(struct mcp_server *server, const struct status *status);
/* The call's session is lost: it waits again, unless it was sent twice already. */
bool mcp_call_requeue(struct mcp_request *request);

/* ---- mcp.c ------------------------------------------------------------------------------------------------------- */

void mcp_discoveries_answer(struct mcp_server *server, const struct status *status);

/* ---- tools.c, result.c ------------------------------------------------------------------------------------------- */

struct mcp_tools *mcp_tools_create(void);
/* Adds a description of the server's list if it is legal and allowed; the name is made legal and unique. */
void mcp_tools_add(struct mcp_tools *tools, struct mcp_server *server, const cJSON *description);

/* Writes a result of tools/call into the run and ends it. */
void mcp_result_write(struct tool_run *run, const cJSON *result);

#endif
