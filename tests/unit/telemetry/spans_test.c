#include "telemetry/redact.h"
#include "telemetry/spans.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void make(struct spans *spans, const char *name)
{
    struct trace_context trace;
    trace_begin(&trace, true);
    struct span *span = span_start(spans, &trace, name, SPAN_INTERNAL);
    span_end(&span);
    assert_null(span);
}

static unsigned drain(struct spans *spans, unsigned max)
{
    unsigned count;
    for (struct span *span = spans_take(spans, max, &count); span;) {
        struct span *next = span->next;
        span_destroy(span);
        span = next;
    }
    return count;
}

static void what_is_not_sampled_is_not_recorded(void **state)
{
    struct spans *spans = spans_create(0);
    struct trace_context trace;
    trace_begin(&trace, false);
    struct span *span = span_start(spans, &trace, "x", SPAN_INTERNAL);
    assert_null(span);
    span_string(span, "a", "b");
    span_event(span, "e");
    span_event_end(span);
    span_error(span, "t");
    span_end(&span);
    assert_null(span_start(NULL, &trace, "x", SPAN_INTERNAL));
    assert_null(span_start(spans, NULL, "x", SPAN_INTERNAL));
    assert_int_equal(spans_recorded(spans), 0);
    spans_destroy(&spans);
}

static void spans_come_out_in_the_order_of_their_end(void **state)
{
    struct spans *spans = spans_create(0);
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        make(spans, name);
    }
    unsigned count;
    struct span *span = spans_take(spans, 4, &count);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(atoi(span->name), i);
        struct span *next = span->next;
        span_destroy(span);
        span = next;
    }
    assert_null(span);
    make(spans, "10");
    assert_int_equal(spans_queued(spans), 7);
    span = spans_take(spans, 100, &count);
    assert_int_equal(count, 7);
    for (int i = 4; span; i++) {
        assert_int_equal(atoi(span->name), i);
        struct span *next = span->next;
        span_destroy(span);
        span = next;
    }
    assert_int_equal(drain(spans, 10), 0);
    spans_destroy(&spans);
}

static void a_full_queue_drops_and_counts(void **state)
{
    struct spans *spans = spans_create(16);
    for (int i = 0; i < 100; i++)
        make(spans, "x");
    assert_int_equal(spans_queued(spans), 16);
    assert_int_equal(spans_recorded(spans), 100);
    assert_int_equal(spans_dropped(spans), 84);
    assert_int_equal(drain(spans, 100), 16);
    make(spans, "x");
    assert_int_equal(spans_queued(spans), 1);
    spans_destroy(&spans);
}

static int notices;

static void noticed(void *data)
{
    notices++;
}

static void a_gathered_batch_is_told_once(void **state)
{
    struct spans *spans = spans_create(100);
    spans_notify(spans, 5, noticed, NULL);
    for (int i = 0; i < 20; i++)
        make(spans, "x");
    assert_int_equal(notices, 1);
    drain(spans, 100);
    for (int i = 0; i < 4; i++)
        make(spans, "x");
    assert_int_equal(notices, 1);
    make(spans, "x");
    assert_int_equal(notices, 2);
    spans_destroy(&spans);
}

static void attributes_of_every_type_are_otlp_json(void **state)
{
    struct spans *spans = spans_create(0);
    struct trace_context trace;
    trace_begin(&trace, true);
    struct span *span = span_start(spans, &trace, "x", SPAN_INTERNAL);
    span_string(span, "s", "a\"b\n");
    span_int(span, "i", INT64_C(-9007199254740993));
    span_double(span, "d", 0.5);
    span_double(span, "nan", 0.0 / 0.0);
    span_bool(span, "b", true);
    span_strings(span, "l", (const char *[]){"one", "two"}, 2);
    span_strings(span, "e", NULL, 0);
    assert_string_equal(
        buffer_text(&span->attributes),
        "{\"key\":\"s\",\"value\":{\"stringValue\":\"a\\\"b\\n\"}},"
        "{\"key\":\"i\",\"value\":{\"intValue\":\"-9007199254740993\"}},"
        "{\"key\":\"d\",\"value\":{\"doubleValue\":0.5}},"
        "{\"key\":\"b\",\"value\":{\"boolValue\":true}},"
        "{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":\"one\"},{\"stringValue\":\"two\"}]}}},"
        "{\"key\":\"e\",\"value\":{\"arrayValue\":{\"values\":[]}}}");
    span_end(&span);
    spans_destroy(&spans);
}

static void events_have_attributes_of_their_own(void **state)
{
    struct spans *spans = spans_create(0);
    struct trace_context trace;
    trace_begin(&trace, true);
    struct span *span = span_start(spans, &trace, "x", SPAN_INTERNAL);
    span_event(span, "first");
    span_event(span, "second");
    span_string(span, "a", "1");
    span_string(span, "b", "2");
    span_event_end(span);
    span_string(span, "mine", "3");
    const char *events = buffer_text(&span->events);
    assert_int_equal(strncmp(events, "{\"name\":\"first\",\"timeUnixNano\":\"", 32), 0);
    assert_non_null(strstr(events, "\"attributes\":[]},{\"name\":\"second\""));
    assert_non_null(strstr(events, "\"attributes\":[{\"key\":\"a\",\"value\":{\"stringValue\":\"1\"}},"
                                   "{\"key\":\"b\",\"value\":{\"stringValue\":\"2\"}}]}"));
    assert_string_equal(buffer_text(&span->attributes), "{\"key\":\"mine\",\"value\":{\"stringValue\":\"3\"}}");
    span_end(&span);
    spans_destroy(&spans);
}

