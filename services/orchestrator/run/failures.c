/* The input of the error node of a graph: the nodes of the step that failed, as objects in a field of the state. They
 * are made from the step's record, so a log that is read again gives the same. */
#include "attempt.h"

#define FAILURES_TOLD_MAX 100 /* of a single step; further failures are only counted in the run's events */

static void failures_write_one(struct json_writer *out, const struct due *due)
{
    json_write_object(out, NULL);
    json_write_string(out, "node", due->node->name);
    json_write_uint(out, "branch", due->branch);
    json_write_string(out, "code", status_code_name(due->code));
    json_write_int(out, "status_code", due->code);
    json_write_string(out, "message", due->message);
    if (due->reason && *due->reason)
        json_write_string(out, "reason", due->reason);
    json_write_uint(out, "attempt", due->attempts);
    json_write_end(out);
}

static size_t write_failures(struct buffer *text, const struct field *into, const struct due *first, bool alone)
{
    size_t count = 0;
    struct json_writer out;
    json_writer_init(&out, text);
    json_write_object(&out, NULL);
    json_write_array(&out, into->name);
    for (const struct due *due = first; due && count < FAILURES_TOLD_MAX; due = alone ? NULL : due->next) {
        if (due->state != DUE_FAILED)
            continue;
        failures_write_one(&out, due);
        count++;
    }
    json_write_end(&out);
    json_write_end(&out);
    return count;
}

bool failures_write(struct frame *frame, const struct due *first, bool alone, struct write *write, struct status *st)
{
    struct buffer text;
    const struct graph *graph = frame->graph;
    *write = (struct write){0};
    if (!graph->error_into)
        return true;
    buffer_init(&text, FRAME_MEMORY_MAX);
    size_t count = write_failures(&text, graph->error_into, first, alone);
    char *kept = need(arena_strndup(frame->arena, buffer_text(&text), text.length));
    struct write_source source = {.node = graph->error_node->name,
                                  .update_json = kept,
                                  .update_size = text.length,
                                  .seed = frame_seed(frame) + (uint64_t)frame->step};
    buffer_fini(&text);
    return !count || write_parse(graph, &source, frame->arena, write, st);
}
