/* What a service and its caller may rely on, whether they share a process or a network: every body here runs twice, on
 * the in-process twin and over gRPC. */
#include "base/clock.h"
#include "loop/loop.h"
#include "probe.h"
#include "probe.pb-c.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOPS    2
#define WAIT_SEC 20

static struct loop *loops[LOOPS];
static ProtobufCService *probes[LOOPS];
static struct rpc_schema *schema;
static struct rpc_server *server;
static struct rpc_channel *channel;
static ProtobufCService *stub;

/* ---- a call as a test makes it ---------------------------------------------------------------------------------- */

struct ask {
    struct work work, later; /* starts it; cancels or resumes it */
    struct rpc_client_call call;
    void (*start)(struct ask *ask);
    void (*came)(struct ask *ask, const Renga__Test__CountResponse *message);
    const void *request;
    sem_t done;
    bool answered, inside, ran_inside;
    /* what was answered */
    char text[512], traceparent[64], initial[64];
    uint8_t trailing[16];
    size_t trailing_size, payload_size;
    int64_t messages, last_index, deadline_left_ms;
    bool in_order, began, cancelled;
    int64_t after_us;
};

static void ended(struct ask *ask)
{
    ask->ran_inside |= ask->inside;
    sem_post(&ask->done);
}

static void echoed(const Renga__Test__EchoResponse *response, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (response) {
        ask->answered = true;
        snprintf(ask->text, sizeof ask->text, "%s", response->text);
        snprintf(ask->traceparent, sizeof ask->traceparent, "%s", response->traceparent);
        ask->payload_size = response->payload.len;
        ask->deadline_left_ms = response->deadline_left_ms;
        size_t size;
        const void *initial = rpc_client_call_metadata(&ask->call, "probe-initial", &size);
        if (initial)
            memcpy(ask->initial, initial, size);
        const void *trailing = rpc_client_call_metadata(&ask->call, "probe-trailing-bin", &size);
        if (trailing)
            memcpy(ask->trailing, trailing, ask->trailing_size = size);
    }
    ended(ask);
}

static void slept(const Renga__Test__SleepResponse *response, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    ask->answered = response != NULL;
    ended(ask);
}

static void was_noticed(const Renga__Test__NoticedResponse *response, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (response) {
        ask->answered = true;
        ask->began = response->began;
        ask->cancelled = response->cancelled;
        ask->after_us = response->after_us;
    }
    ended(ask);
}

static void counted(const Renga__Test__CountResponse *message, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (!message) {
        ended(ask);
        return;
    }
    ask->ran_inside |= ask->inside;
    ask->in_order &= message->index == ask->messages;
    ask->messages++;
    if (ask->came)
        ask->came(ask, message);
}

static void start_echo(struct ask *ask)
{
    renga__test__probe__echo(stub, ask->request, echoed, &ask->call);
}

static void start_fail(struct ask *ask)
{
    renga__test__probe__fail(stub, ask->request, echoed, &ask->call);
}

static void start_sleep(struct ask *ask)
{
    renga__test__probe__sleep(stub, ask->request, slept, &ask->call);
}

static void start_forward(struct ask *ask)
{
    renga__test__probe__forward(stub, ask->request, slept, &ask->call);
}

static void start_stick(struct ask *ask)
{
    renga__test__probe__stick(stub, ask->request, slept, &ask->call);
}

static void start_release(struct ask *ask)
{
    renga__test__probe__release(stub, ask->request, slept, &ask->call);
}

static void start_noticed(struct ask *ask)
{
    renga__test__probe__noticed(stub, ask->request, was_noticed, &ask->call);
}

static void start_count(struct ask *ask)
{
    renga__test__probe__count(stub, ask->request, counted, &ask->call);
}

static void begin(struct work *work)
{
    struct ask *ask = (struct ask *)work;
    ask->inside = true;
    ask->start(ask);
    ask->inside = false;
}

static void prepare(struct ask *ask, void (*start)(struct ask *ask), const void *request)
{
    memset(ask, 0, sizeof *ask);
    ask->work.run = begin;
    ask->start = start;
    ask->request = request;
    ask->in_order = true;
    rpc_client_call_init(&ask->call, loops[0], NULL);
    ask->call.owner = ask;
    sem_init(&ask->done, 0, 0);
}

