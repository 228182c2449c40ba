/* The schema, on a descriptor set that protoc made and on broken ones. */
#include "rpc/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t *set;
static size_t set_size;
static struct status st;

static int set_read(void **state)
{
    FILE *file = fopen(SCHEMA_SET, "rb");
    assert_non_null(file);
    set = malloc(1u << 20);
    set_size = fread(set, 1, 1u << 20, file);
    fclose(file);
    return set_size == 0;
}

static int set_free(void **state)
{
    free(set);
    return 0;
}

static struct rpc_schema *load(void)
{
    struct rpc_schema *schema = rpc_schema_load(set, set_size, &st);
    assert_non_null(schema);
    return schema;
}

static void methods_know_how_they_stream_and_whether_they_may_be_repeated(void **state)
{
    struct rpc_schema *schema = load();
    size_t count;
    const struct rpc_method *methods = rpc_schema_service(schema, "renga.test.schema.Desk", &count);
    assert_non_null(methods);
    assert_int_equal(count, 5);
    assert_string_equal(methods[0].service, "renga.test.schema.Desk");
    assert_string_equal(methods[0].name, "Ask");
    assert_string_equal(methods[0].path, "/renga.test.schema.Desk/Ask");
    static const bool expected[][3] = {{0, 0, 1}, {0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {1, 1, 0}};
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(methods[i].index, i);
        assert_int_equal(methods[i].client_streams, expected[i][0]);
        assert_int_equal(methods[i].server_streams, expected[i][1]);
        assert_int_equal(methods[i].idempotent, expected[i][2]);
        assert_ptr_equal(rpc_schema_method(schema, methods[i].id), &methods[i]);
    }
    assert_int_equal(rpc_schema_method_count(schema), 6);
    assert_null(rpc_schema_method(schema, 6));
    rpc_schema_destroy(&schema);
    assert_null(schema);
}

static void a_service_is_found_even_without_methods_and_nothing_else_is(void **state)
{
    struct rpc_schema *schema = load();
    size_t count;
    assert_non_null(rpc_schema_service(schema, "renga.test.schema.Second", &count));
    assert_int_equal(count, 1);
    assert_non_null(rpc_schema_service(schema, "renga.test.schema.Silent", &count));
    assert_int_equal(count, 0);
    assert_null(rpc_schema_service(schema, "renga.test.schema.Outer", &count));
    assert_null(rpc_schema_service(schema, "", &count));
    rpc_schema_destroy(&schema);
}

static void every_symbol_leads_to_its_file(void **state)
{
    static const struct {
        const char *symbol, *file;
    } cases[] = {
        {"renga.test.schema.Desk", "schema_cases.proto"},
        {"renga.test.schema.Desk.Watch", "schema_cases.proto"},
        {"renga.test.schema.Outer", "schema_cases.proto"},
        {"renga.test.schema.Outer.Inner", "schema_cases.proto"},
        {"renga.test.schema.Outer.Inner.mood", "schema_cases.proto"},
        {"renga.test.schema.Outer.Inner.Mood", "schema_cases.proto"},
        {"renga.test.schema.Outer.Inner.CALM", "schema_cases.proto"}, /* a sibling of its enum */
        {"renga.test.schema.Outer.Inner.weight", "schema_cases.proto"},
        {"renga.test.schema.Outer.choice", "schema_cases.proto"},
        {"renga.test.schema.note", "schema_cases.proto"},
        {"renga.test.base.Base.root", "schema_cases_base.proto"},
        {"Root", "schema_cases_root.proto"},
        {"LOW", "schema_cases_root.proto"},
        {"google.protobuf.MethodOptions", "google/protobuf/descriptor.proto"},
    };
    static const char *const unknown[] = {"", ".Root", "renga.test.schema", "renga.test.schema.Outer.Inner.Mood.CALM",
                                          "Level.LOW"};
    struct rpc_schema *schema = load();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rpc_file *file = rpc_schema_symbol(schema, cases[i].symbol);
        assert_non_null(file);
        assert_string_equal(file->name, cases[i].file);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_null(rpc_schema_symbol(schema, unknown[i]));
    rpc_schema_destroy(&schema);
}

static void a_schema_of_methods_has_no_symbols_and_no_extensions(void **state)
{
    struct rpc_schema *schema = rpc_schema_load_methods(set, set_size, &st);
    size_t count;
    assert_non_null(schema);
    assert_string_equal(rpc_schema_service(schema, "renga.test.schema.Desk", &count)->path,
                        "/renga.test.schema.Desk/Ask");
    assert_int_equal(count, 5);
    assert_int_equal(rpc_schema_method_count(schema), 6);
    assert_null(rpc_schema_symbol(schema, "renga.test.schema.Outer"));
    rpc_schema_extensions(schema, &count);
    assert_int_equal(count, 0);
    rpc_schema_destroy(&schema);
}

