/* The reader, the writer and the check of shared/rpc/wire.h, on good messages and on hostile ones. */
#include "rpc/wire.h"

#include "rpc/wire_writer.h"
#include "wire_cases.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EVERYTHING (&renga__test__v1__everything__descriptor)
#define TREE       (&renga__test__v1__tree__descriptor)
#define ECHO       (&renga__test__v1__echo__descriptor)

static struct status st;

static bool check_bytes(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size)
{
    struct rpc_wire_limits limits = RPC_WIRE_LIMITS;
    status_clear(&st);
    return rpc_wire_check(type, bytes, size, &limits, &st);
}

/* Of a literal, without the NUL that ends it. */
#define check(type, literal) check_bytes(type, literal, sizeof(literal) - 1)

#define assert_refused(checked, expected_code, expected_field)                                                         \
    do {                                                                                                               \
        assert_false(checked);                                                                                         \
        assert_int_equal(st.code, expected_code);                                                                      \
        assert_string_equal(st.field, expected_field);                                                                 \
        assert_true(strlen(st.text) > 10);                                                                             \
    } while (0)

/* `depth` trees in one another: 154 KB of them brought a server down that did not look. */
static uint8_t *nested_trees(size_t depth, uint32_t number, size_t *size)
{
    struct rpc_wire_writer writer = {.size = depth * 6};
    writer.buffer = malloc(writer.size);
    for (size_t i = 1; i < depth; i++)
        rpc_wire_put_header(&writer, number, writer.used);
    assert_false(writer.full);
    memmove(writer.buffer, rpc_wire_written(&writer), writer.used);
    *size = writer.used;
    return writer.buffer;
}

/* ---- Reading and writing ---------------------------------------------------------------------------------------- */

static void a_reader_goes_from_field_to_field(void **state)
{
    static const char bytes[] = "\x08\x96\x01\x12\x02hi\x1d\x01\x02\x03\x04\x21\x01\x02\x03\x04\x05\x06\x07\x08";
    struct rpc_wire wire = rpc_wire_over(bytes, sizeof bytes - 1);
    struct rpc_wire_field field;

    assert_true(rpc_wire_next(&wire, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.type, RPC_WIRE_VARINT);
    assert_int_equal(field.value, 150);
    assert_true(rpc_wire_next(&wire, &field));
    assert_int_equal(field.number, 2);
    assert_int_equal(field.size, 2);
    assert_memory_equal(field.bytes, "hi", 2);
    assert_true(rpc_wire_next(&wire, &field));
    assert_int_equal(field.value, 0x04030201);
    assert_true(rpc_wire_next(&wire, &field));
    assert_int_equal(field.value, 0x0807060504030201);
    assert_false(rpc_wire_next(&wire, &field));
    assert_null(wire.error);
}

static void a_reader_stops_at_what_is_malformed(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
#define CASE(literal) {literal, sizeof(literal) - 1}
        CASE("\x08"),                                             /* a tag and nothing */
        CASE("\x88"),                                             /* half a tag */
        CASE("\x08\x96"),                                         /* half a varint */
        CASE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), /* a varint of eleven bytes */
        CASE("\x00\x01"),                                         /* field 0 */
        CASE("\x80\x80\x80\x80\x10\x01"),                         /* field 2^29 */
        CASE("\x88\x80\x80\x80\x80\x00\x01"),                     /* a tag of six bytes */
        CASE("\x0b\x0c"),                                         /* a group */
        CASE("\x0c"),                                             /* the end of a group */
        CASE("\x0e"),                                             /* wire type 6 */
        CASE("\x0f"),                                             /* wire type 7 */
        CASE("\x0a\x05hell"),                                     /* less than it says */
        CASE("\x0a\xff\xff\xff\xff\x0fx"),                        /* 4 GB */
        CASE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"),    /* 2^64 - 1 bytes */
        CASE("\x0d\x01\x02\x03"),                                 /* three quarters of a fixed32 */
        CASE("\x09\x01\x02\x03\x04\x05\x06\x07"),                 /* seven eighths of a fixed64 */
#undef CASE
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rpc_wire wire = rpc_wire_over(cases[i].bytes, cases[i].size);
        struct rpc_wire_field field;
        assert_false(rpc_wire_next(&wire, &field));
        assert_non_null(wire.error);
        assert_false(rpc_wire_next(&wire, &field));
        assert_refused(check_bytes(ECHO, cases[i].bytes, cases[i].size), INVALID_ARGUMENT, "");
    }
}

