/* A call handed on to the orchestrator that has the thread, and one that was handed on to us. It goes one way at most
 * once, with the deadline, cancellation and trace of the client's call, shows the peers' key, and says on whose behalf:
 *
 *      renga-forwarded-bin: tenant NUL name of the client's key
 *      renga-thread-token:  of its owner's row, as we read it: there the call is served only where nobody else has
 *                           been the thread's since; else it ends with ABORTED, and
 *      renga-thread-moved   in its trailing metadata: nothing was done
 *
 * Nobody is believed who has not the right "renga.v1.Orchestrator/forward". Where calls need no key there are no
 * tenants either, and it says only that the call was handed on. */
#ifndef RENGA_ORCHESTRATOR_FORWARD_H
#define RENGA_ORCHESTRATOR_FORWARD_H

#include "rpc/rpc.h"
#include "run/rights.h"

struct api;

/* Who calls. */
struct caller {
    struct rights rights;
    bool forwarded;        /* by another orchestrator, which holds that we have the thread */
    uint64_t thread_token; /* then: as it has read it; 0: it does not say */
};
/* False where the call is refused: it claims to be handed on by one who may not. */
bool caller_find(const struct api *api, struct rpc_call *call, struct caller *caller);

/* In its owner until the last run of `came`: for each message, then with NULL (`call.status`). */
struct forward {
    struct rpc_client_call call;
    void (*came)(struct forward *forward, const ProtobufCMessage *message);

    /* Private. */
    struct api *api;
};
/* From inside the call's loop. `thread_token` may be 0. False where there is no way to the address. */
bool forward_begin(struct forward *forward, struct api *api, struct rpc_call *call, const struct caller *caller,
                   const ProtobufCMessage *request, const char *address, uint64_t thread_token, struct status *st);
/* Ends a call that was handed on to us, of which nothing was done; and whether ours ended so. */
void forward_give_back(struct rpc_call *call, const struct status *why);
bool forward_was_given_back(const struct rpc_client_call *theirs);
/* Ends our call as theirs ended. */
void forward_refuse(struct rpc_call *call, const struct rpc_client_call *theirs);

#endif
