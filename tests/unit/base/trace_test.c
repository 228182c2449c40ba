#include "base/trace.h"

#include "unit.h"

#include <stdio.h>

#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static void a_traceparent_is_continued_below_its_span(void **state)
{
    struct trace_context trace;
    char text[TRACEPARENT_LENGTH + 1], hex[33];
    assert_true(trace_continue(&trace, TRACEPARENT, strlen(TRACEPARENT)));
    assert_true(trace.sampled);
    trace_hex(trace.trace_id, 16, hex);
    assert_string_equal(hex, "0af7651916cd43dd8448eb211c80319c");
    trace_hex(trace.parent_id, 8, hex);
    assert_string_equal(hex, "b7ad6b7169203331");
    assert_memory_not_equal(trace.span_id, trace.parent_id, 8);

    trace_format(&trace, text);
    assert_int_equal(strlen(text), TRACEPARENT_LENGTH);
    assert_memory_equal(text, TRACEPARENT, 36);
    struct trace_context next;
    assert_true(trace_continue(&next, text, strlen(text)));
    assert_memory_equal(next.parent_id, trace.span_id, 8);
}

static void what_is_not_a_traceparent_is_refused_and_changes_nothing(void **state)
{
    static const char *const wrong[] = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
    };
    struct trace_context trace, before;
    trace_begin(&trace, true);
    before = trace;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (trace_continue(&trace, wrong[i], strlen(wrong[i])))
            fail_msg("accepted '%s'", wrong[i]);
        assert_memory_equal(trace.trace_id, before.trace_id, 16);
        assert_memory_equal(trace.span_id, before.span_id, 8);
    }
}

static void a_higher_version_is_read_as_the_first(void **state)
{
    static const char later[] = "42-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-what-comes";
    struct trace_context trace;
    assert_true(trace_continue(&trace, later, strlen(later)));
    assert_false(trace.sampled);
    assert_true(trace_continue(&trace, later, TRACEPARENT_LENGTH));
}

static void a_child_stays_in_the_trace(void **state)
{
    struct trace_context root, child;
    trace_begin(&root, false);
    for (int i = 0; i < 8; i++)
        assert_int_equal(root.parent_id[i], 0);
    trace_child(&child, &root);
    assert_memory_equal(child.trace_id, root.trace_id, 16);
    assert_memory_equal(child.parent_id, root.span_id, 8);
    assert_memory_not_equal(child.span_id, root.span_id, 8);
    struct trace_context grandchild = child;
    trace_child(&grandchild, &grandchild);
    assert_memory_equal(grandchild.parent_id, child.span_id, 8);
}

static void a_member_of_a_tracestate_names_our_last_span(void **state)
{
    static const char *const good[] = {
        "renga=b7ad6b7169203331",
        "rojo=1 ,\t renga=b7ad6b7169203331\t, congo=t61",
        "renga=short,renga=b7ad6b7169203331",
        ",,renga=b7ad6b7169203331",
    };
    static const char *const wrong[] = {
        "",
        "renga=",
        "renga=0000000000000000",
        "renga=B7AD6B7169203331",
        "renga=b7ad6b71692033311",
        "xrenga=b7ad6b7169203331",
        "renga =b7ad6b7169203331",
        "renga=b7ad6b716920333g",
    };
    struct trace_context trace;
    uint8_t span_id[8], before[8];
    char written[TRACESTATE_LENGTH + 1];
    trace_begin(&trace, true);
    trace_state_format(&trace, written);
    assert_int_equal(strlen(written), TRACESTATE_LENGTH);
    assert_true(trace_state_read(written, strlen(written), span_id));
    assert_memory_equal(span_id, trace.span_id, 8);
    for (size_t i = 0; i < COUNT(good); i++) {
        if (!trace_state_read(good[i], strlen(good[i]), span_id))
            fail_msg("refused '%s'", good[i]);
        assert_memory_equal(span_id, "\xb7\xad\x6b\x71\x69\x20\x33\x31", 8);
    }
    memcpy(before, span_id, 8);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (trace_state_read(wrong[i], strlen(wrong[i]), span_id))
            fail_msg("accepted '%s'", wrong[i]);
        assert_memory_equal(span_id, before, 8);
    }
    char far[1024];
    snprintf(far, sizeof far, "%600s,renga=b7ad6b7169203331", "x=1");
    assert_false(trace_state_read(far, strlen(far), span_id)); /* behind the bytes that every system hands on */
}

static void a_link_is_of_the_root_alone(void **state)
{
    struct trace_context caller, root, child;
    static const uint8_t zero[16];
    assert_true(trace_continue(&caller, TRACEPARENT, strlen(TRACEPARENT)));
    trace_begin_linked(&root, &caller, true);
    assert_memory_not_equal(root.trace_id, caller.trace_id, 16);
    assert_memory_equal(root.parent_id, zero, 8);
    assert_memory_equal(root.link_trace_id, caller.trace_id, 16);
    assert_memory_equal(root.link_span_id, caller.parent_id, 8);
    trace_child(&child, &root);
    assert_memory_equal(child.link_trace_id, zero, 16);
    assert_memory_equal(child.link_span_id, zero, 8);
    assert_true(trace_is_set(&root));
    assert_false(trace_is_set(&(struct trace_context){.sampled = true}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_continued_below_its_span),
        cmocka_unit_test(what_is_not_a_traceparent_is_refused_and_changes_nothing),
        cmocka_unit_test(a_higher_version_is_read_as_the_first),
        cmocka_unit_test(a_child_stays_in_the_trace),
        cmocka_unit_test(a_member_of_a_tracestate_names_our_last_span),
        cmocka_unit_test(a_link_is_of_the_root_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
