/* What a service and its caller may rely on, whether they share a process or a network: answers, failures, deadlines,
 * metadata, sizes. Every body runs twice, on the in-process twin and over gRPC. */
#include "service_fixture.h"

static void a_call_is_answered(void **state)
{
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    request.text = (char *)(uintptr_t) "連歌";
    run(&ask, start_echo, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_string_equal(ask.text, "連歌");
    assert_null(ask.call.outbound);
}

static void begin_and_scribble(struct work *work)
{
    struct ask *ask = (struct ask *)work;
    char text[] = "mine";
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    request.text = text;
    renga__test__probe__echo(stub, &request, echoed, &ask->call);
    memset(text, 'x', sizeof text - 1);
}

static void a_request_may_be_overwritten_once_the_call_has_begun(void **state)
{
    struct ask ask;
    prepare(&ask, NULL, NULL);
    ask.work.run = begin_and_scribble;
    run_prepared(&ask);
    assert_string_equal(ask.text, "mine");
}

static void a_failure_carries_its_code_text_field_and_hint(void **state)
{
    struct ask ask;
    Renga__Test__FailRequest request = RENGA__TEST__FAIL_REQUEST__INIT;
    request.code = RESOURCE_EXHAUSTED;
    request.text = (char *)(uintptr_t) "満員\t\"quoted\" 100%";
    request.field = (char *)(uintptr_t) "messages[2].role";
    request.retry_after_ms = 1500;
    run(&ask, start_fail, &request);
    assert_int_equal(ask.call.status.code, RESOURCE_EXHAUSTED);
    assert_string_equal(ask.call.status.text, request.text);
    assert_string_equal(ask.call.status.field, request.field);
    assert_int_equal(ask.call.status.retry_after_ms, 1500);
    assert_false(ask.answered);
}

static void a_deadline_ends_the_call_and_its_handler_hears_of_it(void **state)
{
    struct ask ask, noticed;
    Renga__Test__SleepRequest request = RENGA__TEST__SLEEP_REQUEST__INIT;
    request.delay_ms = 60000;
    request.key = fresh_key();
    prepare(&ask, start_sleep, &request);
    ask.call.timeout_ms = 150;
    int64_t began_ns = clock_now_ns();
    run_prepared(&ask);
    int64_t took_ms = (clock_now_ns() - began_ns) / NS_PER_MS;
    assert_int_equal(ask.call.status.code, DEADLINE_EXCEEDED);
    assert_in_range(took_ms, 149, 1000);
    notice(&noticed, request.key);
    assert_true(noticed.cancelled);
    assert_in_range(noticed.after_us, 100000, 400000);
}

static void a_cancelled_call_ends_and_its_handler_hears_of_it_at_once(void **state)
{
    struct ask ask, noticed;
    Renga__Test__SleepRequest request = RENGA__TEST__SLEEP_REQUEST__INIT;
    request.delay_ms = 60000;
    request.key = fresh_key();
    prepare(&ask, start_sleep, &request);
    loop_post(loops[0], &ask.work);
    cancel_soon(&ask, 50);
    wait_for(&ask);
    assert_int_equal(ask.call.status.code, CANCELLED);
    notice(&noticed, request.key);
    assert_true(noticed.cancelled);
    assert_true(noticed.after_us < 5000000); /* 50 ms of which it was left alone, of 60 s that it would have taken */
}

static void deadline_and_cancellation_travel_to_the_next_service(void **state)
{
    struct ask ask, noticed;
    Renga__Test__SleepRequest request = RENGA__TEST__SLEEP_REQUEST__INIT;
    request.delay_ms = 60000;
    request.key = fresh_key();
    prepare(&ask, start_forward, &request);
    ask.call.timeout_ms = 200;
    run_prepared(&ask);
    assert_int_equal(ask.call.status.code, DEADLINE_EXCEEDED);
    notice(&noticed, request.key);
    assert_true(noticed.cancelled);
    assert_true(noticed.after_us < 500000);

    request.key = fresh_key();
    prepare(&ask, start_forward, &request);
    loop_post(loops[0], &ask.work);
    cancel_soon(&ask, 50);
    wait_for(&ask);
    assert_int_equal(ask.call.status.code, CANCELLED);
    notice(&noticed, request.key);
    assert_true(noticed.cancelled);
    assert_true(noticed.after_us < 250000);
}

static void an_answer_comes_back_through_the_service_in_between(void **state)
{
    struct ask ask;
    Renga__Test__SleepRequest request = RENGA__TEST__SLEEP_REQUEST__INIT;
    request.delay_ms = 5;
    request.key = fresh_key();
    run(&ask, start_forward, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_true(ask.answered);
}

static void metadata_goes_both_ways(void **state)
{
    static const uint8_t bytes[] = {0, 255, 1, 254};
    const struct rpc_metadata metadata[] = {
        {.key = "probe-initial", .value = "there and back", .size = 14},
        {.key = "probe-trailing-bin", .value = bytes, .size = sizeof bytes},
    };
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    prepare(&ask, start_echo, &request);
    ask.call.metadata = metadata;
    ask.call.metadata_count = 2;
    run_prepared(&ask);
    assert_int_equal(ask.call.status.code, OK);
    assert_string_equal(ask.initial, "there and back");
    assert_int_equal(ask.trailing_size, sizeof bytes);
    assert_memory_equal(ask.trailing, bytes, sizeof bytes);
}

static void metadata_that_cannot_be_sent_fails_the_call_and_names_its_key(void **state)
{
    const struct rpc_metadata metadata[] = {{.key = "probe-initial", .value = "line\nbreak", .size = 10}};
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    prepare(&ask, start_echo, &request);
    ask.call.metadata = metadata;
    ask.call.metadata_count = 1;
    run_prepared(&ask);
    assert_int_equal(ask.call.status.code, INVALID_ARGUMENT);
    assert_non_null(strstr(ask.call.status.text, "probe-initial"));
}

static void a_trace_is_continued_by_the_handler(void **state)
{
    struct trace_context trace;
    char ours[TRACEPARENT_LENGTH + 1];
    trace_begin(&trace, true);
    trace_format(&trace, ours);
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    request.text = (char *)(uintptr_t) "tell me more";
    prepare(&ask, start_echo, &request);
    ask.call.trace = &trace;
    run_prepared(&ask);
    assert_int_equal(strlen(ask.traceparent), TRACEPARENT_LENGTH);
    assert_memory_equal(ask.traceparent, ours, 36);               /* version, trace id */
    assert_string_equal(ask.traceparent + 52, "-01");             /* sampled */
    assert_memory_not_equal(ask.traceparent + 36, ours + 36, 16); /* a span of its own */
}

static void the_handler_knows_the_deadline(void **state)
{
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    prepare(&ask, start_echo, &request);
    ask.call.timeout_ms = 5000;
    run_prepared(&ask);
    assert_in_range(ask.deadline_left_ms, 3000, 5100); /* gRPC rounds up a little */
}

static void four_megabytes_are_taken_and_a_byte_more_is_refused(void **state)
{
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    size_t room = RPC_MESSAGE_DEFAULT_MAX - 5; /* tag and length */
    request.payload = (ProtobufCBinaryData){.len = room, .data = calloc(1, room + 1)};
    assert_int_equal(renga__test__echo_request__get_packed_size(&request), RPC_MESSAGE_DEFAULT_MAX);
    run(&ask, start_echo, &request);
    /* the answer says more than the request and so is the one that does not fit */
    assert_int_equal(ask.call.status.code, RESOURCE_EXHAUSTED);
    request.payload.len = room - 100;
    run(&ask, start_echo, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_int_equal(ask.payload_size, room - 100);
    request.payload.len = room + 1;
    run(&ask, start_echo, &request);
    assert_int_equal(ask.call.status.code, RESOURCE_EXHAUSTED);
    free(request.payload.data);
}

static void text_that_is_not_utf8_is_refused_with_its_field(void **state)
{
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    Renga__Test__Part2 inner = RENGA__TEST__PART2__INIT;
    Renga__Test__Part part = RENGA__TEST__PART__INIT;
    Renga__Test__Part2 *inners[] = {&inner, &inner};
    Renga__Test__Part *parts[] = {&part};
    inner.name = (char *)(uintptr_t) "\xed\xa0\x80";
    part.parts = inners;
    part.n_parts = 2;
    request.parts = parts;
    request.n_parts = 1;
    run(&ask, start_echo, &request);
    assert_int_equal(ask.call.status.code, INVALID_ARGUMENT);
    assert_string_equal(ask.call.status.field, "parts[0].parts[0].name");
}

static void a_reply_to_nobody_does_no_harm(void **state)
{
    struct ask stuck, released;
    Renga__Test__NoticedRequest request = RENGA__TEST__NOTICED_REQUEST__INIT;
    request.key = fresh_key();
    prepare(&stuck, start_stick, &request);
    loop_post(loops[0], &stuck.work);
    cancel_soon(&stuck, 30);
    wait_for(&stuck);
    assert_int_equal(stuck.call.status.code, CANCELLED);
    assert_int_equal(rpc_local_calls_alive(), server ? 0 : 1); /* its handler uses the service still */
    for (int i = 0; i < 20; i++)                               /* over gRPC each may arrive in either loop */
        run(&released, start_release, &request);
    assert_int_equal(released.call.status.code, OK);
    for (int i = 0; i < 1000 && rpc_local_calls_alive(); i++)
        usleep(5000);
    assert_int_equal(rpc_local_calls_alive(), 0);
}

#define MANY 1000

static void a_thousand_calls_at_once_are_all_answered(void **state)
{
    struct ask *asks = calloc(MANY, sizeof *asks);
    Renga__Test__SleepRequest request = RENGA__TEST__SLEEP_REQUEST__INIT;
    request.delay_ms = 20;
    for (int i = 0; i < MANY; i++)
        prepare(&asks[i], start_sleep, &request);
    for (int i = 0; i < MANY; i++)
        loop_post(loops[0], &asks[i].work);
    for (int i = 0; i < MANY; i++) {
        wait_for(&asks[i]);
        assert_int_equal(asks[i].call.status.code, OK);
    }
    free(asks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_answered),
        cmocka_unit_test(a_request_may_be_overwritten_once_the_call_has_begun),
        cmocka_unit_test(a_failure_carries_its_code_text_field_and_hint),
        cmocka_unit_test(a_deadline_ends_the_call_and_its_handler_hears_of_it),
        cmocka_unit_test(a_cancelled_call_ends_and_its_handler_hears_of_it_at_once),
        cmocka_unit_test(deadline_and_cancellation_travel_to_the_next_service),
        cmocka_unit_test(an_answer_comes_back_through_the_service_in_between),
        cmocka_unit_test(metadata_goes_both_ways),
        cmocka_unit_test(metadata_that_cannot_be_sent_fails_the_call_and_names_its_key),
        cmocka_unit_test(a_trace_is_continued_by_the_handler),
        cmocka_unit_test(the_handler_knows_the_deadline),
        cmocka_unit_test(four_megabytes_are_taken_and_a_byte_more_is_refused),
        cmocka_unit_test(text_that_is_not_utf8_is_refused_with_its_field),
        cmocka_unit_test(a_reply_to_nobody_does_no_harm),
        cmocka_unit_test(a_thousand_calls_at_once_are_all_answered),
        cmocka_unit_test(no_answer_holds_memory_afterwards),
    };
    return RUN_BOTH_WAYS(tests);
}
