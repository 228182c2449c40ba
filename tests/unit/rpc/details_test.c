/* google.rpc.Status and struct status; the bytes are those that protobuf's own Python makes of the same message. */
#include "rpc/details.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#undef fail /* ours is meant */

static struct arena arena;

static int arena_make(void **state)
{
    arena_init(&arena, NULL, 0, 1u << 16);
    return 0;
}

static int arena_free(void **state)
{
    arena_fini(&arena);
    return 0;
}

static void a_field_becomes_a_bad_request(void **state)
{
    static const char expected[] = "\x08\x03\x12\x12question: is empty\x1a\x43"
                                   "\x0a\x29type.googleapis.com/google.rpc.BadRequest"
                                   "\x12\x16\x0a\x14\x0a\x08question\x12\x08is empty";
    struct status st;
    const void *bytes;
    fail_field(&st, "question", "is empty");
    size_t size = rpc_details_encode(&st, NULL, &arena, &bytes);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
}

static void a_retry_hint_becomes_retry_info(void **state)
{
    static const char expected[] = "\x08\x08\x12\x04slow\x1a\x35\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
                                   "\x12\x09\x0a\x07\x08\x02\x10\x80\xe5\x9a\x77"; /* 2 s, 250,000,000 ns */
    struct status st;
    const void *bytes;
    fail(&st, RESOURCE_EXHAUSTED, "slow");
    st.retry_after_ms = 2250;
    size_t size = rpc_details_encode(&st, NULL, &arena, &bytes);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
}

static void what_a_handler_adds_stands_before_what_the_status_says(void **state)
{
    static const char expected[] =
        "\x08\x08\x12\x04slow\x1a\x08\x0a\x03x/A\x12\x01\x01\x1a\x09\x0a\x03x/B\x12\x02\x02\x03"
        "\x1a\x32\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
        "\x12\x06\x0a\x04\x10\x80\x89\x7a"; /* 2 ms */
    const struct rpc_detail first = {.type_url = "x/A", .bytes = "\x01", .size = 1};
    const struct rpc_detail second = {.next = &first, .type_url = "x/B", .bytes = "\x02\x03", .size = 2};
    struct status st;
    const void *bytes;
    fail(&st, RESOURCE_EXHAUSTED, "slow");
    st.retry_after_ms = 2;
    size_t size = rpc_details_encode(&st, &second, &arena, &bytes);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
}

static void what_code_and_text_say_needs_no_details(void **state)
{
    struct status st = {.code = OK, .field = "left over"};
    const void *bytes;
    assert_int_equal(rpc_details_encode(&st, NULL, &arena, &bytes), 0);
    fail(&st, NOT_FOUND, "no agent 'x'");
    assert_int_equal(rpc_details_encode(&st, NULL, &arena, &bytes), 0);
}

static void what_is_encoded_is_decoded(void **state)
{
    struct status st, back = {0};
    const void *bytes;
    char text[STATUS_TEXT_MAX];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    fail_field(&st, "messages[2].role", "%s", text);
    for (int32_t ms = 1; ms > 0 && ms < INT32_MAX / 7; ms = ms * 7 + 1) {
        st.retry_after_ms = ms;
        size_t size = rpc_details_encode(&st, NULL, &arena, &bytes);
        assert_in_range(size, 1, RPC_DETAILS_MAX);
        status_clear(&back);
        rpc_details_decode(bytes, size, &back);
        assert_int_equal(back.retry_after_ms, ms);
        assert_string_equal(back.field, "messages[2].role");
        assert_string_equal(back.text, st.text);
        arena_reset(&arena);
    }
}

static void a_text_that_is_there_stays(void **state)
{
    struct status st = {0};
    fail(&st, ABORTED, "as the peer said");
    rpc_details_decode("\x08\x03\x12\x02no", 6, &st);
    assert_string_equal(st.text, "as the peer said");
    assert_int_equal(st.code, ABORTED);
}

static void strange_details_are_passed_over(void **state)
{
    struct status st = {0};
    rpc_details_decode("\x1a\x7f", 2, &st);
    rpc_details_decode("\x12\x02\xff\xff", 4, &st);
    rpc_details_decode("\x1a\x03\x0a\x01x", 5, &st);
    /* a delay of minus one second, and one of 10^18 seconds */
    static const char negative[] = "\x1a\x39\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
                                   "\x12\x0d\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    rpc_details_decode(negative, sizeof negative - 1, &st);
    assert_true(st.retry_after_ms >= 0);
    assert_string_equal(st.text, "");
    assert_string_equal(st.field, "");
    assert_int_equal(st.code, OK);
}

static void a_field_name_that_is_too_long_is_cut_at_a_character(void **state)
{
    char details[400];
    size_t name = 150, at = 0;
    static const char url[] = "type.googleapis.com/google.rpc.BadRequest";
    /* Any(2 + 41 + 3 + violation(3 + field(3 + 150))) */
    size_t violation = 3 + name, request = 3 + violation, any = 2 + sizeof url - 1 + 3 + request;
#define PUT(tag, size)                                                                                                 \
    (details[at++] = (tag), details[at++] = (char)((size) | 0x80), details[at++] = (char)((size) >> 7))
    PUT(0x1a, any);
    details[at++] = 0x0a;
    details[at++] = (char)(sizeof url - 1);
    memcpy(details + at, url, sizeof url - 1);
    at += sizeof url - 1;
    PUT(0x12, request);
    PUT(0x0a, violation);
    PUT(0x0a, name);
    for (size_t i = 0; i < name / 3; i++, at += 3)
        memcpy(details + at, "連", 3);
    struct status st = {0};
    rpc_details_decode(details, at, &st);
    assert_int_equal(strlen(st.field), STATUS_FIELD_MAX / 3 * 3 - 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_becomes_a_bad_request),
        cmocka_unit_test(a_retry_hint_becomes_retry_info),
        cmocka_unit_test(what_a_handler_adds_stands_before_what_the_status_says),
        cmocka_unit_test(what_code_and_text_say_needs_no_details),
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(a_text_that_is_there_stays),
        cmocka_unit_test(strange_details_are_passed_over),
        cmocka_unit_test(a_field_name_that_is_too_long_is_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, arena_make, arena_free);
}
