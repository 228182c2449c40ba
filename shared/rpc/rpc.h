/* Calls: the handler's view of the call that it answers, and the caller's view of the call that it makes.
 *
 * A service is the struct of functions that protoc-c generates. Its handlers run in a loop and end in exactly one reply
 * or failure; the `closure_data` that a handler is given is its `struct rpc_call`. A caller calls the very same
 * generated functions on a stub, with a `struct rpc_client_call` as `closure_data`. The code does not depend on whether
 * the service is in this process or in another pod.
 *
 *      static void plan(Renga__V1__Planner_Service *self, const Renga__V1__PlanRequest *request,
 *                       Renga__V1__PlanResponse_Closure reply, void *data)
 *      {
 *          struct rpc_call *call = data;
 *          if (request->question[0] == '\0') {
 *              rpc_fail_field(call, "question", "is empty; ask something");
 *              return;
 *          }
 *          ...
 *          reply(&response, call);
 *      }
 *
 * Streams. If the reply streams, `reply` is called for each message and then with NULL to end with OK. If the request
 * streams, the handler is called for each message and then with NULL once the client has sent its last. The call is the
 * same each time and rpc_call_data keeps the handler's data for it. If the client leaves before its last, the callback
 * of rpc_call_on_cancel runs. A handler without this callback is called with NULL all the same (and rpc_call_cancelled
 * is true), so that it ends the call.
 *
 * All functions here are called from inside the call's loop. */
#ifndef RENGA_RPC_RPC_H
#define RENGA_RPC_RPC_H

#include "base/arena.h"
#include "base/status.h"
#include "base/trace.h"
#include "loop/loop.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job;
struct rpc_call;
struct rpc_outbound;

#define RPC_MESSAGE_DEFAULT_MAX (4u << 20) /* bytes of a message, as every gRPC client assumes */

/* The caller, as authentication found it; both are empty strings if authentication is off. */
struct rpc_principal {
    const char *name;
    const char *tenant;
};

struct rpc_metadata {
    const char *key; /* lower case; ends in "-bin" if the value is not printable ASCII */
    const void *value;
    size_t size;
};

/* The `invoke` of every service of ours, instead of protobuf-c's own: a function that is left NULL answers
 * UNIMPLEMENTED, so a service sets only the functions that it has. */
void rpc_service_invoke(ProtobufCService *service, unsigned method_index, const ProtobufCMessage *input,
                        ProtobufCClosure closure, void *closure_data);

/* ---- The call that is being answered ----------------------------------------------------------------------------- */

