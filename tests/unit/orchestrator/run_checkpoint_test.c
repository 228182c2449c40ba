/* Runs and changes that are to begin at a checkpoint, or in another version, and cannot: what is in memory of their
 * thread is what its log gives. */
#include "unit.h"

#include "checkpoint_fixture.h"
#include "log/ids.h"
#include "log/keys.h"

#define AB_MORE                                                                                                        \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"n\": {\"type\": \"number\", "            \
    "\"reduce\": "                                                                                                     \
    "\"sum\"}, \"more\": {\"type\": \"string\"}}, \"start\": \"b\", \"nodes\": {\"b\": {\"kind\": \"script\"}}"
#define HUGE "{\"n\":1e308}"

/* Of a thread's first run: it goes to work, a, b, and its end, which is no checkpoint. */
#define END_OF_FIRST 4

static void a_rollback_is_not_forgotten_where_its_run_cannot_begin(void **state)
{
    char nowhere[ID_MAX];
    id_make_checkpoint(nowhere, id_of_place("tenant", "t"), END_OF_FIRST);
    set_stage(AB);
    go_through("{\"log\":[\"0\"]}");
    start(&stage, "t", "{\"log\":[\"1\"]}");
    Renga__V1__StartRunRequest request = request_at(nowhere, "", ROLLBACK);
    assert_int_equal(began(&request), FAILED);
    start(&stage, "t", "{\"log\":[\"2\"]}");
    end_b();
    assert_state("{\"log\":[\"0\",\"a\",\"2\",\"a\"],\"n\":0}");
    stage_clear(&stage);
}

static void what_is_changed_by_hand_is_not_rolled_back(void **state)
{
    char nowhere[ID_MAX];
    id_make_checkpoint(nowhere, id_of_place("tenant", "t"), END_OF_FIRST);
    set_stage(AB);
    go_through("{\"log\":[\"0\"]}");
    start(&stage, "t", "{\"log\":[\"1\"]}");
    Renga__V1__StartRunRequest request = request_at(nowhere, "", ROLLBACK);
    assert_int_equal(began(&request), FAILED);
    assert_true(update_at("", "{\"log\":[\"by hand\"]}"));
    restart();
    go_through("{\"log\":[\"2\"]}");
    assert_state("{\"log\":[\"0\",\"a\",\"1\",\"a\",\"by hand\",\"2\",\"a\"],\"n\":0}");
    stage_clear(&stage);
}

static void a_rollback_outlives_a_crash(void **state)
{
    set_stage(AB);
    go_through("{\"log\":[\"0\"]}");
    start(&stage, "t", "{\"log\":[\"1\"]}");
    Renga__V1__StartRunRequest request = request_at("", "{\"log\":[\"2\"]}", ROLLBACK);
    struct test_request *sent = send_to_runner(&stage, &request.base, false);
    store_settle(stage.store); /* accepted; what it begins on has not been read */
    restart();
    ask_end(sent);
    state_of("t");
    end_b();
    assert_state("{\"log\":[\"0\",\"a\",\"2\",\"a\"],\"n\":0}");
    stage_clear(&stage);
}

/* `before`: where the first of two runs ended. */
static void go_on_behind_a_huge_one(char before[64])
{
    set_stage(AB);
    snprintf(before, 64, "%s", go_through(HUGE));
    go_through("{\"log\":[\"1\"]}");
}

