/* What a client reads of a failure. */
#include "contract/failure.h"

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "proto/descriptor_set.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "rpc/channel.h"
#include "rpc/details.h"
#include "rpc/rpc.h"
#include "rpc/schema.h"

#include <stdio.h>

#include "unit.h"

static const struct failure *sent;
static Google__Rpc__Status *got;
static struct status status;

static void list_models(Renga__V1__LlmGateway_Service *self, const Renga__V1__ListModelsRequest *request,
                        Renga__V1__ListModelsResponse_Closure reply, void *data)
{
    failure_send(data, sent);
}

static void listed(const Renga__V1__ListModelsResponse *response, void *data)
{
    const struct rpc_client_call *call = data;
    size_t size;
    const void *bytes = rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
    assert_null(response);
    got = bytes ? google__rpc__status__unpack(NULL, size, bytes) : NULL;
    status = call->status;
}

/* Through a call within the process. */
static void send(const struct failure *failure)
{
    Renga__V1__ListModelsRequest request = RENGA__V1__LIST_MODELS_REQUEST__INIT;
    Renga__V1__LlmGateway_Service service = {
        .base = {.descriptor = &renga__v1__llm_gateway__descriptor, .invoke = rpc_service_invoke},
        .list_models = list_models,
    };
    ProtobufCService *const instances[] = {&service.base};
    struct rpc_client_call call;
    struct loop *loop = loop_create(0);
    struct status st = {0};
    struct rpc_schema *schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    assert_non_null(schema);
    ProtobufCService *stub = rpc_local_stub(schema, instances, 0, NULL);
    sent = failure;
    loop_enter(loop);
    rpc_client_call_init(&call, loop, NULL);
    renga__v1__llm_gateway__list_models(stub, &request, listed, &call);
    loop_leave(loop);
    protobuf_c_service_destroy(stub);
    rpc_schema_destroy(&schema);
    loop_destroy(&loop);
}

static const ProtobufCBinaryData *detail(size_t index, const char *name)
{
    char url[128];
    snprintf(url, sizeof url, "type.googleapis.com/%s", name);
    assert_true(index < got->n_details);
    assert_string_equal(got->details[index]->type_url, url);
    return &got->details[index]->value;
}

static void assert_quota(size_t index, const char *subject, const char *description)
{
    const ProtobufCBinaryData *value = detail(index, "google.rpc.QuotaFailure");
    Google__Rpc__QuotaFailure *quota = google__rpc__quota_failure__unpack(NULL, value->len, value->data);
    assert_non_null(quota);
    assert_int_equal(quota->n_violations, 1);
    assert_string_equal(quota->violations[0]->subject, subject);
    assert_string_equal(quota->violations[0]->description, description);
    google__rpc__quota_failure__free_unpacked(quota, NULL);
}

static void a_limit_goes_with_the_time_to_come_back(void **state)
{
    struct failure failure = {.limit = "client/tokens_per_minute", .limited = "reports", .reason = "LIMIT"};
    fail(&failure.status, RESOURCE_EXHAUSTED, "too many; come back in 2.0 s");
    failure.status.retry_after_ms = 2000;
    send(&failure);
    assert_int_equal(status.code, RESOURCE_EXHAUSTED);
    assert_int_equal(status.retry_after_ms, 2000);
    assert_int_equal(got->n_details, 3);
    assert_string_equal(got->message, "too many; come back in 2.0 s");
    detail(0, "google.rpc.ErrorInfo");
    assert_quota(1, "client:reports", "tokens_per_minute: too many; come back in 2.0 s");
    detail(2, "google.rpc.RetryInfo");
    google__rpc__status__free_unpacked(got, NULL);
}

static void a_limit_of_nobody_is_that_of_the_process(void **state)
{
    struct failure failure = {.limit = "process/queue"};
    fail(&failure.status, RESOURCE_EXHAUSTED, "full");
    send(&failure);
    assert_quota(0, "process", "queue: full");
    google__rpc__status__free_unpacked(got, NULL);
}

static void all_details_at_their_longest_still_travel(void **state)
{
    static char text[4096];
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.input_tokens = usage.output_tokens = usage.cost_micros = INT64_MAX;
    memset(text, 'x', sizeof text - 1);
    struct failure failure = {.problem = text, .raw_text = text, .raw_size = 4000, .usage = &usage};
    fail(&failure.status, DATA_LOSS, "%s", text);
    failure.status.retry_after_ms = INT32_MAX;
    send(&failure);
    assert_int_equal(got->n_details, 3);
    detail(0, "renga.v1.InvalidOutput");
    detail(1, "renga.v1.Usage");
    detail(2, "google.rpc.RetryInfo");
    google__rpc__status__free_unpacked(got, NULL);
    failure = (struct failure){.limit = "tenant/micros_per_day", .limited = text, .usage = &usage};
    fail(&failure.status, RESOURCE_EXHAUSTED, "%s", text);
    send(&failure);
    assert_int_equal(got->n_details, 2);
    google__rpc__status__free_unpacked(got, NULL);
}

static void what_code_and_text_say_needs_no_details(void **state)
{
    struct failure failure = {0};
    fail(&failure.status, NOT_FOUND, "no model");
    send(&failure);
    assert_null(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_goes_with_the_time_to_come_back),
        cmocka_unit_test(a_limit_of_nobody_is_that_of_the_process),
        cmocka_unit_test(all_details_at_their_longest_still_travel),
        cmocka_unit_test(what_code_and_text_say_needs_no_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