/* Ends the call with a status that is not OK. Once, instead of a reply (or of further replies of a stream). */
void rpc_fail(struct rpc_call *call, const struct status *status);
void rpc_fail_with(struct rpc_call *call, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* INVALID_ARGUMENT that names the field; it reaches the client also as google.rpc.BadRequest. */
void rpc_fail_field(struct rpc_call *call, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A reply of a stream that is a packed message already; copied, not checked. */
void rpc_reply_packed(struct rpc_call *call, const void *bytes, size_t size);

/* Memory that lives as long as the call. The request lives in it too. */
struct arena *rpc_call_arena(struct rpc_call *call);
/* A copy of a message in an arena; NULL if the arena is out. */
void *rpc_message_copy(struct arena *arena, const ProtobufCMessage *message);
struct loop *rpc_call_loop(const struct rpc_call *call);

/* When the caller stops waiting, on clock_now_ns; TIME_NEVER if it set no deadline and the server has no limit. */
int64_t rpc_call_deadline_ns(const struct rpc_call *call);

/* The client went away, cancelled, or the deadline passed; or the runtime had to give up a stream. A handler that is
 * still at work stops and finishes the call as usual; its later replies are dropped. */
bool rpc_call_cancelled(const struct rpc_call *call);

/* Runs `cancelled` once, from the loop, if that happens before the handler has finished; at once (deferred) if it has
 * happened already. A second registration replaces the first. */
void rpc_call_on_cancel(struct rpc_call *call, void (*cancelled)(struct rpc_call *call, void *data), void *data);

/* The handler's own pointer, NULL at first. */
void rpc_call_set_data(struct rpc_call *call, void *data);
void *rpc_call_data(const struct rpc_call *call);

/* "renga.v1.Planner/Plan" */
const char *rpc_call_method(const struct rpc_call *call);
/* The caller: the client of the key, or the client for which a service with the right to forward has called. */
const struct rpc_principal *rpc_call_principal(const struct rpc_call *call);
/* True for the latter. */
bool rpc_call_is_forwarded(const struct rpc_call *call);
/* Each answer takes bytes of the process' budget for answers, in the name of the caller, from its reply until it has
 * been sent; without room the call ends with RESOURCE_EXHAUSTED and a hint when to retry. This function takes the bytes
 * of a unary answer of `size` bytes earlier, for a handler that makes a large one: the reply takes only what is missing
 * then. If the answer is made again, it is taken once. By the handler's part that owns the call, in any loop. False: no
 * room, which `st` says. */
bool rpc_call_hold(struct rpc_call *call, size_t size, struct status *st);
/* Sets loop, deadline and owner (loop/jobs.h). While the job is under way the call is not to be ended. */
void rpc_call_job(const struct rpc_call *call, struct job *job);
/* Of the requests so far, as they are packed. */
size_t rpc_call_received_bytes(const struct rpc_call *call);
/* For spans below the call's own, and for calls that it makes. */
const struct trace_context *rpc_call_trace(struct rpc_call *call);
/* The same for work that may outlast the call and has a trace of its own if trace.roots=runs: no span is below. */
const struct trace_context *rpc_call_trace_apart(const struct rpc_call *call);
/* The context for a call on behalf of a client of another protocol, with this traceparent. False if it is not valid;
 * then `trace` is left alone. */
bool rpc_trace_outside(struct trace_context *trace, const char *traceparent, size_t length);
/* "ipv4:10.0.0.7:40122", "inproc" */
const char *rpc_call_peer(struct rpc_call *call);
/* Whether it comes from this process. */
bool rpc_call_is_local(const struct rpc_call *call);

/* The first value of a request metadata key, or NULL. Not NUL-terminated. Keys in lower case. */
const void *rpc_call_metadata(const struct rpc_call *call, const char *key, size_t *size);

/* Trailing metadata: the failed call was already retried behind us, so the caller's channel does not retry. */
#define RPC_PUSHBACK_KEY   "grpc-retry-pushback-ms"
#define RPC_PUSHBACK_NEVER "-1"

/* Metadata of the answer, copied. Initial metadata goes out with the first message; later additions are lost.
 * Ours stays under 4 KB a call, or clients drop the connection. More is refused with false, and so is a value that is
 * not printable ASCII under a key without "-bin". */
bool rpc_call_add_initial(struct rpc_call *call, const char *key, const void *value, size_t size);
bool rpc_call_add_trailing(struct rpc_call *call, const char *key, const void *value, size_t size);

/* A detail of the failure that the call is to end with, as google.rpc.Status carries it: the packed message of type
 * "type.googleapis.com/google.rpc.QuotaFailure". Copied. The field and the retry hint of the status become details of
 * their own beside it. False if all added details would exceed 2,560 bytes. */
bool rpc_call_add_detail(struct rpc_call *call, const char *type_url, const void *bytes, size_t size);

/* Asks for compressed replies if the client accepts them (gzip). */
void rpc_call_compress(struct rpc_call *call);

/* True if the request message that is being handled was compressed. */
bool rpc_call_was_compressed(const struct rpc_call *call);

/* The send window of a stream: false while more than RPC_SEND_WINDOW bytes wait for the client to read. A stream that
 * goes on sending past RPC_SEND_QUEUE_MAX ends in RESOURCE_EXHAUSTED: the client reads too slowly. */
#define RPC_SEND_WINDOW    (64u << 10)
#define RPC_SEND_QUEUE_MAX (16u << 20)
bool rpc_call_writable(const struct rpc_call *call);

/* Runs `writable` each time the window opens again. */
void rpc_call_on_writable(struct rpc_call *call, void (*writable)(struct rpc_call *call, void *data), void *data);

/* ---- The call that is being made --------------------------------------------------------------------------------- */

#define RPC_TIMEOUT_DEFAULT_MS 30000

/* Embedded in its owner and alive until the last run of the closure. The closure gets it as `closure_data`:
 * a unary call runs it once, with the response or with NULL; a stream runs it for each message and then with NULL.
 * On the last run `status` says how the call ended. The response lives until the closure returns.
 * The closure never runs from within the function that starts, resumes or cancels the call. */
struct rpc_client_call {
    struct loop *loop;                     /* in which the closure runs */
    struct rpc_call *parent;               /* on whose behalf: hands on deadline, cancellation and trace. May be NULL */
    const struct trace_context *trace;     /* the parent span if there is no parent call. May be NULL */
    const struct rpc_principal *principal; /* the caller, without a parent call; else the parent's caller. The
                                              service sees it as rpc_call_principal; a remote service does so if the
                                              channel's key may forward, else it refuses the call. NULL or empty: the
                                              process calls for itself. Borrowed until the call has been started */
    int64_t timeout_ms;                    /* never more than the parent has left */
    const struct rpc_metadata *metadata;   /* borrowed until the call has been started; not "renga-forwarded-bin" */
    size_t metadata_count;
    void *owner; /* the caller's own pointer */

    struct status status;
    struct rpc_outbound *outbound;     /* the runtime's; NULL when the call has ended */
    const struct rpc_outbound *answer; /* the runtime's, for the last run of the closure */
};

/* Zeroes the call and sets the first three fields and the default timeout. `parent` may be NULL. */
void rpc_client_call_init(struct rpc_client_call *call, struct loop *loop, struct rpc_call *parent);

/* Ends the call with CANCELLED and tells the peer. The closure still runs its last time. No effect if it has ended. */
void rpc_client_call_cancel(struct rpc_client_call *call);

/* Back-pressure: a paused stream takes no further message, and the sender's window closes after a while. */
void rpc_client_call_pause(struct rpc_client_call *call);
void rpc_client_call_resume(struct rpc_client_call *call);

/* The first value of a key in the answer's initial or trailing metadata, or NULL; valid until the closure returns. */
const void *rpc_client_call_metadata(const struct rpc_client_call *call, const char *key, size_t *size);

/* Bytes of the answers so far, as they are packed; in the last run of the closure. */
size_t rpc_client_call_received_bytes(const struct rpc_client_call *call);

/* Whether the call ended without an answer of the service: no connection could be made, or the connection broke. For
 * services of this runtime only; valid until the closure returns. */
bool rpc_client_call_is_lost(const struct rpc_client_call *call);

#endif