static void a_run_that_cannot_begin_at_a_checkpoint_leaves_the_thread_where_it_is(void **state)
{
    char before[64];
    go_on_behind_a_huge_one(before);
    Renga__V1__StartRunRequest request = request_at(before, HUGE, RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    assert_int_equal(began(&request), FAILED);
    assert_state("{\"log\":[\"a\",\"1\",\"a\"],\"n\":1e+308}");
    go_through("{\"log\":[\"2\"]}");
    assert_state("{\"log\":[\"a\",\"1\",\"a\",\"2\",\"a\"],\"n\":1e+308}");
    stage_clear(&stage);
}

static void a_change_at_a_checkpoint_that_is_refused_changes_nothing(void **state)
{
    char before[64];
    go_on_behind_a_huge_one(before);
    assert_false(update_at(before, "{\"nothing\":1}"));
    assert_int_equal(last_status.code, INVALID_ARGUMENT);
    assert_state("{\"log\":[\"a\",\"1\",\"a\"],\"n\":1e+308}");
    assert_false(update_at(before, HUGE));
    assert_int_equal(last_status.code, INVALID_ARGUMENT);
    assert_state("{\"log\":[\"a\",\"1\",\"a\"],\"n\":1e+308}");
    assert_true(update_at(before, "{\"n\":-1e308}"));
    assert_state("{\"log\":[\"a\"],\"n\":0}");
    stage_clear(&stage);
}

static void a_run_that_cannot_begin_leaves_the_thread_in_its_version(void **state)
{
    set_stage(AB);
    go_through(HUGE);
    write_version(AB_MORE);
    Renga__V1__StartRunRequest request = request_at("", HUGE, RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    assert_int_equal(began(&request), FAILED);
    assert_false(update_at("", "{\"more\":\"x\"}"));
    assert_int_equal(last_status.code, INVALID_ARGUMENT);
    assert_state("{\"log\":[\"a\"],\"n\":1e+308}");
    go_through("{\"log\":[\"1\"]}");
    assert_true(update_at("", "{\"more\":\"x\"}"));
    assert_state("{\"log\":[\"a\",\"1\"],\"n\":1e+308,\"more\":\"x\"}");
    stage_clear(&stage);
}

static void the_next_begins_where_one_in_the_queue_cannot(void **state)
{
    for (int at_checkpoint = 0; at_checkpoint < 2; at_checkpoint++) {
        char before[64];
        set_stage(AB);
        snprintf(before, sizeof before, "%s", go_through(HUGE));
        start(&stage, "t", "{\"log\":[\"1\"]}");
        for (int i = 0; i < 4; i++) {
            Renga__V1__StartRunRequest request =
                request_at(at_checkpoint && i < 3 ? before : "", i < 3 ? HUGE : "{\"log\":[\"2\"]}",
                           RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE);
            ask_end(ask_runner(&stage, &request));
        }
        end_b();
        end_b();
        assert_state("{\"log\":[\"a\",\"1\",\"a\",\"2\",\"a\"],\"n\":1e+308}");
        stage_clear(&stage);
    }
}

/* ---- while it is being read -------------------------------------------------------------------------------------- */

/* The log has been asked for the state of a checkpoint, and has not answered yet. */
static struct test_request *send_and_stop_short(const void *request, bool drawn)
{
    struct test_request *sent = send_to_runner(&stage, request, drawn);
    assert_int_equal(sent->answers, 0);
    return sent;
}

static void a_caller_may_leave_while_its_run_looks_where_it_begins(void **state)
{
    char before[64];
    set_stage(AB);
    snprintf(before, sizeof before, "%s", go_through(""));
    go_through("{\"log\":[\"1\"]}");
    Renga__V1__StartRunRequest request = request_at(before, "", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    request.wait = request.cancel_on_disconnect = true;
    struct test_request *sent = send_and_stop_short(&request, false);
    loop_enter(stage.loop);
    runner_abandon(&sent->request);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
    assert_null(answer_of(sent));
    ask_end(sent);
    assert_state("{\"log\":[\"a\",\"1\",\"a\"],\"n\":0}");
    go_through("{\"log\":[\"2\"]}");
    assert_state("{\"log\":[\"a\",\"1\",\"a\",\"2\",\"a\"],\"n\":0}");
    stage_clear(&stage);
}

static void a_thread_that_goes_on_while_it_is_copied_is_not_copied(void **state)
{
    set_stage(AB);
    go_through("");
    for (int steps = 0; steps < 4; steps++) { /* of the copy, before the run begins; it may be through by then */
        char name[] = {'u', (char)('0' + steps), '\0'};
        Renga__V1__CopyThreadRequest copy = RENGA__V1__COPY_THREAD_REQUEST__INIT;
        copy.thread_id = (char *)(uintptr_t) "t";
        copy.new_thread_id = name;
        struct test_request *copied = send_and_stop_short(&copy, true);
        for (int i = 0; i < steps; i++) {
            store_settle(stage.store);
            loop_step(stage.loop, 0);
        }
        Renga__V1__StartRunRequest request = request_at("", "", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
        struct test_request *begun = send_to_runner(&stage, &request, false);
        store_settle(stage.store);
        stage_settle(&stage, 0);
        end_b();
        bool done = answer_of(copied) != NULL;
        assert_false(done && steps == 0);
        assert_true(done || last_status.code == UNAVAILABLE || last_status.code == ABORTED);
        ask_end(copied);
        ask_end(begun);
        request.thread_id = name;
        assert_int_equal(began(&request), RUNNING); /* nothing is at work in a copy */
        end_b();
    }
    stage_clear(&stage);
}

static void drained(void *data)
{
    ++*(int *)data;
}

static void what_is_being_read_when_the_server_ends_is_answered(void **state)
{
    Renga__V1__ForkThreadRequest fork = RENGA__V1__FORK_THREAD_REQUEST__INIT;
    Renga__V1__CopyThreadRequest copy = RENGA__V1__COPY_THREAD_REQUEST__INIT;
    Renga__V1__UpdateStateRequest update = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    Renga__V1__StartRunRequest begin;
    const ProtobufCMessage *const requests[] = {&fork.base, &copy.base, &update.base, &begin.base};
    fork.thread_id = copy.thread_id = update.thread_id = (char *)(uintptr_t) "t";
    fork.new_thread_id = copy.new_thread_id = (char *)(uintptr_t) "u";
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char before[64];
        int ends = 0;
        set_stage(AB);
        snprintf(before, sizeof before, "%s", go_through(""));
        go_through("{\"log\":[\"1\"]}");
        update.checkpoint_id = before;
        begin = request_at(before, "", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
        begin.wait = true;
        struct test_request *sent = send_and_stop_short(requests[i], i < 2); /* their new thread is known to be none */
        loop_enter(stage.loop);
        runner_drain(stage.runner, 0, drained, &ends);
        loop_leave(stage.loop);
        stage_settle(&stage, 1000);
        assert_int_equal(ends, 1);
        assert_null(answer_of(sent));
        assert_int_equal(last_status.code, UNAVAILABLE);
        ask_end(sent);
        stage_clear(&stage);
    }
}

static void written(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

/* Of the run of that number, which was at work long before, or of none. */
static void a_log_in_which_a_run_goes_to_work_twice_is_not_believed(void **state)
{
    for (uint32_t number = 0; number <= 1; number++) {
        struct key key;
        uint8_t bytes[64];
        struct store_batch batch;
        Renga__V1__LogRecord record = RENGA__V1__LOG_RECORD__INIT;
        Renga__V1__RunWentToWork went = RENGA__V1__RUN_WENT_TO_WORK__INIT;
        record.run = number;
        record.went_to_work = &went;
        set_stage(AB);
        go_through("");
        key_numbered(&key, KEY_RECORD, stage_tenant, "t", END_OF_FIRST);
        loop_enter(stage.loop);
        store_batch_init(&batch, stage.loop, written);
        store_put(&batch, key_bytes(&key), (struct store_bytes){bytes, renga__v1__log_record__pack(&record, bytes)});
        store_commit(stage.store, &batch);
        loop_leave(stage.loop);
        stage_settle(&stage, 0);
        restart();
        state_of("t");
        assert_int_equal(last_status.code, DATA_LOSS);
        stage_clear(&stage);
    }
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rollback_is_not_forgotten_where_its_run_cannot_begin),
        cmocka_unit_test(what_is_changed_by_hand_is_not_rolled_back),
        cmocka_unit_test(a_rollback_outlives_a_crash),
        cmocka_unit_test(a_run_that_cannot_begin_at_a_checkpoint_leaves_the_thread_where_it_is),
        cmocka_unit_test(a_change_at_a_checkpoint_that_is_refused_changes_nothing),
        cmocka_unit_test(a_run_that_cannot_begin_leaves_the_thread_in_its_version),
        cmocka_unit_test(the_next_begins_where_one_in_the_queue_cannot),
        cmocka_unit_test(a_caller_may_leave_while_its_run_looks_where_it_begins),
        cmocka_unit_test(a_thread_that_goes_on_while_it_is_copied_is_not_copied),
        cmocka_unit_test(a_log_in_which_a_run_goes_to_work_twice_is_not_believed),
        cmocka_unit_test(what_is_being_read_when_the_server_ends_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
