/* Private to the orchestrator: cascade delete: data of a thread at other services is deleted with it. */
#ifndef RENGA_ORCHESTRATOR_CASCADE_DELETE_H
#define RENGA_ORCHESTRATOR_CASCADE_DELETE_H

#include "base/status.h"
#include "rpc/rpc.h"

#include "renga/v1/tool_runner.pb-c.h"

struct thread;

/* Embedded in its owner. */
struct cascade_delete {
    void (*ended)(struct cascade_delete *cascade,
                  const struct status *st); /* once, perhaps within cascade_delete_start */

    /* Its own. */
    struct rpc_client_call call;
    struct rpc_principal principal;
    Renga__V1__ForgetThreadRequest request;
};

/* The tool-runner's notes and recorded results of the thread, if there is one. From inside the thread's shard, which
 * holds it until `ended`. */
void cascade_delete_start(struct cascade_delete *cascade, const struct thread *thread);

#endif
