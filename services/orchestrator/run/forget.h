/* Private to run/: what others keep of a thread goes with it. */
#ifndef RENGA_ORCHESTRATOR_FORGET_H
#define RENGA_ORCHESTRATOR_FORGET_H

#include "base/status.h"
#include "rpc/rpc.h"

#include "renga/v1/tool_runner.pb-c.h"

struct thread;

/* Embedded in its owner. */
struct forgetting {
    void (*forgotten)(struct forgetting *forgetting,
                      const struct status *st); /* once, perhaps within forget_elsewhere */

    /* Its own. */
    struct rpc_client_call call;
    struct rpc_principal principal;
    Renga__V1__ForgetThreadRequest request;
};

/* The tool-runner's notes and recorded results of the thread, if there is one. From inside the thread's home, which
 * holds it until `forgotten`. */
void forget_elsewhere(struct forgetting *forgetting, const struct thread *thread);

#endif
