/* Why a call failed: a status, and what a client may read about it in the details of that status. */
#ifndef RENGA_LLM_GATEWAY_FAILURE_H
#define RENGA_LLM_GATEWAY_FAILURE_H

#include "base/status.h"

#include "renga/v1/usage.pb-c.h"

#include <stddef.h>
#include <string.h>

struct rpc_call;

#define FAILURE_QUOTA    "INSUFFICIENT_QUOTA"      /* the gateway's account with the provider is empty */
#define FAILURE_CONTEXT  "CONTEXT_LENGTH_EXCEEDED" /* the question is longer than the model's context */
#define FAILURE_NO_MODEL "NO_MODEL" /* only the extractive provider is there, which writes no such answer */

/* All zero means none. */
struct failure {
    struct status status;
    const char *reason;  /* google.rpc.ErrorInfo: one of FAILURE_…; NULL: none. A constant */
    const char *limit;   /* google.rpc.QuotaFailure: "client/tokens_per_minute", as admission says; NULL: none */
    const char *limited; /* whose limit: the name of the client or tenant; NULL: nobody's */
    const char *problem; /* renga.v1.InvalidOutput: what is wrong with the answer; NULL: none. In the call's arena */
    const char *raw_text;
    size_t raw_size;
    bool mendable;                 /* the model may do better when it is shown the problem */
    bool ours;                     /* no deployment's fault, and none would do better */
    const Renga__V1__Usage *usage; /* what was spent all the same; NULL: nothing */
};

/* Whether the reason is an empty account. */
static inline bool failure_is_quota(const struct failure *failure)
{
    return failure->reason && strcmp(failure->reason, FAILURE_QUOTA) == 0;
}

/* Ends the call with the failure. */
void failure_send(struct rpc_call *call, const struct failure *failure);

#endif
