#include "orchestrator.h"

#include "renga/v1/ace.pb-c.h"
#include "renga/v1/autonomous_research.pb-c.h"
#include "renga/v1/deep_research.pb-c.h"
#include "renga/v1/helpdesk.pb-c.h"
#include "renga/v1/interview.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "rpc/rpc.h"

/* Methods that are NULL in these tables answer UNIMPLEMENTED. */
#define SERVICE(field, Type)                                                                                           \
    static Renga__V1__##Type##_Service field##_functions = {                                                           \
        .base = {.descriptor = &renga__v1__##field##__descriptor, .invoke = rpc_service_invoke},                       \
    };                                                                                                                 \
    const struct service field##_service = {                                                                           \
        .name = #field,                                                                                                \
        .descriptor = &renga__v1__##field##__descriptor,                                                               \
        .stateless = &field##_functions.base,                                                                          \
    };

SERVICE(orchestrator, Orchestrator)
SERVICE(helpdesk, Helpdesk)
SERVICE(form_interview, FormInterview)
SERVICE(deep_research, DeepResearch)
SERVICE(autonomous_research, AutonomousResearch)
SERVICE(ace_generator, AceGenerator)
