/* Ids are derived from the run and its place, and the number of the record with which the period began. So a run that
 * is taken up after a crash ends the same spans that the previous process had begun, and all their children have a
 * parent. */
#include "run_trace.h"
#include "fanout/attempt_data.h"
#include "graph/node_kind.h"
#include "log/ids.h"
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
#include "base/text.h"
#include "base/trace.h"
#include "telemetry/redact.h"
#include "telemetry/spans.h"
#include "json/writer.h"

#include <stdio.h>

#define CONTENT_MAX      (16u << 10)  /* bytes of a value that a span shows */
#define CONTENT_READ_MAX (256u << 10) /* bytes of a state that are read for it; a larger state is left out */
#define ERROR_MAX        256          /* bytes of an error's text, with the NUL */
#define CUT_OFF          "the orchestrator ended while the attempt may have been at work"
#define MICROS_IN_USD    1e6

static const struct runner_options *run_trace_options_of(const struct thread *thread)
{
    return &thread->shard->runner->options;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static void trace_set_span(struct trace_context *trace, uint64_t id)
{
    id += id == 0;
    memcpy(trace->span_id, &id, sizeof trace->span_id);
}

/* A trace of its own, linked to the caller that has started or resumed the run. */
static void trace_begin_run(struct run *run)
{
    struct trace_context *trace = &run->trace;
    uint64_t hash = id_hash_number(id_hash_text(run->thread->place, run->id), run->active_period);
    uint64_t ids[] = {id_hash_number(hash, 1), id_hash_number(hash, 2) | 1};
    *trace = (struct trace_context){0};
    memcpy(trace->trace_id, ids, sizeof trace->trace_id);
    trace_set_span(trace, id_hash_number(hash, 3));
    trace->sampled = spans_sample(run_trace_options_of(run->thread)->spans, trace->trace_id);
    memcpy(trace->link_trace_id, run->asked.link_trace_id, sizeof trace->link_trace_id);
    memcpy(trace->link_span_id, run->asked.link_span_id, sizeof trace->link_span_id);
}

/* A span below `above`, or `above` itself if no spans are recorded. `seed` names it in its run. */
static struct span *trace_below(const struct thread *thread, const struct trace_context *above,
                                struct trace_context *trace, const char *name, uint64_t seed)
{
    struct spans *spans = run_trace_options_of(thread)->spans;
    *trace = *above;
    if (!spans || !trace_is_set(above))
        return NULL;
    trace_child(trace, above);
    trace_set_span(trace, id_hash_number(seed, thread->run->active_period));
    return span_start(spans, trace, name, SPAN_INTERNAL);
}

/* Of the graph that is at work there; unset while its log is read again. */
static const struct trace_context *run_trace_of(const struct frame *frame)
{
    static const struct trace_context none;
    for (; frame->parent; frame = frame->parent->frame)
        if (trace_is_set(&frame->trace))
            return &frame->trace;
    return frame->thread->run ? &frame->thread->run->trace : &none;
}

/* Whether the run has recorded spans. */
static bool trace_is_recorded(const struct thread *thread, const struct trace_context *above)
{
    return run_trace_options_of(thread)->spans && trace_is_set(above) && above->sampled;
}

/* ---- the attributes of spans ------------------------------------------------------------------------------------- */

static void trace_show(struct span *span, const char *key, const char *text, size_t length)
{
    char copy[CONTENT_MAX];
    size_t size = text_cut(text, length, sizeof copy);
    memcpy(copy, text, size);
    redact_keys(copy, size);
    span_text(span, key, copy, size);
}

static void trace_show_fields(struct span *span, const char *key, const struct frame *frame,
                              const struct field *const *fields, size_t count)
{
    struct buffer out;
    struct json_writer writer;
    if (state_size(frame->state, fields, count) > CONTENT_READ_MAX)
        return;
    buffer_init(&out, 2 * CONTENT_READ_MAX);
    json_writer_init(&writer, &out);
    state_write(frame->state, fields, count, &writer);
    if (json_writer_done(&writer))
        trace_show(span, key, out.data, out.length);
    buffer_fini(&out);
}

static bool trace_shows(const struct thread *thread, const struct span *span)
{
    return span && run_trace_options_of(thread)->trace_content;
}

/* Of an error's text, which may quote content, the words that do not. */
static void trace_error(const struct thread *thread, struct span *span, enum status_code code, const char *text)
{
    char words[ERROR_MAX], message[ERROR_MAX + 32];
    if (!span)
        return;
    if (run_trace_options_of(thread)->trace_content) {
        text_cut_copy(words, sizeof words, text);
        redact_keys(words, strlen(words));
    } else {
        report_redact(text, words, sizeof words);
    }
    snprintf(message, sizeof message, "%s%s%s", status_code_name(code), *words ? ": " : "", words);
    span_string(span, "error.type", status_code_name(code));
    span_error(span, message);
}

/* ---- graphs within ----------------------------------------------------------------------------------------------- */

void trace_branch_began(struct frame *frame)
{
    char name[SPAN_NAME_MAX];
    const struct thread *thread = frame->thread;
    const struct trace_context *above = run_trace_of(frame->parent->frame);
    uint64_t seed = trace_is_recorded(thread, above) ? frame_visit_seed(frame) : 0;
    snprintf(name, sizeof name, "graph %.100s", frame->graph->name);
    frame->span = trace_below(thread, above, &frame->trace, name, seed);
    span_string(frame->span, "renga.node", frame->parent->node->name);
    span_int(frame->span, "renga.branch", frame->item);
    if (frame->span && thread->run->taken_up)
        span_set_began(frame->span, clock_now_ns() - (wall_ms() - thread->run->active_period_ms) * NS_PER_MS);
}

static const struct activation *first_failure(const struct frame *frame)
{
    const struct activation *activation = frame->activations;
    while (activation && activation->state != ACTIVATION_FAILED)
        activation = activation->next;
    return activation;
}

void trace_branch_ended(struct frame *frame)
{
    const struct activation *failed = frame->span && frame->phase != FRAME_ENDED ? first_failure(frame) : NULL;
    if (failed)
        trace_error(frame->thread, frame->span, failed->code, failed->message);
    if (frame->phase == FRAME_ENDED && trace_shows(frame->thread, frame->span))
        trace_show_fields(frame->span, "output.value", frame, frame->graph->output, frame->graph->output_count);
    span_end(&frame->span);
    frame->trace = (struct trace_context){0};
}

/* Every graph within that is open, the outer ones first if they begin. */
static void trace_each_branch(struct frame *frame, void (*each)(struct frame *frame), bool outer_first)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next)
        for (size_t i = 0; i < activation->branch_count; i++) {
            struct frame *inner = activation->branches[i].frame;
            if (inner && outer_first && !inner->span)
                each(inner);
            if (inner)
                trace_each_branch(inner, each, outer_first);
            if (inner && !outer_first)
                each(inner);
        }
}

