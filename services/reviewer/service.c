/* The service: its functions, and the creation of an instance. */
#include "reviewer.h"
#include "reviewer_priv.h"

#include "base/memory.h"

#include <stdlib.h>

static void reflect(Renga__V1__Reviewer_Service *self, const Renga__V1__ReflectRequest *request,
                    Renga__V1__ReflectResponse_Closure reply, void *data)
{
    reflect_begin((struct reviewer *)self, data, request, reply);
}

static void review_answer(Renga__V1__Reviewer_Service *self, const Renga__V1__ReviewAnswerRequest *request,
                          Renga__V1__ReviewAnswerResponse_Closure reply, void *data)
{
    review_answer_begin((struct reviewer *)self, data, request, reply);
}

static void review_draft(Renga__V1__Reviewer_Service *self, const Renga__V1__ReviewDraftRequest *request,
                         Renga__V1__ReviewDraftResponse_Closure reply, void *data)
{
    review_draft_begin((struct reviewer *)self, data, request, reply);
}

static const Renga__V1__Reviewer_Service functions = {
    .base = {.descriptor = &renga__v1__reviewer__descriptor, .invoke = rpc_service_invoke},
    .reflect = reflect,
    .review_answer = review_answer,
    .review_draft = review_draft,
};

static ProtobufCService *reviewer_create(const struct service_context *context, struct status *st)
{
    struct reviewer *reviewer = calloc(1, sizeof *reviewer);
    if (!reviewer) {
        fail_memory(st, "the reviewer");
        return NULL;
    }
    reviewer->base = functions;
    model_client_init(&reviewer->client, "reviewer", reviewer_prompts, context);
    return &reviewer->base.base;
}

static void reviewer_destroy(ProtobufCService *service)
{
    free(service);
}

const struct option reviewer_options[] = {
    MODEL_CLIENT_OPTIONS("reviewer"),
    {.name = NULL},
};

const struct service reviewer_service = {
    .name = "reviewer",
    .descriptor = &renga__v1__reviewer__descriptor,
    .options = reviewer_options,
    .create = reviewer_create,
    .destroy = reviewer_destroy,
};
