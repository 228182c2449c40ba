#include "writing.h"

#include "base/budget.h"
#include "base/memory.h"
#include "transcode.h"

#include <stdlib.h>

#define COPY_FACTOR 8 /* memory of the copy, in multiples of the largest message */
#define COPY_MORE   ((size_t)1 << 20)
#define HOLD_FACTOR 2 /* the copy and the JSON, in multiples of the message */

static void writing_run(struct job *job)
{
    struct writing *writing = CONTAINER_OF(job, struct writing, job);
    struct json_writer writer;
    json_writer_init(&writer, &writing->out);
    transcode_write(&writer, NULL, writing->message);
}

static void writing_ended(struct job *job)
{
    struct writing *writing = CONTAINER_OF(job, struct writing, job);
    struct edge *edge = writing->edge;
    writing->written(writing, writing->data);
    buffer_fini(&writing->out);
    arena_fini(&writing->arena);
    free(writing);
    edge->calls--;
    edge_check_drained(edge);
}

bool writing_hold(struct edge *edge, struct http_request *request, size_t size, struct status *st)
{
    if (http_request_hold(request, edge->answers, HOLD_FACTOR * size))
        return true;
    fail(st, UNAVAILABLE, "the answers that wait for their clients leave no room for one of %zu bytes; try again later",
         size);
    st->retry_after_ms = BUDGET_RETRY_MS;
    return false;
}

struct writing *writing_create(struct edge *edge, const struct rpc_principal *principal)
{
    struct writing *writing = xmalloc(sizeof *writing);
    *writing = (struct writing){
        .job = {.loop = edge->loop,
                .run = writing_run,
                .ended = writing_ended,
                .owner = principal ? job_owner(principal->tenant, principal->name) : 0},
        .edge = edge,
    };
    buffer_init(&writing->out, WRITE_MAX);
    arena_init(&writing->arena, NULL, 0, COPY_FACTOR * edge->settings.message_max + COPY_MORE);
    return writing;
}

void writing_start(struct writing *writing, const ProtobufCMessage *message, size_t size,
                   void (*written)(struct writing *writing, void *data), void *data)
{
    writing->written = written;
    writing->data = data;
    writing->message = rpc_message_copy(&writing->arena, message);
    writing->edge->calls++;
    if (writing->message) {
        job_start(&writing->job, size);
        return;
    }
    fail(&writing->job.status, RESOURCE_EXHAUSTED, "no memory for the response");
    writing_ended(&writing->job);
}