static void what_is_written_backwards_is_read_forwards(void **state)
{
    uint8_t buffer[64];
    struct rpc_wire_writer writer = {.buffer = buffer, .size = sizeof buffer};
    rpc_wire_put_varint(&writer, 1002, UINT64_MAX);
    size_t end = writer.used;
    rpc_wire_put_text(&writer, 1, "leaf");
    rpc_wire_put_header(&writer, 17, writer.used - end);
    rpc_wire_put_varint(&writer, 3, 300);
    assert_false(writer.full);

    Renga__Test__V1__Everything *read =
        renga__test__v1__everything__unpack(NULL, writer.used, rpc_wire_written(&writer));
    assert_non_null(read);
    assert_int_equal(read->an_int32, 300);
    assert_string_equal(read->a_tree->name, "leaf");
    assert_int_equal(read->chosen_number, -1);
    renga__test__v1__everything__free_unpacked(read, NULL);
}

static void a_writer_without_a_buffer_measures_and_a_small_one_is_full(void **state)
{
    uint8_t buffer[4];
    struct rpc_wire_writer measure = {0}, small = {.buffer = buffer, .size = sizeof buffer};
    rpc_wire_put_text(&measure, 1, "hello");
    rpc_wire_put_text(&small, 1, "hello");
    assert_int_equal(measure.used, 7);
    assert_false(measure.full);
    assert_true(small.full);
}

/* ---- Checking --------------------------------------------------------------------------------------------------- */

static void a_message_with_every_type_passes(void **state)
{
    Renga__Test__V1__Everything all = RENGA__TEST__V1__EVERYTHING__INIT;
    Renga__Test__V1__Tree leaf = RENGA__TEST__V1__TREE__INIT, root = RENGA__TEST__V1__TREE__INIT;
    Renga__Test__V1__Tree *leaves[] = {&leaf, &leaf};
    char *strings[] = {(char[]){"連歌"}, (char[]){""}, (char[]){"plain"}};
    double doubles[] = {1, 2};
    int64_t int64s[] = {-1, 0, INT64_MIN};
    protobuf_c_boolean bools[] = {1, 0};
    uint32_t loose[] = {1, 1u << 31};
    root.children = leaves;
    root.n_children = 2;
    all.a_double = 1.5;
    all.an_int32 = -1;
    all.a_string = strings[0];
    all.a_bytes = (ProtobufCBinaryData){.data = (uint8_t[]){0xff, 0x00}, .len = 2};
    all.a_tree = &root;
    all.doubles = doubles;
    all.n_doubles = 2;
    all.int64s = int64s;
    all.n_int64s = 3;
    all.bools = bools;
    all.n_bools = 2;
    all.strings = strings;
    all.n_strings = 3;
    all.loose = loose;
    all.n_loose = 2;
    all.choice_case = RENGA__TEST__V1__EVERYTHING__CHOICE_CHOSEN_TREE;
    all.chosen_tree = &root;
    all.last = strings[2];

    uint8_t bytes[512];
    assert_true(renga__test__v1__everything__get_packed_size(&all) <= sizeof bytes);
    size_t size = renga__test__v1__everything__pack(&all, bytes);
    assert_true(check_bytes(EVERYTHING, bytes, size));
    for (size_t cut = 1; cut < size; cut++) /* anywhere else it is only looked at for memory's sake */
        check_bytes(EVERYTHING, bytes, cut);
}

static void an_empty_message_passes(void **state)
{
    assert_true(check_bytes(EVERYTHING, NULL, 0));
    assert_true(check_bytes(&renga__test__v1__empty__descriptor, "", 0));
    assert_true(check(&renga__test__v1__empty__descriptor, "\x0a\x02\xff\x00")); /* an unknown field */
}

