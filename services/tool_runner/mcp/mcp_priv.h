/* The inside of mcp/: a server, what it is asked, and the two ways to it.
 *
 *      IDLE ---> STARTING ---> READY ---.     everything of a server happens in the loop that is its home
 *       ^           |            |      |
 *       '-- RESTING <------------'      '---> (a session that the server has lost is begun anew: STARTING)
 *
 * A transport carries messages: it gives what comes to mcp_received, a request that cannot be answered to
 * mcp_request_failed, and its own end to mcp_broke. */
#ifndef RENGA_MCP_PRIV_H
#define RENGA_MCP_PRIV_H

#include "base/buffer.h"
#include "mcp.h"
#include "setup.h"
#include "telemetry/metrics.h"

#include <pthread.h>

#define MCP_REVISION_LEGACY "2025-11-25"
#define MCP_REVISION_MODERN "2026-07-28"
#define MCP_MESSAGE_MAX     ((size_t)1 << 20) /* bytes of one message of ours */
#define MCP_HEADER_MAX      512               /* bytes of a tool's name as a header */
#define MCP_WAITING_MAX     1024              /* requests under way at one server */

struct http_headers;
struct json_writer;
struct mcp_call;
struct mcp_reading;

enum mcp_state { MCP_IDLE, MCP_STARTING, MCP_READY, MCP_RESTING };

/* A request of ours, until its answer. Embedded in its owner. */
struct mcp_request {
    int64_t id;
    const char *method;
    /* Once: a result (mcp_take_result) or, where it is NULL, why there is none. */
    void (*answered)(struct mcp_request *request, const cJSON *result, const struct status *status);
    struct timer late;
    int64_t timeout_ms; /* 0: its owner looks at the time itself */
    bool unsent;        /* of one that failed: it has not reached the server */
    struct mcp_server *server;
    struct mcp_request *next; /* of those under way */
    void *exchange;           /* the transport's */
};

struct mcp_transport {
    /* A process is started, a session is prepared: hello may be sent. */
    bool (*open)(struct mcp_server *server, struct status *st);
    /* `request` NULL: nothing is answered. `tool` is the one that is called, or NULL. */
    void (*send)(struct mcp_server *server, const struct buffer *message, struct mcp_request *request,
                 const char *method, const char *tool);
    /* Its answer has come, or is no longer wanted; may be NULL. */
    void (*forget)(struct mcp_request *request, bool answered);
    /* Ends at once; what still has to die does so on its own. */
    void (*close)(struct mcp_server *server);
    /* Waits a moment for what was closed. */
    void (*bury)(struct mcp_server *server);
    bool probes; /* silence can be told from death by asking */
};
extern const struct mcp_transport mcp_stdio, mcp_streamable;

struct mcp_server {
    struct mcp *mcp;
    const struct mcp_setup *setup;
    const struct mcp_transport *transport;
    struct tool_runner *home; /* NULL: nobody has asked yet */
    struct loop *loop;        /* of its home */

    unsigned state;
    bool modern; /* revision 2026-07-28 */
    char revision[16];
    void *wire;   /* the transport's */
    void *closed; /* what was closed and is not dead yet */
    struct mcp_request *requests;
    unsigned request_count;
    int64_t next_id;
    struct mcp_request hello, list, probe;
    cJSON *result; /* while it is being told */
    bool listing, probing, changed;
    struct mcp_tools *fresh; /* the list that is being read */
    unsigned pages;

    struct mcp_reading *readings, **readings_end; /* what came and is not understood yet, in its order */
    size_t unread_bytes;
    unsigned dropped; /* readings that a worker still has */
    bool understanding;

    struct mcp_asking *askings;
    struct mcp_call *waiting, **waiting_end; /* calls until it is ready */
    struct timer start_limit, relist;
    struct work dying;
    bool doomed;
    struct status death; /* why it rests */
    unsigned failures;   /* in a row */
    int64_t rest_until_ns;

    pthread_mutex_t lock;    /* of: */
    struct mcp_tools *tools; /* as it last said */
};

/* Its loop; any thread. */
struct loop *mcp_server_home(struct mcp_server *server);

/* ---- server.c: its life ------------------------------------------------------------------------------------------ */

void mcp_server_init(struct mcp_server *server, struct mcp *mcp, const struct mcp_setup *setup);
void mcp_server_fini(struct mcp_server *server);

