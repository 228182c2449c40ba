#include "telemetry/otlp_protobuf.h"

#include "telemetry/otlp_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void an_answer_in_protobuf_tells_what_was_rejected(void **state)
{
    static const uint8_t whole[] = {0x0a, 5, 0x12, 1, 'x', 0x08, 7}, alone[] = {0x0a, 3, 0x08, 0xac, 0x02};
    static const uint8_t wild[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    static const uint8_t number[] = {0x08, 7}, fixed[] = {0x0d, 1, 2, 3, 4};
    assert_int_equal(otlp_protobuf_rejected(whole, sizeof whole), 7);
    assert_int_equal(otlp_protobuf_rejected(alone, sizeof alone), 300);
    for (size_t size = 0; size < sizeof whole; size++) /* one that was cut says nothing */
        assert_int_equal(otlp_protobuf_rejected(whole, size), 0);
    assert_int_equal(otlp_protobuf_rejected(wild, sizeof wild), 0);
    assert_int_equal(otlp_protobuf_rejected(number, sizeof number), 0);
    assert_int_equal(otlp_protobuf_rejected(fixed, sizeof fixed), 0);
}

/* tests/lib/collector.py reads whole batches; here are the parts that it could not tell from others. */
static void ids_are_bytes_and_a_root_has_no_parent(void **state)
{
    struct spans *spans = spans_create(0);
    struct trace_context caller = {.trace_id = {1}, .parent_id = {2}}, trace;
    struct buffer out, resource;
    unsigned count;
    trace_begin_linked(&trace, &caller, true);
    struct span *span = span_start(spans, &trace, "x", SPAN_CLIENT);
    span_strings(span, "list", (const char *const[]){"a", "b"}, 2);
    span_error(span, "it failed");
    span_end(&span);
    span = spans_take(spans, 1, &count);
    buffer_init(&out, 1 << 16);
    buffer_init(&resource, 1 << 16);
    otlp_json_resource(&resource, "service", NULL);
    otlp_protobuf_request(&out, buffer_text(&resource), span);
    assert_false(out.failed);
    assert_non_null(memmem(out.data, out.length, "\x0a\x10", 2));
    assert_non_null(memmem(out.data, out.length, trace.trace_id, 16));
    assert_non_null(memmem(out.data, out.length, "\x12\x08", 2));             /* its id */
    assert_null(memmem(out.data, out.length, "\x22\x08", 2));                 /* no parent */
    assert_non_null(memmem(out.data, out.length, "\x6a\x1c\x0a\x10\x01", 5)); /* the link */
    assert_non_null(memmem(out.data, out.length, "\x7a\x0d\x12\x09it failed\x18\x02", 15));
    span_destroy(span);
    buffer_fini(&out);
    buffer_fini(&resource);
    spans_destroy(&spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_in_protobuf_tells_what_was_rejected),
        cmocka_unit_test(ids_are_bytes_and_a_root_has_no_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