static void wait_for(struct ask *ask)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SEC;
    int result;
    while ((result = sem_timedwait(&ask->done, &until)) != 0 && errno == EINTR)
        continue;
    assert_int_equal(result, 0);
    assert_false(ask->ran_inside);
}

static void run_prepared(struct ask *ask)
{
    loop_post(loops[0], &ask->work);
    wait_for(ask);
}

static void run(struct ask *ask, void (*start)(struct ask *ask), const void *request)
{
    prepare(ask, start, request);
    run_prepared(ask);
}

static void cancel(struct work *work)
{
    struct ask *ask = (struct ask *)((char *)work - offsetof(struct ask, later));
    ask->inside = true;
    rpc_client_call_cancel(&ask->call);
    ask->inside = false;
}

static void cancel_soon(struct ask *ask, unsigned after_ms)
{
    usleep(after_ms * 1000);
    ask->later.run = cancel;
    loop_post(loops[0], &ask->later);
}

/* Asks until the handler has noticed its cancellation, or 2 s are over. */
static void notice(struct ask *ask, const char *key)
{
    Renga__Test__NoticedRequest request = RENGA__TEST__NOTICED_REQUEST__INIT;
    request.key = (char *)(uintptr_t)key;
    for (int tries = 0; tries < 200; tries++) {
        run(ask, start_noticed, &request);
        if (ask->cancelled)
            return;
        usleep(10000);
    }
}

/* A key that no other test has used. */
static char *fresh_key(void)
{
    static char key[32];
    static int keys;
    snprintf(key, sizeof key, "key %d", ++keys);
    return key;
}

/* ---- the tests -------------------------------------------------------------------------------------------------- */

