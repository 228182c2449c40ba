/* Threads whose state is larger than a snapshot, and that go back by their log. */
#include "unit.h"

#include "checkpoint_fixture.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#define LARGE ((size_t)3000000) /* bytes of one field, near the most that one may have */

/* As AB, with three fields that together are more than a snapshot takes. */
#define LARGE_AB                                                                                                       \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"n\": {\"type\": \"number\", "            \
    "\"reduce\": "                                                                                                     \
    "\"sum\"}, \"x\": {\"type\": \"string\"}, \"y\": {\"type\": \"string\"}, \"z\": {\"type\": \"string\"}}, "         \
    "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": "     \
    "\"b\"}}, \"b\": {\"kind\": \"script\"}}"

static int64_t count_of(const char *thread)
{
    char *fields[] = {(char *)(uintptr_t) "n"};
    long long n = -1;
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    request.fields = fields;
    request.n_fields = 1;
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__GetStateResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    sscanf(response->state_json, "{\"n\":%lld}", &n);
    ask_end(sent);
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
    struct test_request *sent = ask_runner(&stage, &request);
    answer_of(sent);
    ask_end(sent);
    return last_status.code;
}

/* `fields`: letters, each a field of LARGE bytes. */
static char *large_input(const char *fields)
{
    size_t size = 0;
    char *large = malloc(strlen(fields) * (LARGE + 16) + 64);
    size += (size_t)sprintf(large, "{\"n\":1");
    for (; *fields; fields++) {
        size += (size_t)sprintf(large + size, ",\"%c\":\"", *fields);
        memset(large + size, 'x', LARGE);
        size += LARGE;
        large[size++] = '"';
    }
    memcpy(large + size, "}", 2);
    return large;
}

/* Its last checkpoint. */
static void make_large(char checkpoint[64])
{
    static const char *const fields[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++) {
        char *large = large_input(fields[i]);
        snprintf(checkpoint, 64, "%s", go_through(large));
        free(large);
    }
}

static void a_large_thread_goes_back_by_its_log(void **state)
{
    char before[64], words[64];
    set_stage(LARGE_AB);
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
    char *large = large_input("xy");
    set_stage(LARGE_AB);
    start(&stage, "t", "{\"n\":10}");
    Renga__V1__StartRunRequest request = request_at("", large, ROLLBACK);
    assert_int_equal(began(&request), RUNNING);
    assert_count(1);
    free(large);
    stage_clear(&stage);
}

/* It does not fit into a record; the thread is as it was. */
static void a_start_or_an_update_that_no_record_can_keep_is_refused(void **state)
{
    char *large = large_input("xyz");
    set_stage(LARGE_AB);
    go_through("{\"n\":1}");
    Renga__V1__StartRunRequest request = request_at("", large, RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    struct test_request *sent = ask_runner(&stage, &request);
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, RESOURCE_EXHAUSTED);
    assert_non_null(strstr(last_status.text, "StartRunRequest has 9000"));
    ask_end(sent);
    assert_false(update_at("", large));
    assert_int_equal(last_status.code, RESOURCE_EXHAUSTED);
    assert_count(1);
    go_through("{\"n\":1}");
    assert_count(2);
    free(large);
    stage_clear(&stage);
}

static enum status_code asked(const void *request)
{
    struct test_request *sent = send_to_runner(&stage, request, false);
    for (int i = 0; i < 1000 && !sent->answers; i++) /* page by page */
        stage_settle(&stage, 0);
    answer_of(sent);
    ask_end(sent);
    return last_status.code;
}

static enum status_code rolled_back(void)
{
    start(&stage, "t", "{\"n\":1000}");
    Renga__V1__StartRunRequest request = request_at("", "{\"n\":1}", ROLLBACK);
    enum status_code code = asked(&request);
    for (int i = 0; i < 1000 && !script_find("b", NULL, -1); i++) /* after what it begins on was read */
        stage_settle(&stage, 0);
    end_b();
    return code;
}

