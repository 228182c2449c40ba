/* Runs and changes that are to begin at a checkpoint, or in another version, and cannot: what is in memory of their
 * thread is what its log gives. */
#include "unit.h"

#include "log/ids.h"
#include "migrate_fixture.h"

#define STATE                                                                                                          \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"n\": {\"type\": \"number\", "            \
    "\"reduce\": "                                                                                                     \
    "\"sum\"}}, "
#define AB                                                                                                             \
    STATE                                                                                                              \
    "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": "     \
    "\"b\"}}, \"b\": {\"kind\": \"script\"}}"
#define AB_MORE                                                                                                        \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"n\": {\"type\": \"number\", "            \
    "\"reduce\": "                                                                                                     \
    "\"sum\"}, \"more\": {\"type\": \"string\"}}, \"start\": \"b\", \"nodes\": {\"b\": {\"kind\": \"script\"}}"
#define HUGE "{\"n\":1e308}"

static char *state_of(const char *thread)
{
    static char text[512];
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    struct question_of_test *question = ask_runner(&stage, &request);
    Renga__V1__GetStateResponse *response = answer_of(question);
    snprintf(text, sizeof text, "%s", response ? response->state_json : last_status.text);
    ask_end(question);
    return text;
}

/* In memory, and as the log has it. */
#define assert_state(wanted)                                                                                           \
    do {                                                                                                               \
        assert_string_equal(state_of("t"), wanted);                                                                    \
        restart();                                                                                                     \
        assert_string_equal(state_of("t"), wanted);                                                                    \
    } while (0)

static Renga__V1__StartRunRequest request_at(const char *checkpoint, const char *input, Renga__V1__OnBusy on_busy)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.input_json = (char *)(uintptr_t)input;
    request.checkpoint_id = (char *)(uintptr_t)checkpoint;
    request.on_busy = on_busy;
    return request;
}

static Renga__V1__RunState began(const Renga__V1__StartRunRequest *request)
{
    struct question_of_test *question = ask_runner(&stage, request);
    Renga__V1__StartRunResponse *response = answer_of(question);
    if (!response)
        fail_msg("%s", last_status.text);
    Renga__V1__RunState is = get(&stage, response->run->run_id)->state;
    ask_end(question);
    return is;
}

static void end_b(void)
{
    struct script_call *call = script_find("b", NULL, -1);
    assert_non_null(call);
    INSIDE(&stage, script_write(call, "", ""));
}

/* A run to its end; the checkpoint it made last. */
static char *go_through(const char *input)
{
    static char checkpoint[64];
    char *run = start(&stage, "t", input);
    end_b();
    assert_run(&stage, run, SUCCEEDED, "");
    snprintf(checkpoint, sizeof checkpoint, "%s", get(&stage, run)->checkpoint_id);
    return checkpoint;
}

static bool update_at(const char *checkpoint, const char *update)
{
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.checkpoint_id = (char *)(uintptr_t)checkpoint;
    request.update_json = (char *)(uintptr_t)update;
    struct question_of_test *question = ask_runner(&stage, &request);
    bool done = answer_of(question) != NULL;
    ask_end(question);
    return done;
}

#define ROLLBACK RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK

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
    struct question_of_test *question = send_to_runner(&stage, &request.base, false);
    store_settle(stage.store); /* accepted; what it begins on has not been read */
    restart();
    ask_end(question);
    state_of("t");
    end_b();
    assert_state("{\"log\":[\"0\",\"a\",\"2\",\"a\"],\"n\":0}");
    stage_clear(&stage);
}

static void a_run_that_cannot_begin_at_a_checkpoint_leaves_the_thread_where_it_is(void **state)
{
    char before[64];
    set_stage(AB);
    snprintf(before, sizeof before, "%s", go_through(HUGE));
    go_through("{\"log\":[\"1\"]}");
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
    set_stage(AB);
    snprintf(before, sizeof before, "%s", go_through(HUGE));
    go_through("{\"log\":[\"1\"]}");
    assert_false(update_at(before, "{\"nothing\":1}"));
    assert_int_equal(last_status.code, INVALID_ARGUMENT);
    assert_state("{\"log\":[\"a\",\"1\",\"a\"],\"n\":1e+308}");
    assert_false(update_at(before, HUGE));
    assert_int_equal(last_status.code, ABORTED);
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

/* ---- larger than a snapshot -------------------------------------------------------------------------------------- */

#define LARGE ((size_t)3 << 20)

static int64_t count_of(const char *thread)
{
    char *fields[] = {(char *)(uintptr_t) "n"};
    long long n = -1;
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    request.fields = fields;
    request.n_fields = 1;
    struct question_of_test *question = ask_runner(&stage, &request);
    Renga__V1__GetStateResponse *response = answer_of(question);
    if (!response)
        fail_msg("%s", last_status.text);
    sscanf(response->state_json, "{\"n\":%lld}", &n);
    ask_end(question);
    return n;
}

#define assert_count(wanted)                                                                                           \
    do {                                                                                                               \
        assert_int_equal(count_of("t"), wanted);                                                                       \
        restart();                                                                                                     \
        assert_int_equal(count_of("t"), wanted);                                                                       \
    } while (0)

static enum status_code forked(const char *from, const char *to)
{
    Renga__V1__ForkThreadRequest request = RENGA__V1__FORK_THREAD_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)from;
    request.new_thread_id = (char *)(uintptr_t)to;
    struct question_of_test *question = ask_runner(&stage, &request);
    answer_of(question);
    ask_end(question);
    return last_status.code;
}