/* ---- attempts ---------------------------------------------------------------------------------------------------- */

static struct span *trace_node(const struct activation *activation, struct trace_context *trace, uint32_t attempt)
{
    const struct thread *thread = activation->frame->thread;
    const struct trace_context *above = run_trace_of(activation->frame);
    uint64_t seed = trace_is_recorded(thread, above) ? id_hash_number(activation_seed(activation), attempt) : 0;
    struct span *span = trace_below(thread, above, trace, activation->node->name, seed);
    span_string(span, "renga.node", activation->node->name);
    span_string(span, "renga.node.kind", activation->node->kind->name);
    span_int(span, "renga.attempt", attempt);
    span_int(span, "renga.visit", activation->frame->visits[activation->node->index]);
    return span;
}

void trace_attempt_began(struct attempt *attempt)
{
    const struct activation *activation = attempt->activation;
    attempt->span = trace_node(activation, &attempt->task.trace, activation->attempts);
    if (!trace_shows(attempt->thread, attempt->span))
        return;
    if (activation->sent)
        trace_show(attempt->span, "input.value", activation->input, strlen(activation->input));
    else
        trace_show_fields(attempt->span, "input.value", activation->frame, activation->node->inputs,
                          activation->node->input_count);
}

void trace_attempt_failed(struct attempt *attempt, enum status_code code, const char *text)
{
    trace_error(attempt->thread, attempt->span, code, text);
}

void trace_attempt_ended(struct attempt *attempt, enum status_code code)
{
    const Response *response = code == OK && attempt->activation ? attempt->activation->response : NULL;
    if (response && attempt->span) {
        span_string(attempt->span, "renga.outcome", *response->outcome ? response->outcome : "done");
        if (trace_shows(attempt->thread, attempt->span))
            trace_show(attempt->span, "output.value", response->update_json, strlen(response->update_json));
    }
    if (attempt->span && code != OK && !attempt->span->error)
        trace_error(attempt->thread, attempt->span, code, "");
    span_end(&attempt->span);
}

void trace_node_failed(const struct activation *activation)
{
    struct trace_context trace;
    struct span *span = trace_node(activation, &trace, activation->attempts);
    trace_error(activation->frame->thread, span, (enum status_code)activation->code, activation->message);
    span_end(&span);
}

