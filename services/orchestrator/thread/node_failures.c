/* The input of the error node of a graph: the nodes of the step that failed, as objects in a field of the state. They
 * are made from the step's record, so a log that is read again gives the same. */
#include "node_failures.h"
#include "frame.h"
#include "memory.h"
#include "state/state.h"

#include "base/buffer.h"
#include "json/writer.h"

#define FAILURES_TOLD_MAX 100 /* of a single step; further failures are only counted in the run's events */

static void failures_write_one(struct json_writer *out, const struct activation *activation)
{
    json_write_object(out, NULL);
    json_write_string(out, "node", activation->node->name);
    json_write_uint(out, "branch", activation->branch);
    json_write_string(out, "code", status_code_name(activation->code));
    json_write_int(out, "status_code", activation->code);
    json_write_string(out, "message", activation->message);
    if (activation->reason && *activation->reason)
        json_write_string(out, "reason", activation->reason);
    json_write_uint(out, "attempt", activation->attempts);
    json_write_end(out);
}

static size_t write_failures(struct buffer *text, const struct field *into, const struct activation *first, bool alone)
{
    size_t count = 0;
    struct json_writer out;
    json_writer_init(&out, text);
    json_write_object(&out, NULL);
    json_write_array(&out, into->name);
    for (const struct activation *activation = first; activation && count < FAILURES_TOLD_MAX;
         activation = alone ? NULL : activation->next) {
        if (activation->state != ACTIVATION_FAILED)
            continue;
        failures_write_one(&out, activation);
        count++;
    }
    json_write_end(&out);
    json_write_end(&out);
    return count;
}

bool failures_write(struct frame *frame, const struct activation *first, bool alone, struct write *write,
                    struct status *st)
{
    struct buffer text;
    const struct graph *graph = frame->graph;
    *write = (struct write){0};
    if (!graph->error_into)
        return true;
    buffer_init(&text, FRAME_MEMORY_MAX);
    size_t count = write_failures(&text, graph->error_into, first, alone);
    char *copied = xnonnull(arena_strndup(frame->arena, buffer_text(&text), text.length));
    struct write_source source = {.node = graph->error_node->name,
                                  .update_json = copied,
                                  .update_size = text.length,
                                  .seed = frame_seed(frame) + (uint64_t)frame->step};
    buffer_fini(&text);
    return !count || write_parse(graph, &source, frame->arena, write, st);
}
