/* Errors as callers get them: a status, and where the contract gives the error a name, google.rpc.ErrorInfo with it. */
#ifndef RENGA_ORCHESTRATOR_REFUSE_H
#define RENGA_ORCHESTRATOR_REFUSE_H

#include "base/status.h"

struct rpc_call;

/* Ends the call. `reason` ("THREAD_BUSY") may be NULL. */
void refuse(struct rpc_call *call, const struct status *status, const char *reason);

#endif
