/* The completion queue of each loop. Private to shared/rpc.
 *
 * A queue has a thread that waits for it, polls core's sockets and enters the loop with each event. A batch that
 * completes during its start wakes no thread: its event is taken at once and deferred in the loop. Nearly every sent
 * message completes so, because the socket takes it at once. */
#ifndef RENGA_RPC_QUEUE_H
#define RENGA_RPC_QUEUE_H

#include "loop/loop.h"

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

/* An expected event of a queue, zeroed but for `completed`, which runs in the queue's loop and never from within the
 * function that starts the batch. */
struct rpc_tag {
    void (*completed)(struct rpc_tag *tag, bool ok);
    struct work work;
    bool ok;
};

/* Starts core, unless it runs: before the first use of it. Any thread. */
void rpc_core_start(void);

grpc_completion_queue *rpc_queue(const struct loop *loop);

/* From inside the loop, a batch of a call that is bound to its queue. A batch that core refuses is a bug and fatal. */
void rpc_batch_start(struct loop *loop, grpc_call *call, const grpc_op *ops, size_t count, struct rpc_tag *tag);

/* Our monotonic nanoseconds in gRPC's terms, and back; TIME_NEVER is the infinite future. */
gpr_timespec rpc_timespec(int64_t ns);
int64_t rpc_nanoseconds(gpr_timespec time);

#endif
