/* The call that is being answered, as its transport sees it: gRPC core (server_call.c) or this process (local.c).
 * Private to shared/rpc.
 *
 *      begun --deliver--> in the handler --reply, fail--> ended --> the transport sends the status, then rpc_call_fini
 *        '---------------- abort (client gone, deadline, shutdown) ---- the handler still ends it ----' */
#ifndef RENGA_RPC_CALL_H
#define RENGA_RPC_CALL_H

#include "base/budget.h"
#include "base/log.h"
#include "rpc/rpc.h"
#include "rpc/schema.h"

#define CALL_STORAGE_SIZE  2048 /* bytes of a call's arena that need no heap */
#define CALL_METADATA_MAX  4096 /* bytes of metadata we add to an answer */
#define CALL_MEMORY_FACTOR 8    /* a call's arena, in times of the largest message */

struct rpc_call_ops {
    /* Takes a copy of a unary answer instead; false: it has to be packed. NULL: always. */
    bool (*pass)(struct rpc_call *call, const ProtobufCMessage *message, size_t size);
    /* Memory for a message of `size` bytes; it is sent by the `commit` that follows. */
    uint8_t *(*reserve)(struct rpc_call *call, size_t size);
    void (*commit)(struct rpc_call *call);
    /* Sends `call->status` after all messages; the call is the transport's from now on. */
    void (*end)(struct rpc_call *call);
    /* Answers the client with `status` at once and aborts the call; its handler has still to end it. */
    void (*abort)(struct rpc_call *call, const struct status *status);
    const void *(*metadata)(const struct rpc_call *call, const char *key, size_t *size);
    const char *(*peer)(struct rpc_call *call);
};

/* An entry of the answer's metadata, in the call's arena. */
struct rpc_metadata_item {
    struct rpc_metadata_item *next;
    struct rpc_metadata metadata;
};

struct rpc_call {
    const struct rpc_call_ops *ops;
    struct loop *loop;
    const struct rpc_method *method; /* NULL: an unknown method */
    ProtobufCService *service;       /* NULL: the runtime's own (health, reflection) */
    size_t message_max, memory_max;

    struct arena arena;
    struct trace_context trace;
    struct rpc_principal principal;
    struct log_context log;
    int64_t began_ns, deadline_ns;
    struct status status;
    struct rpc_metadata_item *initial, *trailing;
    size_t metadata_size;
    const struct rpc_detail *details; /* that the handler added, newest first */
    size_t details_size;
    struct rpc_outbound *children;
    struct budget *answers; /* the transport's, for messages until they are sent; NULL: no bound */
    struct budget_hold answer_hold;

    void *data;
    void (*on_cancel)(struct rpc_call *call, void *data);
    void *on_cancel_data;
    void (*on_writable)(struct rpc_call *call, void *data);
    void *on_writable_data;
    struct work cancel_work; /* notifies a handler that registers late */

    size_t queued_bytes; /* waiting for the client to read */
    size_t received_bytes, sent_bytes;
    bool ended, cancelled, told, compress, was_compressed; /* told: on_cancel has run */
    bool forwarded;                                        /* `principal` is not the caller that presented the key */
    bool trace_is_root, trace_is_used;                     /* traces.h: spans are below it */

    _Alignas(16) char storage[CALL_STORAGE_SIZE];
};

/* `call` is zeroed and has ops, loop, method, service, limits, deadline, principal and trace set. */
void rpc_call_begin(struct rpc_call *call);
void rpc_call_fini(struct rpc_call *call);

/* A request message has come: checked, unpacked into the call's arena (of a stream: for the time of the handler) and
 * handed to the handler. */
void rpc_call_deliver(struct rpc_call *call, const uint8_t *bytes, size_t size);
/* The same of a message that is in the call's arena, of `size` bytes in packed form. */
void rpc_call_deliver_message(struct rpc_call *call, const ProtobufCMessage *message, size_t size);
/* The client has sent its last message of a stream. */
void rpc_call_deliver_end(struct rpc_call *call);

/* Ends a stream, or a unary call that has sent its message (rpc_reply_packed), with OK. */
void rpc_call_finish(struct rpc_call *call);

/* The caller does not wait for the answer any more: CANCELLED, DEADLINE_EXCEEDED or UNAVAILABLE. */
void rpc_call_abort(struct rpc_call *call, enum status_code code);

/* `size` bytes have left the queue. */
void rpc_call_sent(struct rpc_call *call, size_t size);

/* Whether a piece of metadata may be sent: gRPC refuses a whole batch because of a single invalid piece. */
bool rpc_metadata_is_sendable(const char *key, const void *value, size_t size);

/* protobuf-c's allocator on an arena. */
ProtobufCAllocator rpc_arena_allocator(struct arena *arena);

/* Checks and unpacks; NULL with the reason in `st`. */
ProtobufCMessage *rpc_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t size,
                             struct arena *arena, struct status *st);

#endif