/* Each reads the one before it anew: the time to read it would double, and soon nobody could. */
static void a_large_thread_goes_back_so_often_that_it_can_still_be_read(void **state)
{
    char before[64];
    set_stage(LARGE_AB);
    make_large(before);
    int times = 0;
    while (times < 10 && rolled_back() == OK)
        times++;
    assert_int_equal(times, 4);
    restart();
    Renga__V1__StartRunRequest request = request_at(before, "{\"n\":1}", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    assert_int_equal(asked(&request), FAILED_PRECONDITION);
    assert_false(update_at(before, "{\"n\":1}"));
    assert_int_equal(last_status.code, FAILED_PRECONDITION);
    assert_true(update_at("", "{\"n\":-1007}")); /* its head is where it was */
    assert_int_equal(count_of("t"), 0);
    stage_clear(&stage);
}

static void empty(void)
{
    char *fields[] = {(char *)(uintptr_t) "x", (char *)(uintptr_t) "y", (char *)(uintptr_t) "z"};
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.clear_fields = fields;
    request.n_clear_fields = 3;
    struct test_request *sent = ask_runner(&stage, &request);
    assert_non_null(answer_of(sent));
    ask_end(sent);
}

/* Of the five checkpoints that are kept the first is small, and could be cut at; the second goes back behind it. */
static void what_a_large_thread_goes_back_to_is_kept(void **state)
{
    char before[64];
    Renga__V1__Retention five = RENGA__V1__RETENTION__INIT;
    five.max_checkpoints = 5;
    set_stage(LARGE_AB);
    make_large(before);
    empty();
    Renga__V1__StartRunRequest request = request_at(before, "{\"n\":10}", RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
    request.retention = &five;
    assert_int_equal(began(&request), RUNNING);
    end_b();
    empty();
    INSIDE(&stage, runner_recover(stage.runner)); /* and sweeps */
    stage_settle(&stage, 10000);
    assert_count(13);
    stage_clear(&stage);
}

static void a_large_update_is_the_same_when_it_is_read_again(void **state)
{
    char before[64];
    char *large = large_input("xy"), *wrong = strdup(large);
    set_stage(LARGE_AB);
    make_large(before);
    assert_true(update_at("", large));
    assert_count(4);
    memcpy(strstr(wrong, "\"y\""), "\"w\"", 3); /* a field that the state does not have */
    assert_false(update_at("", wrong));
    assert_int_equal(last_status.code, INVALID_ARGUMENT);
    assert_count(4);
    go_through("{\"n\":1}");
    assert_count(5);
    free(large);
    free(wrong);
    stage_clear(&stage);
}

static void large_threads_at_rest_take_a_bounded_memory(void **state)
{
    enum { THREADS = 20 };
    char name[16], *large = large_input("xy");
    set_stage(LARGE_AB);
    const struct shard *shard = &stage.runner->shards[0];
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "t%d", i);
        start(&stage, name, large);
        end_b();
        stage_settle(&stage, 0);
        assert_true(shard->idle_bytes <= IDLE_BYTES_MAX);
    }
    assert_in_range(shard->idle_count, 1, IDLE_BYTES_MAX / LARGE / 2);
    assert_int_equal(count_of("t0"), 1); /* read from the store */
    free(large);
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_thread_goes_back_by_its_log),
        cmocka_unit_test(a_large_thread_goes_back_so_often_that_it_can_still_be_read),
        cmocka_unit_test(a_rollback_to_nothing_is_in_the_log_where_its_input_is_large),
        cmocka_unit_test(what_a_large_thread_goes_back_to_is_kept),
        cmocka_unit_test(a_large_update_is_the_same_when_it_is_read_again),
        cmocka_unit_test(a_start_or_an_update_that_no_record_can_keep_is_refused),
        cmocka_unit_test(large_threads_at_rest_take_a_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