static void text_that_is_not_utf8_is_refused_by_its_path(void **state)
{
    assert_refused(check(ECHO, "\x0a\x03"
                               "a\xffz"),
                   INVALID_ARGUMENT, "text");
    assert_non_null(strstr(st.text, "not UTF-8 from byte 1 on (0xff)"));
    assert_refused(check(ECHO, "\x0a\x03\xed\xa0\x80"), INVALID_ARGUMENT, "text"); /* a surrogate */
    assert_refused(check(ECHO, "\x0a\x02\xc0\x80"), INVALID_ARGUMENT, "text");     /* an overlong NUL */
    /* trees[1].children[0].only.name */
    assert_refused(check(EVERYTHING, "\xaa\x02\x00\xaa\x02\x07\x12\x05\x1a\x03\x0a\x01\xff"), INVALID_ARGUMENT,
                   "trees[1].children[0].only.name");
    assert_refused(check(EVERYTHING, "\x92\x02\x01"
                                     "a\x92\x02\x01\x80"),
                   INVALID_ARGUMENT, "strings[1]");
    assert_refused(check(EVERYTHING, "\xa2\x06\x06\x0a\x01"
                                     "k\x12\x01\x80"),
                   INVALID_ARGUMENT, "labels[0].value");
    assert_refused(check(EVERYTHING, "\xc2\x3e\x01\x80"), INVALID_ARGUMENT, "chosen_text");
    assert_refused(check(EVERYTHING, "\xfa\xff\xff\xff\x0f\x01\x80"), INVALID_ARGUMENT, "last");
}

static void a_nul_within_text_is_refused(void **state)
{
    assert_refused(check(ECHO, "\x0a\x03"
                               "a\x00z"),
                   INVALID_ARGUMENT, "text");
    assert_non_null(strstr(st.text, "NUL at byte 1"));
}

static void only_the_last_text_is_kept_but_all_are_checked(void **state)
{
    assert_refused(check(ECHO, "\x0a\x01\xff\x0a\x01z"), INVALID_ARGUMENT, "text");
    assert_refused(check(EVERYTHING, "\xc2\x3e\x01\xff\xd0\x3e\x05"), INVALID_ARGUMENT, "chosen_text");
}

static void bytes_may_be_anything(void **state)
{
    assert_true(check(&renga__test__v1__blob__descriptor, "\x0a\x03\xff\x00\x80"));
}

static void a_field_with_another_wire_type_is_refused(void **state)
{
    assert_refused(check(ECHO, "\x08\x01"), INVALID_ARGUMENT, "text");
    assert_refused(check(EVERYTHING, "\x1a\x01\x01"), INVALID_ARGUMENT, "an_int32"); /* packed, but not repeated */
    assert_refused(check(EVERYTHING, "\x8d\x01\x01\x02\x03\x04"), INVALID_ARGUMENT, "a_tree");
    assert_refused(check(EVERYTHING, "\xa8\x02\x01"), INVALID_ARGUMENT, "trees[0]");
    assert_non_null(strstr(st.text, "is a varint on the wire and has to be length-delimited"));
}

