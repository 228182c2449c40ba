/* Telling the observer, from both sides of both transports. Private to shared/rpc. */
#ifndef RENGA_RPC_OBSERVE_H
#define RENGA_RPC_OBSERVE_H

#include "loop/loop.h"
#include "rpc/observer.h"
#include "rpc/schema.h"

#include <stdbool.h>

bool rpc_observed(void);
/* The observer's `records` and `traces_runs`. */
bool rpc_observe_records(void);
bool rpc_observe_runs(void);
/* Whether this process decides which traces are recorded: else it leaves that to the services that it calls. */
bool rpc_observe_begins(void);
/* True for a new trace that is to be recorded. */
bool rpc_observe_sample(void);
void rpc_observe_began(const struct loop *loop, enum rpc_side side, const struct rpc_method *method);
void rpc_observe_ended(const struct loop *loop, enum rpc_side side, const struct rpc_method *method,
                       enum status_code code, const char *text, int64_t began_ns, const struct trace_context *trace,
                       size_t received_bytes, size_t sent_bytes);

#endif
