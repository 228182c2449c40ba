#include "rpc/traces.h"

#include "rpc/observe.h"

#include <string.h>

static bool has_span(const struct trace_context *trace)
{
    static const uint8_t zero[sizeof trace->span_id];
    return memcmp(trace->span_id, zero, sizeof zero) != 0;
}

/* ---- calls that are made ----------------------------------------------------------------------------------------- */

void rpc_trace_outbound(struct rpc_outbound *outbound)
{
    const struct rpc_client_call *call = outbound->call;
    const struct trace_context *above = call->parent ? &call->parent->trace : call->trace;
    bool below = above && trace_is_set(above);
    outbound->trace = (struct trace_context){0};
    if (rpc_observe_runs()) {
        if (below)
            outbound->trace = *above;
    } else if (below) {
        trace_child(&outbound->trace, above);
    } else if (rpc_observe_begins()) {
        trace_begin(&outbound->trace, rpc_observe_sample());
    }
}

bool rpc_trace_tells_state(const struct trace_context *trace)
{
    return trace->sampled && rpc_observe_records();
}

/* ---- incoming calls ---------------------------------------------------------------------------------------------- */

static void trace_root(struct rpc_call *call, const struct trace_context *caller)
{
    bool sampled = rpc_observe_sample();
    call->trace_is_root = true;
    if (caller)
        trace_begin_linked(&call->trace, caller, sampled);
    else
        trace_begin(&call->trace, sampled);
}

void rpc_trace_local(struct rpc_call *call, const struct rpc_outbound *outbound)
{
    const struct trace_context *above = &outbound->trace;
    if (!trace_is_set(above)) {
        trace_root(call, NULL);
    } else if (!rpc_observe_runs()) {
        trace_child(&call->trace, above);
    } else if (has_span(above)) {
        call->trace = *above;
    } else { /* rpc_trace_outside has begun the trace */
        struct trace_context root;
        trace_begin(&root, above->sampled);
        call->trace = *above;
        memcpy(call->trace.span_id, root.span_id, sizeof root.span_id);
        call->trace_is_root = true;
    }
}

void rpc_trace_arrived(struct rpc_call *call, const char *parent, size_t parent_size, const char *state,
                       size_t state_size)
{
    struct trace_context caller;
    bool given = parent && trace_continue(&caller, parent, parent_size);
    bool goes_on = given && (!rpc_observe_runs() || (state && trace_state_read(state, state_size, caller.span_id)));
    if (goes_on)
        call->trace = caller; /* with parent_id, until the caller's key is known */
    else
        trace_root(call, given ? &caller : NULL);
}

void rpc_trace_disbelieve(struct rpc_call *call)
{
    struct trace_context caller = call->trace;
    if (rpc_observe_runs() && !call->trace_is_root)
        trace_root(call, &caller);
}

bool rpc_trace_outside(struct trace_context *trace, const char *traceparent, size_t length)
{
    struct trace_context caller;
    if (!trace_continue(&caller, traceparent, length))
        return false;
    if (rpc_observe_runs()) {
        trace_begin_linked(trace, &caller, rpc_observe_sample());
        memset(trace->span_id, 0, sizeof trace->span_id);
        return true;
    }
    *trace = caller;
    memcpy(trace->span_id, caller.parent_id, sizeof trace->span_id);
    return true;
}

/* ---- spans of calls that end ------------------------------------------------------------------------------------- */

const struct trace_context *rpc_trace_of_call(const struct rpc_call *call)
{
    return !rpc_observe_runs() || (call->trace_is_root && call->trace_is_used) ? &call->trace : NULL;
}

const struct trace_context *rpc_trace_of_outbound(const struct rpc_outbound *outbound)
{
    return rpc_observe_runs() ? NULL : &outbound->trace;
}
