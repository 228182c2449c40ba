/* Private to services/reviewer: an instance and its methods; each method has its own file. */
#ifndef RENGA_REVIEWER_PRIV_H
#define RENGA_REVIEWER_PRIV_H

#include "model_task/model_task.h"

#include "renga/v1/reviewer.pb-c.h"

#define ADVICE_MAX       ((size_t)8192)                 /* bytes */
#define UNCONST(pointer) ((void *)(uintptr_t)(pointer)) /* protobuf-c has no const, and never writes to it */

struct reviewer {
    Renga__V1__Reviewer_Service base; /* first */
    struct model_client client;
};

extern const struct option reviewer_options[];
extern const struct prompt reviewer_prompts[]; /* made of the files in prompts/ */

void reflect_begin(struct reviewer *reviewer, struct rpc_call *call, const Renga__V1__ReflectRequest *request,
                   Renga__V1__ReflectResponse_Closure reply);
void review_answer_begin(struct reviewer *reviewer, struct rpc_call *call,
                         const Renga__V1__ReviewAnswerRequest *request, Renga__V1__ReviewAnswerResponse_Closure reply);
void review_draft_begin(struct reviewer *reviewer, struct rpc_call *call, const Renga__V1__ReviewDraftRequest *request,
                        Renga__V1__ReviewDraftResponse_Closure reply);

#endif
