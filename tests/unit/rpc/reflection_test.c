/* Reflection: one request, one response, byte for byte on the wire. */
#include "rpc/reflection.h"

#include "rpc/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t set[1u << 16];
static struct rpc_schema *schema;
static struct arena arena;
static struct status st;
static const char *const services[] = {"renga.test.schema.Desk", "grpc.health.v1.Health"};

static int schema_make(void **state)
{
    FILE *file = fopen(SCHEMA_SET, "rb");
    assert_non_null(file);
    size_t size = fread(set, 1, sizeof set, file);
    fclose(file);
    schema = rpc_schema_load(set, size, &st);
    arena_init(&arena, NULL, 0, 1u << 20);
    return schema == NULL;
}

static int schema_free(void **state)
{
    rpc_schema_destroy(&schema);
    arena_fini(&arena);
    return 0;
}

/* The field `number` of the response to a request; it has to be there, with the request beside it. */
static struct rpc_wire_field ask_bytes(const char *request, size_t size, uint32_t number)
{
    const void *response = NULL;
    size_t response_size;
    struct rpc_wire_field field, found = {0};
    bool original = false;
    assert_true(rpc_reflection_answer(schema, services, 2, request, size, &arena, &response, &response_size, &st));
    struct rpc_wire wire = rpc_wire_over(response, response_size);
    while (rpc_wire_next(&wire, &field)) {
        if (field.number == 2) {
            assert_int_equal(field.size, size);
            assert_memory_equal(field.bytes, request, size);
            original = true;
        } else if (field.number == number) {
            found = field;
        } else {
            assert_int_equal(field.number, 1); /* the host */
        }
    }
    assert_null(wire.error);
    assert_true(original && found.number == number);
    return found;
}

#define ask(literal, number) ask_bytes(literal, sizeof(literal) - 1, number)

/* The names of the files of a response, in their order. */
static void assert_files(struct rpc_wire_field files, const char *const *names, size_t count)
{
    struct rpc_wire wire = rpc_wire_over(files.bytes, files.size);
    struct rpc_wire_field field;
    size_t at = 0;
    while (rpc_wire_next(&wire, &field)) {
        assert_int_equal(field.number, 1);
        assert_true(at < count);
        const struct rpc_file *file = rpc_schema_file(schema, names[at++]);
        assert_int_equal(field.size, file->size);
        assert_memory_equal(field.bytes, file->bytes, file->size);
    }
    assert_int_equal(at, count);
}

static const char *const whole[] = {"schema_cases.proto", "schema_cases_base.proto", "google/protobuf/descriptor.proto",
                                    "schema_cases_root.proto"};

static void assert_error(struct rpc_wire_field error, int code)
{
    struct rpc_wire wire = rpc_wire_over(error.bytes, error.size);
    struct rpc_wire_field field;
    assert_true(rpc_wire_next(&wire, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, code);
    assert_true(rpc_wire_next(&wire, &field));
    assert_int_equal(field.number, 2);
    assert_true(field.size > 5);
}

static void services_are_listed(void **state)
{
    static const char expected[] = "\x0a\x18\x0a\x16renga.test.schema.Desk\x0a\x17\x0a\x15grpc.health.v1.Health";
    struct rpc_wire_field list = ask("\x3a\x00", 6);
    assert_int_equal(list.size, sizeof expected - 1);
    assert_memory_equal(list.bytes, expected, list.size);
    ask("\x0a\x09localhost\x3a\x01*", 6);
}

static void a_file_comes_with_all_that_it_imports_each_once(void **state)
{
    assert_files(ask("\x1a\x12schema_cases.proto", 4), whole, 4);
    assert_files(ask("\x1a\x17schema_cases_root.proto", 4), whole + 3, 1);
}

static void a_symbol_leads_to_its_file(void **state)
{
    assert_files(ask("\x22\x16renga.test.schema.Desk", 4), whole, 4);
    assert_files(ask("\x22\x1arenga.test.schema.Desk.Ask", 4), whole, 4);
    assert_files(ask("\x22\x04Root", 4), whole + 3, 1);
}

static void extensions_are_found_and_counted(void **state)
{
    assert_files(ask("\x2a\x0e\x0a\x0a"
                     "Extensible\x10\x64",
                     4),
                 whole, 4);
    struct rpc_wire_field numbers = ask("\x32\x0a"
                                        "Extensible",
                                        5);
    assert_int_equal(numbers.size, 16);
    assert_memory_equal(numbers.bytes,
                        "\x0a\x0a"
                        "Extensible\x12\x02\x64\x65",
                        16);
    numbers = ask("\x32\x04Root", 5);
    assert_memory_equal(numbers.bytes, "\x0a\x04Root\x12\x00", 8);
}

static void what_is_not_there_is_an_answer_too(void **state)
{
    assert_error(ask("\x1a\x01x", 7), NOT_FOUND);
    assert_error(ask("\x22\x11renga.test.schema", 7), NOT_FOUND);
    assert_error(ask("\x2a\x0e\x0a\x0a"
                     "Extensible\x10\x07",
                     7),
                 NOT_FOUND);
    assert_error(ask("\x32\x01x", 7), NOT_FOUND);
    assert_error(ask("", 7), INVALID_ARGUMENT);
    assert_error(ask("\x0a\x01h", 7), INVALID_ARGUMENT);
}

static void the_last_question_counts(void **state)
{
    assert_files(ask("\x3a\x00\x22\x04Root", 4), whole + 3, 1);
}

static void a_malformed_request_fails_the_call(void **state)
{
    static const char *const requests[] = {"\x22\x7fx", "\x22\x01\xff", "\x2a\x02\x0a\x05", "\x07"};
    const void *response;
    size_t size;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        assert_false(rpc_reflection_answer(schema, services, 2, requests[i], strlen(requests[i]), &arena, &response,
                                           &size, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
    }
}

static void an_answer_that_does_not_fit_fails_the_call(void **state)
{
    struct arena small;
    const void *response;
    size_t size;
    arena_init(&small, NULL, 0, 1024);
    assert_false(
        rpc_reflection_answer(schema, services, 2, "\x1a\x12schema_cases.proto", 20, &small, &response, &size, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    arena_fini(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_are_listed),
        cmocka_unit_test(a_file_comes_with_all_that_it_imports_each_once),
        cmocka_unit_test(a_symbol_leads_to_its_file),
        cmocka_unit_test(extensions_are_found_and_counted),
        cmocka_unit_test(what_is_not_there_is_an_answer_too),
        cmocka_unit_test(the_last_question_counts),
        cmocka_unit_test(a_malformed_request_fails_the_call),
        cmocka_unit_test(an_answer_that_does_not_fit_fails_the_call),
    };
    return cmocka_run_group_tests(tests, schema_make, schema_free);
}
