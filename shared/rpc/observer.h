/* An observer of calls that end, for metrics and traces. The runtime has a single observer, and does not know metrics
 * or traces. */
#ifndef RENGA_RPC_OBSERVER_H
#define RENGA_RPC_OBSERVER_H

#include "base/status.h"
#include "base/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_METHOD_UNKNOWN (-1u) /* the id of a method that the schema does not have */

enum rpc_side { RPC_SERVER, RPC_CLIENT, RPC_SIDES };

/* An ended call, seen from a single side. Borrowed for the time of the callback. */
struct rpc_ended {
    enum rpc_side side;
    const char *service; /* "renga.v1.Planner"; lives for ever */
    const char *method;  /* "Plan"; lives for ever */
    unsigned method_id;  /* of the schema: dense, from 0 to rpc_schema_method_count - 1 */
    enum status_code code;
    const char *text; /* of the status, "" for OK */
    int64_t began_ns, ended_ns;
    const struct trace_context *trace; /* NULL: the call is not a span */
    size_t received_bytes, sent_bytes;
};

struct rpc_observer {
    uint32_t samples_per_million; /* of the traces that begin here: how many are recorded */
    bool records;                 /* spans are exported */
    /* A call has no span of its own: its caller's span is the parent of the spans in it. Only a call from outside has a
     * span, as the root of a trace, if spans are below it. A caller's traceparent is used if our services have sent it;
     * else the root has a link to it. */
    bool traces_runs;

    /* Both run in the call's loop, of which `loop_index` is the number. */
    void (*began)(struct rpc_observer *observer, unsigned loop_index, enum rpc_side side, unsigned method_id);
    void (*ended)(struct rpc_observer *observer, unsigned loop_index, const struct rpc_ended *ended);
};

/* Sets the process's observer (NULL: no observer). Before any server or channel is created. */
void rpc_observe(struct rpc_observer *observer);

#endif
