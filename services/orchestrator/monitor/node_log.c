/* Values in lines are bounded, and of texts only the beginning of declared fields is shown: a line is for operators,
 * and not a record of the conversation. */
#include "node_log.h"
#include "graph/graph.h"
#include "run_outcome.h"
#include "state/state.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/runner_options.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "telemetry/redact.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES  2048
#define VALUE_MAX_BYTES 64  /* of a string in a line */
#define READ_MAX_BYTES  512 /* of a value's JSON that is read for it */
#define THREAD_SHOWN    (2 * (THREAD_MAX + 2))
#define STEPS_LEFT_PART 10 /* a warning when so great a part of the supersteps is left */

/* False if no line is to be written. */
static bool node_log_level(const struct frame *frame, enum log_level *level)
{
    enum node_log which = frame->thread->shard->runner->options.node_log;
    bool tells = which == NODE_LOG_INFO || (which == NODE_LOG_DOCUMENTS && frame->graph->is_logged);
    *level = tells ? LOG_INFO : LOG_DEBUG;
    return which != NODE_LOG_OFF;
}

struct node_log_step node_log_note(struct arena *arena, const struct frame *frame, const struct activation *only)
{
    struct node_log_step step = {0};
    enum log_level level;
    size_t count = 0;
    if (!node_log_level(frame, &level) || !log_enabled(LOG_WARN))
        return step;
    for (const struct activation *activation = only ? only : frame->activations; activation;
         activation = only ? NULL : activation->next)
        count++;
    step.activations = xnonnull(arena_alloc(arena, (count + 1) * sizeof *step.activations));
    step.visits = xnonnull(arena_alloc(arena, (count + 1) * sizeof *step.visits));
    for (const struct activation *activation = only ? only : frame->activations; activation;
         activation = only ? NULL : activation->next) {
        step.activations[step.count] = activation;
        step.visits[step.count++] = frame->visits[activation->node->index];
    }
    return step;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The beginning of a JSON string, which may end within an escape: that is left out. */
static void put_string(struct buffer *out, char *json, size_t length)
{
    size_t size = text_cut(json, length, VALUE_MAX_BYTES);
    redact_keys(json, length);
    if (size == length) {
        buffer_append(out, json, length);
        return;
    }
    for (size_t at = 1; at < size; at += json[at] == '\\' ? 2 : 1)
        if (json[at] == '\\' && at + 6 > size)
            size = at;
    buffer_append(out, json, size);
    buffer_print(out, "…\"");
}

static void node_log_put_value(struct buffer *out, const struct state *state, const struct field *field)
{
    struct buffer json;
    if (field->list) {
        buffer_printf(out, "[%zu]", state_list_length(state, field));
        return;
    }
    size_t size = state_size(state, (const struct field *const[]){field}, 1);
    if (field->type == FIELD_OBJECT || field->type == FIELD_ANY) {
        buffer_printf(out, "{%zu bytes}", size);
        return;
    }
    buffer_init(&json, FIELD_BYTES_MAX);
    if (!state_value(state, field, &json) || !json.length)
        buffer_print(out, "null");
    else if (field->type == FIELD_STRING)
        put_string(out, json.data, json.length < READ_MAX_BYTES ? json.length : READ_MAX_BYTES);
    else
        buffer_append(out, json.data, json.length);
    buffer_fini(&json);
}

static bool node_log_read_integer(const struct state *state, const struct field *field, int64_t *value)
{
    struct buffer json;
    buffer_init(&json, READ_MAX_BYTES);
    bool there = state_value(state, field, &json) && json.length;
    *value = there ? strtoll(buffer_text(&json), NULL, 10) : 0;
    buffer_fini(&json);
    return there;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void node_log_put_place(struct buffer *out, const struct frame *frame)
{
    char thread[THREAD_SHOWN];
    const struct run *run = frame_run(frame);
    report_quote(frame->thread->id, thread, sizeof thread);
    buffer_printf(out, "agent=%s run=%s thread=%s graph=", run->request->agent, run->id, thread);
    if (frame->parent)
        frame_path(frame, out);
    else
        buffer_print(out, frame->graph->name);
}

static uint32_t duration_of(const struct activation *activation)
{
    return activation->began_ns ? (uint32_t)((clock_now_ns() - activation->began_ns) / NS_PER_MS)
                                : activation->duration_ms;
}

static void node_log_write_node(struct frame *frame, enum log_level level, const struct activation *activation,
                                uint32_t visit)
{
    struct buffer line;
    bool failed = activation->state == ACTIVATION_FAILED;
    buffer_init(&line, LINE_MAX_BYTES);
    node_log_put_place(&line, frame);
    buffer_printf(&line, " node=%s visit=%u outcome=%s duration_ms=%u attempts=%u", activation->node->name, visit,
                  failed                                                   ? "failed"
                  : activation->response && *activation->response->outcome ? activation->response->outcome
                                                                           : "done",
                  duration_of(activation), activation->attempts);
    if (failed)
        buffer_printf(&line, " code=%s", status_code_name(activation->code));
    for (size_t i = 0; i < frame->graph->logged_count; i++) {
        buffer_printf(&line, " %s=", frame->graph->logged[i]->name);
        node_log_put_value(&line, frame->state, frame->graph->logged[i]);
    }
    if (failed)
        log_warn("run.failing", "%s", buffer_text(&line));
    else
        log_write(level, "run.node", "%s", buffer_text(&line));
    buffer_fini(&line);
}

static void warn_near(const struct frame *frame, const char *what, int64_t value, int64_t most)
{
    struct buffer line;
    buffer_init(&line, LINE_MAX_BYTES);
    node_log_put_place(&line, frame);
    log_warn("run.near", "%s: %s is %lld, its limit is %lld", buffer_text(&line), what, (long long)value,
             (long long)most);
    buffer_fini(&line);
}

static void warn_counts(struct frame *frame)
{
    for (size_t i = 0; i < frame->graph->near_count; i++) {
        const struct graph_near *near = &frame->graph->near[i];
        int64_t value, most = near->most;
        if (frame->told_near >> i & 1 || !node_log_read_integer(frame->state, near->value, &value))
            continue;
        if (near->limit && !node_log_read_integer(frame->state, near->limit, &most))
            continue;
        if (most < 2 || value != most - 1)
            continue;
        frame->told_near |= UINT32_C(1) << i;
        warn_near(frame, near->value->name, value, most);
    }
}

static void warn_steps(const struct frame *frame)
{
    const struct run *run = frame_run(frame);
    int64_t most = frame->parent ? frame->graph->recursion_limit : run_recursion_limit(run);
    int64_t taken = frame->parent ? frame->step - frame->steps_before : run->step - run->steps_before;
    if (most >= STEPS_LEFT_PART && taken == most - most / STEPS_LEFT_PART)
        warn_near(frame, "the number of supersteps", taken, most);
}

static void warn_visits(const struct frame *frame, const struct node *node, uint32_t visit)
{
    char what[GRAPH_NAME_MAX + 32];
    if (!frame->graph->is_logged || node->visits_max < 2 || visit != node->visits_max - 1)
        return;
    snprintf(what, sizeof what, "the number of visits of %s", node->name);
    warn_near(frame, what, visit, node->visits_max);
}

void node_log_write(struct frame *frame, const struct node_log_step *step)
{
    enum log_level level;
    if (!step->count || !node_log_level(frame, &level))
        return;
    const struct run *run = frame_run(frame);
    const struct log_context context = {.trace = trace_is_set(&run->trace) ? &run->trace : NULL};
    const struct log_context *before = log_enter(&context);
    bool writes = log_enabled(level);
    for (size_t i = 0; i < step->count; i++) {
        if (writes || step->activations[i]->state == ACTIVATION_FAILED)
            node_log_write_node(frame, level, step->activations[i], step->visits[i]);
        warn_visits(frame, step->activations[i]->node, step->visits[i]);
    }
    warn_counts(frame);
    warn_steps(frame);
    log_enter(before);
}

void node_log_failures(struct frame *frame)
{
    enum log_level level;
    for (const struct activation *activation = frame->fresh; activation; activation = activation->fresh_next)
        if (activation->state == ACTIVATION_FAILED && !activation->recorded && !activation_has_error_node(activation) &&
            node_log_level(frame, &level))
            node_log_write_node(frame, level, activation, frame->visits[activation->node->index]);
}
