/* The service AceGenerator: runs an agent for each task and for each step of learning from it. */
#include "ace.h"

#include "base/memory.h"
#include "daemon/service.h"
#include "orchestrator.h"

#include <stdlib.h>

static const Renga__V1__AceGenerator_Service ace_methods = {
    .base = {.descriptor = &renga__v1__ace_generator__descriptor, .invoke = rpc_service_invoke},
    .generate = ace_generate,
    .reflect = ace_reflect,
    .curate = ace_curate,
    .adapt = ace_adapt,
    .feedback = ace_feedback,
};

static void ace_destroy(ProtobufCService *service)
{
    free(service);
}

static ProtobufCService *ace_create(const struct service_context *context, struct status *st)
{
    struct ace_service *ace = xcalloc(1, sizeof *ace);
    ace->base = ace_methods;
    ace->orchestrator = context->process ? service_peer(context, &renga__v1__orchestrator__descriptor, st) : NULL;
    if (ace->orchestrator || !context->process)
        return &ace->base.base;
    free(ace);
    return NULL;
}

const struct service ace_generator_service = {
    .name = "ace_generator",
    .descriptor = &renga__v1__ace_generator__descriptor,
    .create = ace_create,
    .destroy = ace_destroy,
};
