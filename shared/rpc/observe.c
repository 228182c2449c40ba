#include "rpc/observe.h"

#include "base/clock.h"
#include "base/random.h"

#define MILLION 1000000

static struct rpc_observer *observer;

void rpc_observe(struct rpc_observer *new_observer)
{
    observer = new_observer;
}

bool rpc_observed(void)
{
    return observer != NULL;
}

bool rpc_observe_records(void)
{
    return observer && observer->records;
}

bool rpc_observe_runs(void)
{
    return observer && observer->traces_runs;
}

bool rpc_observe_begins(void)
{
    return observer && observer->records;
}

bool rpc_observe_sample(void)
{
    return observer && observer->samples_per_million && random_below(MILLION) < observer->samples_per_million;
}

void rpc_observe_began(const struct loop *loop, enum rpc_side side, const struct rpc_method *method)
{
    if (observer)
        observer->began(observer, loop_index(loop), side, method ? method->id : RPC_METHOD_UNKNOWN);
}

void rpc_observe_ended(const struct loop *loop, enum rpc_side side, const struct rpc_method *method,
                       enum status_code code, const char *text, int64_t began_ns, const struct trace_context *trace,
                       size_t received_bytes, size_t sent_bytes)
{
    if (!observer)
        return;
    struct rpc_ended ended = {
        .side = side,
        .service = method ? method->service : "",
        .method = method ? method->name : "",
        .method_id = method ? method->id : RPC_METHOD_UNKNOWN,
        .code = code,
        .text = text,
        .began_ns = began_ns,
        .ended_ns = clock_now_ns(),
        .trace = trace,
        .received_bytes = received_bytes,
        .sent_bytes = sent_bytes,
    };
    observer->ended(observer, loop_index(loop), &ended);
}