static void what_does_not_fit_is_left_out_whole(void **state)
{
    struct spans *spans = spans_create(0);
    struct trace_context trace;
    static char large[SPAN_BYTES_MAX];
    memset(large, '\x01', sizeof large - 1);
    trace_begin(&trace, true);
    struct span *span = span_start(spans, &trace, "x", SPAN_INTERNAL);
    span_string(span, "too large", large);
    assert_int_equal(span->attributes.length, 0);
    large[SPAN_BYTES_MAX - 1000] = '\0';
    span_string(span, "large", large);
    assert_true(span->attributes.length > 6 * (SPAN_BYTES_MAX - 1000));
    span_string(span, "small", "still fits");
    assert_non_null(strstr(buffer_text(&span->attributes), "still fits"));
    assert_false(span->attributes.failed);
    span_end(&span);
    spans_destroy(&spans);
}

static void a_long_name_is_cut_at_a_character(void **state)
{
    struct spans *spans = spans_create(0);
    struct trace_context trace;
    trace_begin(&trace, true);
    char name[400] = "x";
    for (int i = 0; i < 100; i++)
        strcat(name, "連");
    struct span *span = span_start(spans, &trace, name, SPAN_INTERNAL);
    assert_int_equal(strlen(span->name), 127);
    span_end(&span);
    spans_destroy(&spans);
}

static void large_spans_fill_the_queue_by_their_bytes(void **state)
{
    struct spans *spans = spans_create(100000);
    static char large[SPAN_BYTES_MAX - 1000];
    memset(large, 'x', sizeof large - 1);
    unsigned made = 0, count;
    while (!spans_dropped(spans) && made < 10000) {
        struct trace_context trace;
        trace_begin(&trace, true);
        struct span *span = span_start(spans, &trace, "x", SPAN_INTERNAL);
        span_string(span, "large", large);
        span_end(&span);
        made++;
    }
    assert_in_range(spans_queued_bytes(spans), SPANS_QUEUE_BYTES_MAX / 2, SPANS_QUEUE_BYTES_MAX);
    assert_int_equal(spans_queued(spans), made - 1);
    struct span *taken = spans_take(spans, UINT32_MAX, &count); /* a batch is bounded likewise */
    assert_in_range(count, 2, SPANS_TAKE_BYTES_MAX / sizeof large);
    while (taken) {
        struct span *next = taken->next;
        span_destroy(taken);
        taken = next;
    }
    while (drain(spans, 100000))
        ;
    assert_int_equal(spans_queued_bytes(spans), 0);
    assert_int_equal(spans_queued(spans), 0);
    spans_destroy(&spans);
}

static void the_share_of_samples_hangs_on_the_trace_alone(void **state)
{
    struct spans *one = spans_create(0), *other = spans_create(0);
    spans_configure(one, SPANS_ROOTS_RUNS, 250000);
    spans_configure(other, SPANS_ROOTS_CALLS, 250000);
    unsigned sampled = 0;
    for (int i = 0; i < 10000; i++) {
        struct trace_context trace;
        trace_begin(&trace, true);
        sampled += spans_sample(one, trace.trace_id);
        assert_int_equal(spans_sample(one, trace.trace_id), spans_sample(other, trace.trace_id));
    }
    assert_in_range(sampled, 2200, 2800);
    assert_false(spans_sample(NULL, (const uint8_t[16]){1}));
    spans_destroy(&one);
    spans_destroy(&other);
}

static void words_that_look_like_keys_are_hidden(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"the key sk-0123456789abcdef.", "the key sk-*****************"},
        {"{\"a\":\"lsv2_pt_0123456789ab\"}", "{\"a\":\"lsv2_***************\"}"},
        {"Authorization: Bearer 0123456789abcdef", "Authorization: Bearer 0***************"},
        {"Bearer of good news, and risk-averse-people-everywhere",
         "Bearer of good news, and risk-averse-people-everywhere"},
        {"sk-short", "sk-short"},
        {"鍵はtvly-0123456789abcdefです", "鍵はtvly-****************です"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        strcpy(text, cases[i].text);
        redact_keys(text, strlen(text));
        assert_string_equal(text, cases[i].shown);
    }
}

static void *produce(void *data)
{
    for (int i = 0; i < 5000; i++)
        make(data, "x");
    return NULL;
}

static void many_threads_end_spans_while_one_takes_them(void **state)
{
    struct spans *spans = spans_create(1000);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, produce, spans);
    uint64_t taken = 0;
    while (spans_recorded(spans) < 20000)
        taken += drain(spans, 512);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (unsigned count; (count = drain(spans, 512));)
        taken += count;
    assert_int_equal(taken + spans_dropped(spans), 20000);
    assert_int_equal(spans_queued(spans), 0);
    spans_destroy(&spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_sampled_is_not_recorded),
        cmocka_unit_test(spans_come_out_in_the_order_of_their_end),
        cmocka_unit_test(a_full_queue_drops_and_counts),
        cmocka_unit_test(a_gathered_batch_is_told_once),
        cmocka_unit_test(attributes_of_every_type_are_otlp_json),
        cmocka_unit_test(large_spans_fill_the_queue_by_their_bytes),
        cmocka_unit_test(the_share_of_samples_hangs_on_the_trace_alone),
        cmocka_unit_test(words_that_look_like_keys_are_hidden),
        cmocka_unit_test(events_have_attributes_of_their_own),
        cmocka_unit_test(what_does_not_fit_is_left_out_whole),
        cmocka_unit_test(a_long_name_is_cut_at_a_character),
        cmocka_unit_test(many_threads_end_spans_while_one_takes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
