#include "tool_runner.h"

#include "renga/v1/tool_runner.pb-c.h"
#include "rpc/rpc.h"

/* Methods that are NULL here answer UNIMPLEMENTED. */
static Renga__V1__ToolRunner_Service functions = {
    .base = {.descriptor = &renga__v1__tool_runner__descriptor, .invoke = rpc_service_invoke},
};

const struct service tool_runner_service = {
    .name = "tool_runner",
    .descriptor = &renga__v1__tool_runner__descriptor,
    .stateless = &functions.base,
};
