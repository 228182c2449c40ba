#include "trace.h"

#include "attempt.h"

#include "telemetry/spans.h"

#include <stdio.h>

static bool is_set(const struct trace_context *trace)
{
    static const struct trace_context none;
    return memcmp(trace->trace_id, none.trace_id, sizeof none.trace_id) != 0;
}

static struct spans *spans_of(const struct thread *thread)
{
    return thread->home->runner->options.spans;
}

/* A span below `above`, or `above` itself where nothing is recorded. */
static struct span *begin(const struct thread *thread, const struct trace_context *above, struct trace_context *trace,
                          const char *name)
{
    struct spans *spans = spans_of(thread);
    *trace = *above;
    if (!spans || !is_set(above))
        return NULL;
    trace_child(trace, above);
    return span_start(spans, trace, name, SPAN_INTERNAL);
}

static void end(struct span **span, enum status_code code)
{
    if (*span && code != OK) {
        span_string(*span, "error.type", status_code_name(code));
        span_error(*span, ""); /* the text may hold content */
    }
    span_end(span);
}

void trace_run_began(struct run *run)
{
    char name[SPAN_NAME_MAX];
    snprintf(name, sizeof name, "invoke_agent %.100s", run->request->agent);
    run->span = begin(run->thread, &run->asked, &run->trace, name);
    span_string(run->span, "gen_ai.operation.name", "invoke_agent");
    span_string(run->span, "gen_ai.agent.name", run->request->agent);
    span_string(run->span, "gen_ai.conversation.id", run->thread->id);
    span_string(run->span, "renga.run.id", run->id);
}

void trace_run_ended(struct run *run, Renga__V1__RunState state, int code)
{
    if (!run->span)
        return;
    const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value(&renga__v1__run_state__descriptor, state);
    if (named)
        span_string(run->span, "renga.run.state", named->name);
    end(&run->span, (enum status_code)code);
}

/* Of the graph that is at work there; none while its log is read again. */
static const struct trace_context *trace_of(const struct frame *frame)
{
    static const struct trace_context none;
    for (; frame->parent; frame = frame->parent->frame)
        if (is_set(&frame->trace))
            return &frame->trace;
    return frame->thread->run ? &frame->thread->run->trace : &none;
}

void trace_branch_began(struct frame *frame)
{
    char name[SPAN_NAME_MAX];
    snprintf(name, sizeof name, "graph %.100s", frame->graph->name);
    frame->span = begin(frame->thread, trace_of(frame->parent->frame), &frame->trace, name);
    span_string(frame->span, "renga.node", frame->parent->node->name);
    span_int(frame->span, "renga.branch", frame->item);
}

void trace_attempt_began(struct attempt *attempt)
{
    const struct due *due = attempt->due;
    attempt->span = begin(attempt->thread, trace_of(due->frame), &attempt->task.trace, due->node->name);
    span_string(attempt->span, "renga.node", due->node->name);
    span_string(attempt->span, "renga.node.kind", due->node->kind->name);
    span_int(attempt->span, "renga.attempt", due->attempts);
}

void trace_attempt_ended(struct attempt *attempt, enum status_code code)
{
    end(&attempt->span, code);
}