static void repeated_numbers_may_be_packed_or_not(void **state)
{
    assert_true(check(EVERYTHING, "\xba\x01\x02\x01\x02\xb8\x01\x03")); /* int32s */
    assert_true(check(EVERYTHING, "\xb2\x02\x02\x01\x02\xb0\x02\x03")); /* loose */
    assert_refused(check(EVERYTHING, "\xba\x01\x02\x01\x82"), INVALID_ARGUMENT, "int32s[0]");
    assert_refused(check(EVERYTHING, "\xb2\x01\x05"
                                     "12345"),
                   INVALID_ARGUMENT, "floats[0]");
    assert_refused(check(EVERYTHING, "\xba\x01\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), INVALID_ARGUMENT,
                   "int32s[0]");
}

static void a_malformed_submessage_is_named(void **state)
{
    assert_refused(check(EVERYTHING, "\x8a\x01\x02\x0a\x05"), INVALID_ARGUMENT, "a_tree");
    assert_non_null(strstr(st.text, "renga.test.v1.Tree"));
}

static void nesting_ends_at_the_limit(void **state)
{
    size_t size;
    uint8_t *deep = nested_trees(RPC_WIRE_DEPTH_MAX, 3, &size);
    assert_true(check_bytes(TREE, deep, size));
    free(deep);
    deep = nested_trees(RPC_WIRE_DEPTH_MAX + 1, 3, &size);
    assert_false(check_bytes(TREE, deep, size));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    assert_non_null(strstr(st.text, "nested deeper than 32"));
    free(deep);
}

static void nesting_of_154_kilobytes_is_refused(void **state)
{
    size_t size;
    uint8_t *deep = nested_trees(42000, 2, &size);
    assert_true(size >= 154000);
    assert_false(check_bytes(TREE, deep, size));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    assert_memory_equal(st.field, "children[0].children[0].", 24);
    assert_true(strlen(st.field) < STATUS_FIELD_MAX);
    assert_int_equal(st.field[strlen(st.field) - 1], ']'); /* whole names only */
    free(deep);
}

static void a_megabyte_of_empty_submessages_is_refused(void **state)
{
    size_t size = 1u << 20;
    char *bomb = malloc(size);
    for (size_t i = 0; i < size; i += 2)
        memcpy(bomb + i, "\x12\x00", 2);
    assert_false(check_bytes(TREE, bomb, size));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    assert_true(check_bytes(TREE, bomb, 2 * RPC_WIRE_FIELDS_MAX));
    assert_false(check_bytes(TREE, bomb, 2 * RPC_WIRE_FIELDS_MAX + 2));
    free(bomb);
}

static void packed_elements_are_bounded(void **state)
{
    size_t count = RPC_WIRE_ELEMENTS_MAX + 1;
    struct rpc_wire_writer writer = {.size = count + 16};
    writer.buffer = calloc(1, writer.size);
    writer.used = count;
    rpc_wire_put_header(&writer, 33, count);
    assert_refused(check_bytes(EVERYTHING, rpc_wire_written(&writer), writer.used), RESOURCE_EXHAUSTED, "bools[0]");
    writer.used = count - 1;
    rpc_wire_put_header(&writer, 33, count - 1);
    assert_true(check_bytes(EVERYTHING, rpc_wire_written(&writer), writer.used));
    free(writer.buffer);
}

static void what_passes_is_what_protobuf_c_unpacks(void **state)
{
    uint64_t random = 1;
    unsigned passed = 0;
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[24];
        size_t size = 0;
        while (size < sizeof bytes) { /* xorshift, biased towards small bytes, which make tags and lengths */
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[size++] = random & 0x300 ? (uint8_t)(random >> 32) & 0x1f : (uint8_t)(random >> 40);
        }
        size = random % sizeof bytes;
        if (!check_bytes(TREE, bytes, size))
            continue;
        Renga__Test__V1__Tree *tree = renga__test__v1__tree__unpack(NULL, size, bytes);
        assert_non_null(tree);
        renga__test__v1__tree__free_unpacked(tree, NULL);
        passed++;
    }
    assert_true(passed > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_goes_from_field_to_field),
        cmocka_unit_test(a_reader_stops_at_what_is_malformed),
        cmocka_unit_test(what_is_written_backwards_is_read_forwards),
        cmocka_unit_test(a_writer_without_a_buffer_measures_and_a_small_one_is_full),
        cmocka_unit_test(a_message_with_every_type_passes),
        cmocka_unit_test(an_empty_message_passes),
        cmocka_unit_test(text_that_is_not_utf8_is_refused_by_its_path),
        cmocka_unit_test(a_nul_within_text_is_refused),
        cmocka_unit_test(only_the_last_text_is_kept_but_all_are_checked),
        cmocka_unit_test(bytes_may_be_anything),
        cmocka_unit_test(a_field_with_another_wire_type_is_refused),
        cmocka_unit_test(repeated_numbers_may_be_packed_or_not),
        cmocka_unit_test(a_malformed_submessage_is_named),
        cmocka_unit_test(nesting_ends_at_the_limit),
        cmocka_unit_test(nesting_of_154_kilobytes_is_refused),
        cmocka_unit_test(a_megabyte_of_empty_submessages_is_refused),
        cmocka_unit_test(packed_elements_are_bounded),
        cmocka_unit_test(what_passes_is_what_protobuf_c_unpacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