static void a_call_is_answered(void **state)
{
    struct ask ask;
    Renga__Test__EchoRequest request = RENGA__TEST__ECHO_REQUEST__INIT;
    request.text = (char *)(uintptr_t) "連歌";
    run(&ask, start_echo, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_string_equal(ask.text, "連歌");
    assert_null(ask.call.exchange);
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

static void a_stream_arrives_whole_and_in_order(void **state)
{
    struct ask ask;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    request.messages = 5000;
    request.bytes = 300;
    run(&ask, start_count, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_int_equal(ask.messages, 5000);
    assert_true(ask.in_order);
}

static void an_empty_stream_ends_at_once(void **state)
{
    struct ask ask;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    run(&ask, start_count, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_int_equal(ask.messages, 0);
}

static void a_stream_that_fails_delivers_what_came_before(void **state)
{
    struct ask ask;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    request.messages = 20;
    request.end_code = DATA_LOSS;
    run(&ask, start_count, &request);
    assert_int_equal(ask.call.status.code, DATA_LOSS);
    assert_int_equal(ask.messages, 20);
}

static void pause_after_ten(struct ask *ask, const Renga__Test__CountResponse *message)
{
    if (ask->messages == 10)
        rpc_client_call_pause(&ask->call);
}

static void a_reader_that_pauses_holds_the_sender_back(void **state)
{
    struct ask ask, noticed;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    request.messages = 4000;
    request.bytes = 64 << 10;
    request.key = fresh_key();
    prepare(&ask, start_count, &request);
    ask.came = pause_after_ten;
    loop_post(loops[0], &ask.work);
    cancel_soon(&ask, 1000);
    wait_for(&ask);
    assert_int_equal(ask.call.status.code, CANCELLED);
    assert_int_equal(ask.messages, 10);
    notice(&noticed, request.key);
    assert_true(noticed.cancelled); /* it had not got rid of its 250 MB */
}

static void resume(struct work *work)
{
    struct ask *ask = (struct ask *)((char *)work - offsetof(struct ask, later));
    ask->inside = true;
    rpc_client_call_resume(&ask->call);
    ask->inside = false;
}

static void a_reader_that_resumes_gets_the_rest(void **state)
{
    struct ask ask;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    request.messages = 500;
    request.bytes = 8 << 10;
    prepare(&ask, start_count, &request);
    ask.came = pause_after_ten;
    loop_post(loops[0], &ask.work);
    usleep(100000);
    ask.later.run = resume;
    loop_post(loops[0], &ask.later);
    wait_for(&ask);
    assert_int_equal(ask.call.status.code, OK);
    assert_int_equal(ask.messages, 500);
    assert_true(ask.in_order);
}

static void a_sender_that_ignores_the_window_is_stopped(void **state)
{
    struct ask ask;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    request.messages = 1000;
    request.bytes = 256 << 10;
    request.interval_ms = 0;
    request.ignore_window = true;
    prepare(&ask, start_count, &request);
    ask.came = pause_after_ten; /* and never resume */
    run_prepared(&ask);
    assert_int_equal(ask.call.status.code, RESOURCE_EXHAUSTED);
    assert_true(ask.messages < 1000);
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
    for (int i = 0; i < 20; i++) /* over gRPC each may arrive in either loop */
        run(&released, start_release, &request);
    assert_int_equal(released.call.status.code, OK);
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

/* ---- the two ways ----------------------------------------------------------------------------------------------- */

static int start_loops(void **state)
{
    struct status st = {0};
    schema = probe_schema();
    for (unsigned i = 0; i < LOOPS; i++) {
        loops[i] = loop_create(i);
        probes[i] = probe_create(loops[i], NULL);
        if (!loop_start(loops[i], &st))
            return -1;
    }
    return 0;
}

static void hand_stub_to_probes(void)
{
    for (unsigned i = 0; i < LOOPS; i++)
        probe_set_next(probes[i], stub);
}

static int set_up_local(void **state)
{
    if (start_loops(state) != 0)
        return -1;
    stub = rpc_local_stub(schema, probes, 0);
    hand_stub_to_probes();
    return 0;
}

static int set_up_remote(void **state)
{
    struct status st = {0};
    if (start_loops(state) != 0 || !rpc_start(loops, LOOPS, &st))
        return -1;
    struct rpc_server_options options = {
        .loops = loops, .loop_count = LOOPS, .schema = schema, .listen = "127.0.0.1:0"};
    server = rpc_server_create(&options, &st);
    rpc_server_add(server, probes);
    if (!rpc_server_start(server, &st))
        return -1;
    char target[64];
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", rpc_server_port(server));
    channel = rpc_channel_create(&(struct rpc_channel_options){.schema = schema, .target = target}, &st);
    stub = rpc_channel_stub(channel, probes[0]->descriptor, &st);
    hand_stub_to_probes();
    return 0;
}

static int tear_down(void **state)
{
    bool remote = server != NULL;
    rpc_server_destroy(&server);
    protobuf_c_service_destroy(stub);
    rpc_channel_destroy(&channel);
    if (remote)
        rpc_stop();
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_stop(loops[i]);
        probe_destroy(probes[i]);
        loop_destroy(&loops[i]);
    }
    rpc_schema_destroy(&schema);
    return 0;
}

static const struct CMUnitTest tests[] = {
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
    cmocka_unit_test(a_stream_arrives_whole_and_in_order),
    cmocka_unit_test(an_empty_stream_ends_at_once),
    cmocka_unit_test(a_stream_that_fails_delivers_what_came_before),
    cmocka_unit_test(a_reader_that_pauses_holds_the_sender_back),
    cmocka_unit_test(a_reader_that_resumes_gets_the_rest),
    cmocka_unit_test(a_sender_that_ignores_the_window_is_stopped),
    cmocka_unit_test(four_megabytes_are_taken_and_a_byte_more_is_refused),
    cmocka_unit_test(text_that_is_not_utf8_is_refused_with_its_field),
    cmocka_unit_test(a_reply_to_nobody_does_no_harm),
    cmocka_unit_test(a_thousand_calls_at_once_are_all_answered),
};

int main(void)
{
    int failed = cmocka_run_group_tests_name("in this process", tests, set_up_local, tear_down);
    return failed + cmocka_run_group_tests_name("over gRPC", tests, set_up_remote, tear_down);
}
