/* The table of requests: each method of the contract has a row, and each row is whole. */
#include "runtime/request_types.h"

#include "renga/v1/orchestrator.pb-c.h"

#include "unit.h"

static const ProtobufCServiceDescriptor *const service = &renga__v1__orchestrator__descriptor;

/* ListAgents is answered by api/describe.c from the documents; no run or thread is concerned. */
static bool is_of_the_documents(const ProtobufCMethodDescriptor *method)
{
    return method->input == &renga__v1__list_agents_request__descriptor;
}

static void each_method_of_the_contract_has_a_row(void **state)
{
    for (unsigned i = 0; i < service->n_methods; i++) {
        const ProtobufCMethodDescriptor *method = &service->methods[i];
        const ProtobufCMessage message = {.descriptor = method->input};
        if (!request_type_of(&message) && !is_of_the_documents(method))
            fail_msg("%s has no row in runtime/request_types.c", method->name);
    }
}

static void a_row_is_served_in_one_way_and_names_fields_of_its_own_message(void **state)
{
    for (unsigned i = 0; i < service->n_methods; i++) {
        const ProtobufCMessageDescriptor *input = service->methods[i].input;
        const ProtobufCMessage message = {.descriptor = input};
        const struct request_type *type = request_type_of(&message);
        if (!type)
            continue;
        assert_true(!type->serve != !type->list);
        assert_true(!type->serve == !(type->thread_id || type->run_id));
        assert_true(!type->repeat == !type->request_id);
        const size_t texts[] = {type->thread_id, type->run_id, type->request_id, type->agent};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            bool found = !texts[t];
            for (unsigned f = 0; f < input->n_fields; f++)
                found =
                    found || (input->fields[f].offset == texts[t] && input->fields[f].type == PROTOBUF_C_TYPE_STRING);
            assert_true(found);
        }
        if (type->response)
            assert_ptr_equal(type->response, service->methods[i].output);
    }
}

static void only_requests_without_a_second_effect_may_be_sent_twice(void **state)
{
    Renga__V1__StartRunRequest start = RENGA__V1__START_RUN_REQUEST__INIT;
    Renga__V1__GetRunRequest get = RENGA__V1__GET_RUN_REQUEST__INIT;
    Renga__V1__DeleteThreadRequest delete = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    assert_false(request_is_repeatable(&start.base));
    char id[] = "r";
    start.request_id = id;
    assert_true(request_is_repeatable(&start.base));
    assert_true(request_is_repeatable(&get.base));
    assert_false(request_is_repeatable(&delete.base));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_method_of_the_contract_has_a_row),
        cmocka_unit_test(a_row_is_served_in_one_way_and_names_fields_of_its_own_message),
        cmocka_unit_test(only_requests_without_a_second_effect_may_be_sent_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
