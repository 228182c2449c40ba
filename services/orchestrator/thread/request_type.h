/* Private to the orchestrator: the type of a request: a row of the table in runtime/request_types.c.
 *
 * A field of a row is the offset of that field in the message, or 0 if the message has no such field (0 is `base`).
 * The rows are constants, so every thread may read them. */
#ifndef RENGA_ORCHESTRATOR_REQUEST_TYPE_H
#define RENGA_ORCHESTRATOR_REQUEST_TYPE_H

#include "renga/v1/log.pb-c.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

struct request;
struct thread;

enum request_trait {
    REQUEST_NEEDS_THREAD = 1,   /* NOT_FOUND if its thread does not exist */
    REQUEST_MAKES_THREAD = 2,   /* an empty name of its thread is drawn; an expired thread of that name is replaced */
    REQUEST_DELETES_THREAD = 4, /* also a thread that has expired */
    REQUEST_SHOWS_RUN = 8,      /* answered from the run's row, also in quarantine */
    REQUEST_IDEMPOTENT = 16,    /* may be done twice */
    REQUEST_RECOGNIZED = 32,    /* may be sent twice if it has a request id: the answer is that of the first */
};

struct request_type {
    const ProtobufCMessageDescriptor *message;
    unsigned traits;
    /* Exactly one of these. `serve` runs in the turn of its thread; `list` needs no thread, and runs at once. */
    void (*serve)(struct request *request, struct thread *thread);
    void (*list)(struct request *request);
    /* Answers a request that was sent again; `row` is in the request's arena. NULL: it has no request id. */
    void (*repeat)(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row);

    size_t thread_id, run_id, request_id, agent; /* char *; `run_id` is the subject unless it is empty */
    size_t wait, cancel_on_disconnect;           /* protobuf_c_boolean */

    /* Of a request that is answered with a run. */
    const ProtobufCMessageDescriptor *response;
    size_t response_run, response_repeated;
};

/* The value of a field of a row; "" and false if the message has no such field. */
static inline const char *request_text(const ProtobufCMessage *message, size_t offset)
{
    return offset ? *(char *const *)((const char *)message + offset) : "";
}

static inline bool request_flag(const ProtobufCMessage *message, size_t offset)
{
    return offset && *(const protobuf_c_boolean *)((const char *)message + offset);
}

#endif
