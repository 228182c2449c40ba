/* Errors as callers get them: a status. If the contract names the error, google.rpc.ErrorInfo is added. */
#ifndef RENGA_ORCHESTRATOR_REFUSE_H
#define RENGA_ORCHESTRATOR_REFUSE_H

#include "base/status.h"

struct rpc_call;
struct rpc_client_call;

/* Ends the call. `reason` ("THREAD_BUSY") may be NULL. */
void refuse(struct rpc_call *call, const struct status *status, const char *reason);
/* The same on behalf of a call that we have made: names of errors that came with its failure go on to our caller. */
void refuse_as(struct rpc_call *call, const struct rpc_client_call *theirs, const struct status *status);

#endif
