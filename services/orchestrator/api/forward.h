/* A call forwarded to the orchestrator that has the thread, and a call that was forwarded to us. A call is forwarded at
 * most once, with the deadline, cancellation, trace and caller of the client's call (rpc/forwarded.h), shows the peers'
 * key, and has in its metadata
 *
 *      renga-thread-token:  of its owner's row, as we read it: there the call is served only if no other
 *                           orchestrator has been the thread's since; else it ends with ABORTED, and
 *      renga-thread-moved   in its trailing metadata: the call had no effect
 *
 * This metadata is trusted only together with a forwarded caller, so only from a key with the right
 * "renga.v1.Orchestrator/forward"; if calls need no key, from any caller. */
#ifndef RENGA_ORCHESTRATOR_FORWARD_H
#define RENGA_ORCHESTRATOR_FORWARD_H

#include "rpc/rpc.h"
#include "thread/access_control.h"

struct api;

/* The caller. */
struct caller {
    struct access_control access;
    bool forwarded;        /* by another orchestrator, which holds that we have the thread */
    uint64_t thread_token; /* then: as it has read it; 0: it does not say */
};
/* False if the call is refused: it is made on behalf of a client that has no key here. */
bool caller_find(const struct api *api, struct rpc_call *call, struct caller *caller);

/* In its owner until the last run of `came`: for each message, then with NULL (`call.status`). */
struct forward {
    struct rpc_client_call call;
    void (*came)(struct forward *forward, const ProtobufCMessage *message);

    /* Private. */
    struct api *api;
};
/* From inside the call's loop. `thread_token` may be 0. False if the address has no route. */
bool forward_begin(struct forward *forward, struct api *api, struct rpc_call *call, const ProtobufCMessage *request,
                   const char *address, uint64_t thread_token, struct status *st);
/* Ends a call that was forwarded to us, and had no effect; and whether our forwarded call ended so. */
void forward_give_back(struct rpc_call *call, const struct status *why);
bool forward_was_given_back(const struct rpc_client_call *theirs);
/* Ends our call as theirs ended. */
void forward_refuse(struct rpc_call *call, const struct rpc_client_call *theirs);

#endif
