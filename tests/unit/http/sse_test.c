#include "http/sse.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define EVENTS_MAX 16

struct heard {
    char type[EVENTS_MAX][SSE_TYPE_MAX + 1];
    char data[EVENTS_MAX][256];
    char id[EVENTS_MAX][SSE_ID_MAX + 1];
    size_t sizes[EVENTS_MAX];
    size_t count, stop_at;
};

static bool event_received(void *owner, const struct sse_event *event)
{
    struct heard *heard = owner;
    assert_true(heard->count < EVENTS_MAX);
    snprintf(heard->type[heard->count], sizeof heard->type[0], "%s", event->type);
    snprintf(heard->data[heard->count], sizeof heard->data[0], "%s", event->data);
    snprintf(heard->id[heard->count], sizeof heard->id[0], "%s", event->id);
    heard->sizes[heard->count++] = event->size;
    return heard->count != heard->stop_at;
}

/* In pieces of `step` bytes. */
static void hear(struct heard *heard, const char *text, size_t size, size_t step)
{
    struct sse sse;
    struct status st = {0};
    memset(heard, 0, sizeof *heard);
    sse_init(&sse, 1024, event_received, heard);
    for (size_t at = 0; at < size; at += step)
        assert_true(sse_feed(&sse, text + at, size - at < step ? size - at : step, &st));
    sse_fini(&sse);
}

static void hear_text(struct heard *heard, const char *text)
{
    hear(heard, text, strlen(text), SIZE_MAX / 2);
}

static void lines_end_with_lf_cr_or_both(void **state)
{
    static const char *const texts[] = {"data: a\n\ndata: b\n\n", "data: a\r\rdata: b\r\r",
                                        "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\n\r\ndata: b\r\n\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct heard heard;
        hear_text(&heard, texts[i]);
        assert_int_equal(heard.count, 2);
        assert_string_equal(heard.data[0], "a");
        assert_string_equal(heard.data[1], "b");
        assert_string_equal(heard.type[0], "message");
    }
}

static void it_makes_no_difference_where_bytes_are_split(void **state)
{
    static const char text[] = "\xEF\xBB\xBF: hello\r\n\r\nevent: add\r\ndata: 古池\r\ndata:や\r\nid: 7\r\n\r\n"
                               "data\n\nretry: 250\n:\ndata:  two spaces\r\rid\ndata: last\n\n";
    struct heard whole, split;
    hear_text(&whole, text);
    assert_int_equal(whole.count, 4);
    assert_string_equal(whole.type[0], "add");
    assert_string_equal(whole.data[0], "古池\nや");
    assert_string_equal(whole.id[0], "7");
    assert_string_equal(whole.type[1], "message");
    assert_string_equal(whole.data[1], "");
    assert_string_equal(whole.data[2], " two spaces");
    assert_string_equal(whole.id[2], "7");
    assert_string_equal(whole.id[3], "");
    for (size_t step = 1; step < sizeof text; step++) {
        hear(&split, text, sizeof text - 1, step);
        assert_memory_equal(&split, &whole, sizeof whole);
    }
}

static void what_is_unfinished_at_the_end_is_no_event(void **state)
{
    struct heard heard;
    hear_text(&heard, "data: a\n\ndata: b\n");
    assert_int_equal(heard.count, 1);
    hear_text(&heard, "data: a");
    assert_int_equal(heard.count, 0);
}

static void comments_and_unknown_fields_are_passed_over(void **state)
{
    struct heard heard;
    hear_text(&heard, ": ping\n\n:\nfoo: bar\nDATA: loud\nevent: lonely\n\ndata: a\n\n");
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.data[0], "a");
    assert_string_equal(heard.type[0], "message"); /* the type went with the event that had no data */
}

static void a_byte_order_mark_counts_only_at_the_beginning(void **state)
{
    struct heard heard;
    hear_text(&heard, "\xEF\xBB\xBF"
                      "data: a\n\n\xEF\xBB\xBF"
                      "data: b\n\n");
    assert_int_equal(heard.count, 1);
}

static void data_may_hold_any_byte_but_an_end_of_line(void **state)
{
    static const char text[] = "data: a\0b\xFF\n\n";
    struct heard heard;
    hear(&heard, text, sizeof text - 1, 3);
    assert_int_equal(heard.sizes[0], 4);
}

static void an_id_with_nul_is_not_taken(void **state)
{
    static const char text[] = "id: 1\ndata\n\nid: 2\0\ndata\n\n";
    struct heard heard;
    hear(&heard, text, sizeof text - 1, 100);
    assert_string_equal(heard.id[1], "1");
}

static void a_retry_that_is_no_number_is_not_taken(void **state)
{
    struct sse sse;
    struct status st = {0};
    struct heard heard = {0};
    sse_init(&sse, 1024, event_received, &heard);
    assert_true(sse_feed(&sse, "retry: 12x\nretry: -1\nretry:\n", 27, &st));
    assert_int_equal(sse.retry_ms, -1);
    assert_true(sse_feed(&sse, "\nretry: 1200\n", 13, &st));
    assert_int_equal(sse.retry_ms, 1200);
    sse_fini(&sse);
}

static void a_line_and_an_event_have_a_bound(void **state)
{
    static const char *const patterns[] = {"data: xxxxxxxxxxxxxxxxxxxxxxxx", "data: xxxxxxxx\n", "xxxxxxxxxxxxxxx"};
    for (size_t i = 0; i < COUNT(patterns); i++) {
        struct sse sse;
        struct status st = {0};
        struct heard heard = {0};
        bool good = true;
        sse_init(&sse, 1024, event_received, &heard);
        for (int n = 0; n < 1000 && good; n++)
            good = sse_feed(&sse, patterns[i], strlen(patterns[i]), &st);
        assert_false(good);
        assert_int_equal(st.code, RESOURCE_EXHAUSTED);
        assert_contains(st.text, "1024 bytes");
        sse_fini(&sse);
    }
}

static void a_listener_may_end_the_reading(void **state)
{
    struct sse sse;
    struct status st = {0};
    struct heard heard = {.stop_at = 1};
    sse_init(&sse, 1024, event_received, &heard);
    assert_false(sse_feed(&sse, "data: a\n\ndata: b\n\n", 18, &st));
    assert_int_equal(heard.count, 1);
    assert_int_equal(st.code, OK);
    sse_fini(&sse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_lf_cr_or_both),
        cmocka_unit_test(it_makes_no_difference_where_bytes_are_split),
        cmocka_unit_test(what_is_unfinished_at_the_end_is_no_event),
        cmocka_unit_test(comments_and_unknown_fields_are_passed_over),
        cmocka_unit_test(a_byte_order_mark_counts_only_at_the_beginning),
        cmocka_unit_test(data_may_hold_any_byte_but_an_end_of_line),
        cmocka_unit_test(an_id_with_nul_is_not_taken),
        cmocka_unit_test(a_retry_that_is_no_number_is_not_taken),
        cmocka_unit_test(a_line_and_an_event_have_a_bound),
        cmocka_unit_test(a_listener_may_end_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
