/* Whoever wants to know of calls as they end: metrics, traces. The runtime knows one observer and nothing of either. */
#ifndef RENGA_RPC_OBSERVER_H
#define RENGA_RPC_OBSERVER_H

#include "base/status.h"
#include "base/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_METHOD_UNKNOWN (-1u) /* the id of a method that the schema does not have */

enum rpc_side { RPC_SERVER, RPC_CLIENT, RPC_SIDES };

/* One call that has ended, seen from one side. Borrowed for the time of the callback. */
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
    bool records;                 /* spans are sent somewhere */
    /* A call is no span of its own: its caller's span is the parent of what is done in it. Only a call from outside is
     * one, as the root of a trace, if spans are below it. A caller's traceparent counts if our services have sent it;
     * else the root has a link to it. */
    bool traces_runs;

    /* Both run in the call's loop, of which `loop_index` is the number. */
    void (*began)(struct rpc_observer *observer, unsigned loop_index, enum rpc_side side, unsigned method_id);
    void (*ended)(struct rpc_observer *observer, unsigned loop_index, const struct rpc_ended *ended);
};

/* Sets the process's observer (NULL: none). Before any server or channel is created. */
void rpc_observe(struct rpc_observer *observer);

#endif
