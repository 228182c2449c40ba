/* The completion queue of each loop. Private to shared/rpc. */
#ifndef RENGA_RPC_QUEUE_H
#define RENGA_RPC_QUEUE_H

#include "loop/loop.h"

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

/* What a batch is started with: `completed` runs in the loop whose queue the batch was started on. */
struct rpc_tag {
    void (*completed)(struct rpc_tag *tag, bool ok);
};

grpc_completion_queue *rpc_queue(const struct loop *loop);

/* Our monotonic nanoseconds in gRPC's terms, and back; TIME_NEVER is the infinite future. */
gpr_timespec rpc_timespec(int64_t ns);
int64_t rpc_nanoseconds(gpr_timespec time);

#endif
