/* gRPC core in this process. The first server or remote channel starts it; then each loop gets a completion queue and a
 * thread that waits on it and enters the loop with each event. In-process stubs do not need it. */
#ifndef RENGA_RPC_RUNTIME_H
#define RENGA_RPC_RUNTIME_H

#include "base/status.h"
#include "loop/loop.h"

#include <stdbool.h>

/* Before the first server or channel, and after the last. The loops, and their array, are borrowed in between; their
 * indices are 0 to count - 1. */
bool rpc_start(struct loop *const *loops, unsigned count, struct status *st);
void rpc_stop(void);

/* Calls of local stubs (channel.h) in this process whose handler or caller has not ended. A handler may outlast a
 * caller that was cancelled, and uses its service until it has ended. Any thread. */
unsigned rpc_local_calls_alive(void);

#endif
