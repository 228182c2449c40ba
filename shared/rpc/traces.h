/* The place of calls in traces. Private to shared/rpc, but for rpc_trace_outside, which rpc.h shows.
 *
 *      trace.roots=calls   caller's span ---> span of the call here ---> spans of its handler
 *      trace.roots=runs    caller's span -----------------------------> spans of its handler
 *                          root, linked to the caller from outside ---> spans of its handler */
#ifndef RENGA_RPC_TRACES_H
#define RENGA_RPC_TRACES_H

#include "rpc/call.h"
#include "rpc/outbound.h"

/* The context of a call that this process makes. Not set: the call sends no context. */
void rpc_trace_outbound(struct rpc_outbound *outbound);
/* Of a call that is made and answered in this process. */
void rpc_trace_local(struct rpc_call *call, const struct rpc_outbound *outbound);
/* For an incoming gRPC call, with the values of its metadata "traceparent" and "tracestate"; NULL: absent. */
void rpc_trace_arrived(struct rpc_call *call, const char *parent, size_t parent_size, const char *state,
                       size_t state_size);
/* The caller is not one of our services: its traceparent counts as a call from outside. */
void rpc_trace_disbelieve(struct rpc_call *call);

/* The span of a call that ends; NULL: it has no span. */
const struct trace_context *rpc_trace_of_call(const struct rpc_call *call);
const struct trace_context *rpc_trace_of_outbound(const struct rpc_outbound *outbound);

/* True if the metadata of a call to our own services states that this process sends the named span. */
bool rpc_trace_tells_state(const struct trace_context *trace);

#endif
