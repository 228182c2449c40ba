/* What a service and its caller may rely on of a stream, whether they share a process or a network: every body runs
 * twice, on the in-process twin and over gRPC. */
#include "rpc/channel_pool.h"

#include <grpc/grpc_security.h>

#include "service_fixture.h"

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

static void a_stream_that_is_read_gives_its_memory_back_as_it_goes(void **state)
{
    struct ask ask;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    request.messages = 600;
    request.bytes = 64 << 10; /* 38 MB, more than answers may hold */
    run(&ask, start_count, &request);
    assert_int_equal(ask.call.status.code, OK);
    assert_int_equal(ask.messages, 600);
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
    struct ask *ask = CONTAINER_OF(work, struct ask, later);
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

#define PAUSED 5

/* The first of them that has ended; NULL after WAIT_SEC. */
static struct ask *await_end(struct ask *asks, size_t count)
{
    for (int tries = 0; tries < WAIT_SEC * 100; tries++) {
        for (size_t i = 0; i < count; i++)
            if (sem_trywait(&asks[i].done) == 0)
                return &asks[i];
        usleep(10000);
    }
    return NULL;
}

static void readers_that_pause_hold_a_bound_together_and_others_are_answered(void **state)
{
    static struct ask asks[PAUSED];
    struct ask other;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    Renga__Test__EchoRequest small = RENGA__TEST__ECHO_REQUEST__INIT;
    request.messages = 60; /* 15 MB, which a single reader may let wait */
    request.bytes = 256 << 10;
    request.ignore_window = true;
    for (size_t i = 0; i < PAUSED; i++) {
        prepare(&asks[i], start_count, &request);
        asks[i].came = pause_after_ten;
        loop_post(loops[0], &asks[i].work);
    }
    struct ask *refused = await_end(asks, PAUSED);
    assert_non_null(refused);
    assert_int_equal(refused->call.status.code, RESOURCE_EXHAUSTED);
    assert_non_null(strstr(refused->call.status.text, "rpc.memory_max"));
    assert_in_range(budget_used(&answers), 1, ANSWERS / 2);
    run(&other, start_echo, &small);
    assert_int_equal(other.call.status.code, OK);
    for (size_t i = 0; i < PAUSED; i++) {
        if (&asks[i] != refused)
            cancel_soon(&asks[i], 0);
    }
    for (size_t i = 0; i < PAUSED; i++)
        if (&asks[i] != refused)
            wait_for(&asks[i]);
    run(&other, start_echo, &small); /* behind the cancellations of those that were refused meanwhile */
}

#define WAITING 1100 /* more than a server takes on a connection, rpc.streams_max */

static void streams_that_wait_hold_up_no_other_call(void **state)
{
    static struct ask waiting[WAITING];
    struct ask other;
    Renga__Test__CountRequest request = RENGA__TEST__COUNT_REQUEST__INIT;
    Renga__Test__EchoRequest small = RENGA__TEST__ECHO_REQUEST__INIT;
    request.messages = 2;
    request.interval_ms = WAIT_SEC * 1000 * 2;
    for (size_t i = 0; i < WAITING; i++) {
        prepare(&waiting[i], start_count, &request);
        loop_post(loops[0], &waiting[i].work);
    }
    prepare(&other, start_echo, &small);
    other.call.timeout_ms = WAIT_SEC * 1000 / 2;
    run_prepared(&other);
    assert_int_equal(other.call.status.code, OK);
    for (size_t i = 0; i < WAITING; i++)
        cancel_soon(&waiting[i], 0);
    for (size_t i = 0; i < WAITING; i++)
        wait_for(&waiting[i]);
}

static void a_pool_of_channels_has_a_bound_and_unary_calls_have_room_beside_streams(void **state)
{
    struct channel_pool pool;
    unsigned number, streams = 0, others = 0;
    if (!server) /* the twin in this process has no channels */
        return;
    channel_pool_init(&pool, &(struct rpc_channel_options){.schema = schema, .target = "ipv4:127.0.0.1:1"},
                      grpc_insecure_credentials_create());
    for (; channel_pool_take(&pool, true, &number); streams++)
        assert_int_equal(number, streams / CHANNEL_CALLS);
    assert_int_equal(streams, CHANNELS_STREAM_MAX * CHANNEL_CALLS);
    channel_pool_release(&pool, number); /* as a call that fails */
    for (; channel_pool_take(&pool, false, &number); others++)
        assert_true(number >= CHANNELS_STREAM_MAX);
    assert_int_equal(others, (CHANNELS_MAX - CHANNELS_STREAM_MAX) * CHANNEL_CALLS);
    channel_pool_release(&pool, number);
    channel_pool_release(&pool, 7);
    assert_true(channel_pool_take(&pool, true, &number));
    assert_int_equal(number, 7);
    channel_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_arrives_whole_and_in_order),
        cmocka_unit_test(a_stream_that_is_read_gives_its_memory_back_as_it_goes),
        cmocka_unit_test(an_empty_stream_ends_at_once),
        cmocka_unit_test(a_stream_that_fails_delivers_what_came_before),
        cmocka_unit_test(a_reader_that_pauses_holds_the_sender_back),
        cmocka_unit_test(a_reader_that_resumes_gets_the_rest),
        cmocka_unit_test(a_sender_that_ignores_the_window_is_stopped),
        cmocka_unit_test(readers_that_pause_hold_a_bound_together_and_others_are_answered),
        cmocka_unit_test(streams_that_wait_hold_up_no_other_call),
        cmocka_unit_test(a_pool_of_channels_has_a_bound_and_unary_calls_have_room_beside_streams),
        cmocka_unit_test(no_answer_holds_memory_afterwards),
    };
    return RUN_BOTH_WAYS(tests);
}