/* From inside its home. False with `st`: it rests, or could not be started. */
bool mcp_server_start(struct mcp_server *server, struct status *st);
/* It is told to whoever waits, soon. */
void mcp_broke(struct mcp_server *server, const struct status *why);
/* The session is gone, the server is there: hello again, and calls that it has not seen are sent anew. */
void mcp_session_lost(struct mcp_server *server);
/* The process ends; everything is failed. */
void mcp_server_close(struct mcp_server *server);
/* A call was answered: what went wrong before is forgotten. */
void mcp_server_works(struct mcp_server *server);
/* A call was not answered in time: does the server still live? */
void mcp_probe(struct mcp_server *server);
/* The list of tools is known: it is ready. */
void mcp_server_listed(struct mcp_server *server, const struct status *status);

/* ---- hello.c, listing.c ------------------------------------------------------------------------------------------ */

void mcp_hello(struct mcp_server *server);
void mcp_list(struct mcp_server *server);
void mcp_list_changed(struct mcp_server *server);

/* ---- message.c: what is sent and what comes ---------------------------------------------------------------------- */

/* Sends a request: `write` adds to its params; may be NULL. `trace` may be NULL. */
void mcp_request(struct mcp_server *server, struct mcp_request *request, const char *tool,
                 const struct trace_context *trace, void (*write)(struct json_writer *params, const void *data),
                 const void *data);
void mcp_notify(struct mcp_server *server, const char *method,
                void (*write)(struct json_writer *params, const void *data), const void *data);
/* Not wanted any more: the server is told, and `answered` does not run. */
void mcp_request_cancel(struct mcp_request *request);
/* `answered` does not run. */
void mcp_request_forget(struct mcp_request *request);
void mcp_request_failed(struct mcp_request *request, const struct status *status);
void mcp_fail_requests(struct mcp_server *server, const struct status *status);

void mcp_understand(struct mcp_server *server, cJSON *message);
/* From within `answered`: the result becomes the caller's. */
cJSON *mcp_take_result(struct mcp_server *server);

/* ---- reading.c: a long message becomes JSON in a worker ------------------------------------------------------------
 */

/* One message, a JSON object. Anything else is passed over. */
void mcp_received(struct mcp_server *server, const char *text, size_t length);
/* The same of a text on the heap, NUL-terminated, which it takes. */
void mcp_received_text(struct mcp_server *server, char *text, size_t length);
/* Calls `then` when all that was received is understood: perhaps at once, and at the latest when the wire is closed. */
void mcp_after(struct mcp_server *server, void (*then)(void *data), void *data);
/* The wire is closed: what is not understood by now never is. */
void mcp_readings_drop(struct mcp_server *server);
/* Waits a moment for the workers that still read what was dropped. */
void mcp_readings_bury(struct mcp_server *server);

/* ---- header.c ---------------------------------------------------------------------------------------------------- */

/* The text itself or, where it has other characters than ASCII's, in the room; NULL where it is too long. */
const char *mcp_header_text(const char *name, char room[MCP_HEADER_MAX + 1]);
/* Those that all requests to the server have. */
bool mcp_add_headers(struct http_headers *headers, const struct mcp_setup *setup, struct status *st);

/* ---- call.c ------------------------------------------------------------------------------------------------------ */

void mcp_call_start(struct tool_run *run);
void mcp_call_cancel(struct tool_run *run);
/* Those that wait: the server is ready, or will not be (`status`). */
void mcp_calls_send(struct mcp_server *server);
void mcp_calls_refuse(struct mcp_server *server, const struct status *status);
/* Its session is gone: back among those that wait, unless it was sent twice already. */
bool mcp_call_requeue(struct mcp_request *request);

/* ---- mcp.c ------------------------------------------------------------------------------------------------------- */

void mcp_askings_answer(struct mcp_server *server, const struct status *status);

/* ---- tools.c, result.c ------------------------------------------------------------------------------------------- */

struct mcp_tools *mcp_tools_create(void);
/* Adds one of the server's descriptions where it is legal and allowed; the name is made legal and unique. */
void mcp_tools_add(struct mcp_tools *tools, struct mcp_server *server, const cJSON *description);

/* Writes a result of tools/call into the run and ends it. */
void mcp_result_write(struct tool_run *run, const cJSON *result);

#endif