static void files_come_as_they_are_with_their_imports(void **state)
{
    struct rpc_schema *schema = load();
    const struct rpc_file *file = rpc_schema_file(schema, "schema_cases.proto");
    assert_non_null(file);
    assert_int_equal(file->import_count, 2);
    assert_string_equal(file->imports[0], "schema_cases_base.proto");
    assert_string_equal(file->imports[1], "google/protobuf/descriptor.proto");
    assert_true((const uint8_t *)file->bytes > set && (const uint8_t *)file->bytes + file->size <= set + set_size);
    assert_memory_equal(file->bytes, "\x0a\x12schema_cases.proto", 20);
    assert_null(rpc_schema_file(schema, "schema_cases"));
    rpc_schema_destroy(&schema);
}

static void extensions_are_found_by_message_and_number(void **state)
{
    struct rpc_schema *schema = load();
    size_t count;
    assert_string_equal(rpc_schema_extension(schema, "Extensible", 100)->name, "schema_cases.proto");
    assert_string_equal(rpc_schema_extension(schema, "Extensible", 101)->name, "schema_cases.proto");
    assert_non_null(rpc_schema_extension(schema, "google.protobuf.MethodOptions", 50001));
    assert_null(rpc_schema_extension(schema, "Extensible", 102));
    assert_null(rpc_schema_extension(schema, "Root", 100));
    assert_non_null(rpc_schema_extensions(schema, &count));
    assert_int_equal(count, 3);
    rpc_schema_destroy(&schema);
}

static void an_empty_set_is_a_schema_without_anything(void **state)
{
    size_t count;
    struct rpc_schema *schema = rpc_schema_load("", 0, &st);
    assert_non_null(schema);
    assert_int_equal(rpc_schema_method_count(schema), 0);
    assert_null(rpc_schema_symbol(schema, "x"));
    assert_null(rpc_schema_extension(schema, "x", 1));
    assert_null(rpc_schema_service(schema, "x", &count));
    rpc_schema_destroy(&schema);
}

#define assert_malformed(literal, expected)                                                                            \
    do {                                                                                                               \
        assert_null(rpc_schema_load(literal, sizeof(literal) - 1, &st));                                               \
        assert_int_equal(st.code, INVALID_ARGUMENT);                                                                   \
        assert_non_null(strstr(st.text, expected));                                                                    \
    } while (0)

static void a_malformed_set_is_refused(void **state)
{
    assert_malformed("\x0a\x7f", "reaches beyond its end");
    assert_malformed("\x0a\x04\x0a\x01"
                     "a\x22",
                     "ends within a number");
    assert_malformed("\x0a\x05\x0a\x01"
                     "a\x22\x00",
                     "has no name");
    assert_malformed("\x0a\x05\x0a\x03"
                     "a\x00z",
                     "not text");
    assert_malformed("\x0a\x06\x0a\x01"
                     "a\x1a\x01"
                     "b",
                     "--include_imports");
    assert_malformed("\x0a\x03\x0a\x01"
                     "a\x0a\x03\x0a\x01"
                     "a",
                     "twice");
    assert_malformed("\x0a\x0d\x0a\x01"
                     "a\x22\x03\x0a\x01M\x22\x03\x0a\x01M",
                     "defines 'M' twice");
}

static void a_set_cut_anywhere_is_refused_or_loads(void **state)
{
    for (size_t size = 0; size < set_size; size += 1 + size / 512) {
        uint8_t *cut = malloc(size + 1); /* of its own, for AddressSanitizer's sake */
        memcpy(cut, set, size);
        struct rpc_schema *schema = rpc_schema_load(cut, size, &st);
        rpc_schema_destroy(&schema);
        free(cut);
    }
}

static void messages_nested_without_end_are_refused(void **state)
{
    uint8_t bytes[2048];
    size_t used = 0;
    for (int i = 0; i < 100; i++) { /* each: name "m", then the next as nested type 3 (message type 4 of the file) */
        size_t inner = used;
        memmove(bytes + 64, bytes, inner);
        size_t at = 0;
        bytes[at++] = 0x0a;
        bytes[at++] = 1;
        bytes[at++] = 'm';
        if (inner > 0) {
            bytes[at++] = i == 99 ? 0x22 : 0x1a;
            bytes[at++] = (uint8_t)(inner | 0x80);
            bytes[at++] = (uint8_t)(inner >> 7);
        }
        memmove(bytes + at, bytes + 64, inner);
        used = at + inner;
    }
    uint8_t whole[2100] = {0x0a, (uint8_t)(used | 0x80), (uint8_t)(used >> 7)};
    memcpy(whole + 3, bytes, used);
    assert_null(rpc_schema_load(whole, used + 3, &st));
    assert_non_null(strstr(st.text, "nested too deeply"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_know_how_they_stream_and_whether_they_may_be_repeated),
        cmocka_unit_test(a_service_is_found_even_without_methods_and_nothing_else_is),
        cmocka_unit_test(every_symbol_leads_to_its_file),
        cmocka_unit_test(a_schema_of_methods_has_no_symbols_and_no_extensions),
        cmocka_unit_test(files_come_as_they_are_with_their_imports),
        cmocka_unit_test(extensions_are_found_by_message_and_number),
        cmocka_unit_test(an_empty_set_is_a_schema_without_anything),
        cmocka_unit_test(a_malformed_set_is_refused),
        cmocka_unit_test(a_set_cut_anywhere_is_refused_or_loads),
        cmocka_unit_test(messages_nested_without_end_are_refused),
    };
    return cmocka_run_group_tests(tests, set_read, set_free);
}
