/* The failure of a call: a status, and the details of that status for the client. */
#ifndef RENGA_LLM_GATEWAY_FAILURE_H
#define RENGA_LLM_GATEWAY_FAILURE_H

#include "base/status.h"

#include "renga/v1/usage.pb-c.h"

#include <stddef.h>
#include <string.h>

struct rpc_call;

#define FAILURE_QUOTA   "INSUFFICIENT_QUOTA"      /* the gateway's account with the provider is empty */
#define FAILURE_CONTEXT "CONTEXT_LENGTH_EXCEEDED" /* the question is longer than the model's context */
#define FAILURE_NO_MODEL                                                                                               \
    "NO_MODEL" /* only the extractive provider is configured, which does not write this kind of answer */

/* All zero: no failure. */
struct failure {
    struct status status;
    const char *reason;  /* google.rpc.ErrorInfo: one of FAILURE_…; may be NULL. A constant */
    const char *limit;   /* google.rpc.QuotaFailure: admission's "client/tokens_per_minute"; may be NULL */
    const char *limited; /* the client or tenant that has this limit, by name; may be NULL */
    const char *problem; /* renga.v1.InvalidOutput: the error in the answer; may be NULL. In the call's arena */
    const char *raw_text;
    size_t raw_size;
    bool mendable;                 /* the model may do better when it is shown the problem */
    bool ours;                     /* caused by the gateway; another deployment would fail as well */
    bool too_large;                /* the answer is above a bound: a caller can ask for that, the deployment is well */
    const Renga__V1__Usage *usage; /* usage in spite of the failure; may be NULL */
};

/* Whether the reason is an empty account. */
static inline bool failure_is_quota(const struct failure *failure)
{
    return failure->reason && strcmp(failure->reason, FAILURE_QUOTA) == 0;
}

/* Ends the call with the failure. */
void failure_send(struct rpc_call *call, const struct failure *failure);

#endif
