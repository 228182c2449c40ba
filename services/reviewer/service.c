#include "reviewer.h"

#include "renga/v1/reviewer.pb-c.h"
#include "rpc/rpc.h"

/* Methods that are NULL here answer UNIMPLEMENTED. */
static Renga__V1__Reviewer_Service functions = {
    .base = {.descriptor = &renga__v1__reviewer__descriptor, .invoke = rpc_service_invoke},
};

const struct service reviewer_service = {
    .name = "reviewer",
    .descriptor = &renga__v1__reviewer__descriptor,
    .stateless = &functions.base,
};