static char *large_input(size_t letters)
{
    char *large = malloc(letters + 64);
    int size = sprintf(large, "{\"n\":1,\"log\":[\"");
    memset(large + size, 'x', letters);
    strcpy(large + size + letters, "\"]}");
    return large;
}

/* Its last checkpoint. */
static void make_large(char checkpoint[64])
{
    char *large = large_input(LARGE);
    for (int i = 0; i < 3; i++)
        snprintf(checkpoint, 64, "%s", go_through(large));
    free(large);
}

static void a_large_thread_goes_back_by_its_log(void **state)
{
    char before[64], words[64];
    set_stage(AB);
    make_large(before);
    go_through("{\"n\":1}");
    for (int i = 1; i <= 2; i++) { /* the second goes back behind the first */
        snprintf(words, sizeof words, "{\"n\":%d}", 10 * i);
        Renga__V1__StartRunRequest request = request_at(before, words, RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
        assert_int_equal(began(&request), RUNNING);
        end_b();
        assert_count(3 + 10 * i);
        go_through("{\"n\":1}");
        assert_count(4 + 10 * i);
    }
    assert_true(update_at(before, "{\"n\":100}"));
    assert_count(103);
    assert_int_equal(forked("t", "u"), RESOURCE_EXHAUSTED);
    assert_int_equal(forked("t", "u"), RESOURCE_EXHAUSTED); /* not there already */
    stage_clear(&stage);
}

static void a_rollback_to_nothing_is_in_the_log_where_its_input_is_large(void **state)
{
    char *large = large_input(2 * LARGE);
    set_stage(AB);
    start(&stage, "t", "{\"n\":10}");
    Renga__V1__StartRunRequest request = request_at("", large, ROLLBACK);
    assert_int_equal(began(&request), RUNNING);
    assert_count(1);
    free(large);
    stage_clear(&stage);
}

static void empty_log(void)
{
    char *fields[] = {(char *)(uintptr_t) "log"};
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.clear_fields = fields;
    request.n_clear_fields = 1;
    struct question_of_test *question = ask_runner(&stage, &request);
    assert_non_null(answer_of(question));
    ask_end(question);
}

/* Of the five checkpoints that are kept the first is small, and could be cut at; the second goes back behind it. */
static void what_a_large_thread_goes_back_to_is_kept(void **state)
{
    char before[64];
    Renga__V1__Retention five = RENGA__V1__RETENTION__INIT;
    five.max_checkpoints = 5;
    set_stage(AB);
    make_large(before);
    empty_log();
    Renga__V1__StartRunRequest request = request_at(before, "{\"n\":10}", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    request.retention = &five;
    assert_int_equal(began(&request), RUNNING);
    end_b();
    empty_log();
    INSIDE(&stage, runner_recover(stage.runner)); /* and sweeps */
    stage_settle(&stage, 10000);
    assert_count(13);
    stage_clear(&stage);
}

/* ---- while it is being read -------------------------------------------------------------------------------------- */

/* The log has been asked for what stood at a checkpoint, and has not answered yet. */
static struct question_of_test *send_and_stop_short(const void *request, bool drawn)
{
    struct question_of_test *question = send_to_runner(&stage, request, drawn);
    assert_int_equal(question->answers, 0);
    return question;
}

static void a_caller_may_leave_while_its_run_looks_where_it_begins(void **state)
{
    char before[64];
    set_stage(AB);
    snprintf(before, sizeof before, "%s", go_through(""));
    go_through("{\"log\":[\"1\"]}");
    Renga__V1__StartRunRequest request = request_at(before, "", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    request.wait = request.cancel_on_disconnect = true;
    struct question_of_test *question = send_and_stop_short(&request, false);
    loop_enter(stage.loop);
    runner_forget(&question->errand);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
    assert_null(answer_of(question));
    ask_end(question);
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
        struct question_of_test *copied = send_and_stop_short(&copy, true);
        for (int i = 0; i < steps; i++) {
            store_settle(stage.store);
            loop_step(stage.loop, 0);
        }
        Renga__V1__StartRunRequest request = request_at("", "", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
        struct question_of_test *begun = send_to_runner(&stage, &request, false);
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
        struct question_of_test *question =
            send_and_stop_short(requests[i], i < 2); /* their new thread is known to be none */
        loop_enter(stage.loop);
        runner_drain(stage.runner, 0, drained, &ends);
        loop_leave(stage.loop);
        stage_settle(&stage, 1000);
        assert_int_equal(ends, 1);
        assert_null(answer_of(question));
        assert_int_equal(last_status.code, UNAVAILABLE);
        ask_end(question);
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
        cmocka_unit_test(a_large_thread_goes_back_by_its_log),
        cmocka_unit_test(a_rollback_to_nothing_is_in_the_log_where_its_input_is_large),
        cmocka_unit_test(what_a_large_thread_goes_back_to_is_kept),
        cmocka_unit_test(a_caller_may_leave_while_its_run_looks_where_it_begins),
        cmocka_unit_test(a_thread_that_goes_on_while_it_is_copied_is_not_copied),
        cmocka_unit_test(what_is_being_read_when_the_server_ends_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
