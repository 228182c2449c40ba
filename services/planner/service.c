#include "planner.h"

#include "renga/v1/planner.pb-c.h"
#include "rpc/rpc.h"

/* Methods that are NULL here answer UNIMPLEMENTED. */
static Renga__V1__Planner_Service functions = {
    .base = {.descriptor = &renga__v1__planner__descriptor, .invoke = rpc_service_invoke},
};

const struct service planner_service = {
    .name = "planner",
    .descriptor = &renga__v1__planner__descriptor,
    .stateless = &functions.base,
};