/* An attempt that the process before had begun may have requests below it: its span is sent for it. */
static void trace_cut_attempts(const struct frame *frame, int64_t began_ns)
{
    for (const struct activation *activation = frame->activations; activation; activation = activation->next) {
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame)
                trace_cut_attempts(activation->branches[i].frame, began_ns);
        if (activation->state != ACTIVATION_PENDING || activation->branches || !activation->attempts ||
            (activation->pauses_before && !activation->released))
            continue;
        struct trace_context trace;
        struct span *span = trace_node(activation, &trace, activation->attempts);
        span_set_began(span, began_ns);
        trace_error(frame->thread, span, UNAVAILABLE, CUT_OFF);
        span_end(&span);
    }
}

/* ---- periods of work --------------------------------------------------------------------------------------------- */

static void trace_describe(struct run *run)
{
    const struct thread *thread = run->thread;
    span_string(run->span, "gen_ai.operation.name", "invoke_agent");
    span_string(run->span, "gen_ai.agent.name", run->request->agent);
    span_string(run->span, "gen_ai.conversation.id", thread->id);
    span_string(run->span, "langsmith.metadata.thread_id", thread->id); /* LangSmith groups traces by it */
    span_string(run->span, "langsmith.metadata.run_id", run->id);
    span_string(run->span, "renga.run.id", run->id);
    if (trace_shows(thread, run->span))
        trace_show(run->span, "input.value", run->request->input_json, strlen(run->request->input_json));
}

void trace_run_began(struct run *run)
{
    char name[SPAN_NAME_MAX];
    struct thread *thread = run->thread;
    struct spans *spans = run_trace_options_of(thread)->spans;
    run->trace = run->asked;
    if (!spans)
        return;
    if (spans_roots(spans) == SPANS_ROOTS_RUNS || !trace_is_set(&run->asked))
        trace_begin_run(run);
    else
        trace_child(&run->trace, &run->asked);
    snprintf(name, sizeof name, "invoke_agent %.100s", run->request->agent);
    run->span = span_start(spans, &run->trace, name, SPAN_INTERNAL);
    trace_describe(run);
    int64_t began_ns = clock_now_ns() - (wall_ms() - run->active_period_ms) * NS_PER_MS;
    if (run->taken_up)
        span_set_began(run->span, began_ns);
    if (!thread->root || !run->span)
        return;
    trace_each_branch(thread->root, trace_branch_began, true);
    if (run->taken_up)
        trace_cut_attempts(thread->root, began_ns);
}

static void trace_usage(struct run *run)
{
    const Renga__V1__Usage *usage = &run->usage;
    span_int(run->span, "renga.run.model_calls", usage->model_calls);
    span_int(run->span, "renga.run.tool_calls", usage->tool_calls);
    span_int(run->span, "renga.run.input_tokens", usage->input_tokens);
    span_int(run->span, "renga.run.output_tokens", usage->output_tokens);
    span_double(run->span, "renga.run.cost_usd", (double)usage->cost_micros / MICROS_IN_USD);
}

void trace_run_ended(struct run *run, Renga__V1__RunState state, int code, const char *text)
{
    struct thread *thread = run->thread;
    if (!run->span)
        return;
    if (thread->run == run && thread->root)
        trace_each_branch(thread->root, trace_branch_ended, false);
    const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value(&renga__v1__run_state__descriptor, state);
    if (named)
        span_string(run->span, "renga.run.state", named->name);
    trace_usage(run);
    const struct frame *root = thread->run == run ? thread->root : NULL;
    if (root && trace_shows(thread, run->span))
        trace_show_fields(run->span, "output.value", root, root->graph->output, root->graph->output_count);
    if (code != OK)
        trace_error(thread, run->span, (enum status_code)code, text);
    span_end(&run->span);
}

static void trace_drop(struct span **span)
{
    if (*span)
        span_destroy(*span);
    *span = NULL;
}

static void trace_branch_left(struct frame *frame)
{
    trace_drop(&frame->span);
}

void trace_run_left(struct thread *thread)
{
    static const uint8_t zero[sizeof thread->run->trace.parent_id];
    struct run *run = thread->run;
    bool is_root = run && memcmp(run->trace.parent_id, zero, sizeof zero) == 0;
    if (!run || !run->span || !is_root || run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING)
        return;
    if (thread->root)
        trace_each_branch(thread->root, trace_branch_left, false);
    trace_drop(&run->span);
}
