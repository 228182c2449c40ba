/* The caller of the OpenAI HTTP interface is the principal that the gateway sees. */
#include "daemon/service.h"
#include "proto/descriptor_set.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"
#include "rpc/schema.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static char seen[128];
static bool ended;

static void list_models(Renga__V1__LlmGateway_Service *self, const Renga__V1__ListModelsRequest *request,
                        Renga__V1__ListModelsResponse_Closure reply, void *data)
{
    const struct rpc_principal *principal = rpc_call_principal(data);
    Renga__V1__ListModelsResponse response = RENGA__V1__LIST_MODELS_RESPONSE__INIT;
    snprintf(seen, sizeof seen, "%s of %s", principal->name, principal->tenant);
    reply(&response, data);
}

static void listed(const Renga__V1__ListModelsResponse *response, void *data)
{
    ended = response != NULL;
}

static void call_as(const struct rpc_principal *principal, const char *expected)
{
    static const Renga__V1__ListModelsRequest request = RENGA__V1__LIST_MODELS_REQUEST__INIT;
    Renga__V1__LlmGateway_Service service = {
        .base = {.descriptor = &renga__v1__llm_gateway__descriptor, .invoke = rpc_service_invoke},
        .list_models = list_models,
    };
    ProtobufCService *const instances[] = {&service.base};
    struct status st = {0};
    struct rpc_client_call call;
    struct loop *loop = loop_create(0);
    struct rpc_schema *schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    assert_non_null(schema);
    ProtobufCService *stub = rpc_local_stub(schema, instances, 0, NULL);
    ended = false;
    loop_enter(loop);
    rpc_client_call_init(&call, loop, NULL);
    call.principal = principal;
    renga__v1__llm_gateway__list_models(stub, &request, listed, &call);
    loop_leave(loop);
    assert_true(ended);
    assert_string_equal(seen, expected);
    protobuf_c_service_destroy(stub);
    rpc_schema_destroy(&schema);
    loop_destroy(&loop);
}

static void the_gateway_sees_whose_key_it_was(void **state)
{
    static const struct rpc_principal client = {.name = "desk", .tenant = "kyoto"};
    call_as(&client, "desk of kyoto");
    call_as(NULL, " of ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gateway_sees_whose_key_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
