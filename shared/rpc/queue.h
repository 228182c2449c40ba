/* The completion queues of each loop. Private to shared/rpc.
 *
 * One has a thread that waits for it, polls core's sockets and comes into the loop with what it gets: calls that
 * arrive, and all of clients. The batches of a server's calls are completed on the other, which calls back: nearly
 * always from within the start of the batch, as a socket takes a message at once, so the loop hears of it in the same
 * visit and no thread is woken. Where core completes one later, its own thread comes into the loop. */
#ifndef RENGA_RPC_QUEUE_H
#define RENGA_RPC_QUEUE_H

#include "loop/loop.h"

#include <grpc/grpc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What is to come from a loop's first queue: `completed` runs in the loop. */
struct rpc_tag {
    void (*completed)(struct rpc_tag *tag, bool ok);
};

/* A batch of a server's call, one at a time: `completed` runs in the loop, never from within rpc_batch_start. */
struct rpc_batch {
    void (*completed)(struct rpc_batch *batch, bool ok);
    grpc_completion_queue_functor functor;
    struct work work;
    _Atomic(struct loop *) loop;
    bool ok;
};

grpc_completion_queue *rpc_queue(const struct loop *loop);
/* Where the calls of a server are bound to. */
grpc_completion_queue *rpc_batch_queue(const struct loop *loop);

/* From inside the loop. What core refuses is an error of ours. */
void rpc_batch_start(struct rpc_batch *batch, struct loop *loop, grpc_call *call, const grpc_op *ops, size_t count);

/* Our monotonic nanoseconds in gRPC's terms, and back; TIME_NEVER is the infinite future. */
gpr_timespec rpc_timespec(int64_t ns);
int64_t rpc_nanoseconds(gpr_timespec time);

#endif
