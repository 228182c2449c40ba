/* Numbers of attempts, which a node may fence by: each is given at most once, also after a stop or death of the attempt
 * before. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define NODE "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"script\"}}"
#define LIST                                                                                                           \
    "\"state\": {\"items\": {\"type\": \"string[]\"}, \"out\": {\"type\": \"object[]\"}}, \"start\": \"all\", "        \
    "\"nodes\": {\"all\": {\"kind\": \"each\", \"of\": \"items\", \"as\": \"item\", \"graph\": \"sub\", "              \
    "\"into\": \"out\"}}, \"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"string\"}}, \"start\": \"n\", "    \
    "\"nodes\": {\"n\": {\"kind\": \"script\"}}}}"

/* The process ends without a word, and is started again. */
static void attempts_die(void)
{
    stage_end(&stage);
    stage_run(&stage);
    INSIDE(&stage, runner_recover(stage.runner));
}

static struct script_call *attempts_at_work(void)
{
    struct script_call *call = script_find("n", NULL, -1);
    assert_non_null(call);
    return call;
}

static void assert_next(const struct script_call *before, const struct script_call *after)
{
    assert_string_equal(before->key, after->key);
    assert_int_equal(after->attempt, before->attempt + 1);
}

static void an_attempt_that_dies_over_an_answer_keeps_its_number(void **state)
{
    static const char *const keys[] = {"k"};
    stage_set(&stage, NODE);
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_ask(attempts_at_work(), keys, 1));
    resume(&stage, run, "5");
    struct script_call *answered = attempts_at_work();
    assert_int_equal(answered->attempt, 2);
    attempts_die();
    assert_next(answered, attempts_at_work());
    stage_clear(&stage);
}

static void an_attempt_that_was_cancelled_keeps_its_number(void **state)
{
    stage_set(&stage, NODE);
    char *run = start(&stage, "t", "");
    struct script_call *cancelled = attempts_at_work();
    cancel(&stage, run);
    attempts_die();
    resume(&stage, run, NULL);
    assert_next(cancelled, attempts_at_work());
    stage_clear(&stage);
}

static void an_attempt_within_a_branch_that_was_cancelled_keeps_its_number(void **state)
{
    stage_set(&stage, LIST);
    char *run = start(&stage, "t", "{\"items\":[\"a\"]}");
    struct script_call *cancelled = attempts_at_work();
    cancel(&stage, run);
    attempts_die();
    resume(&stage, run, NULL);
    struct script_call *again = attempts_at_work();
    assert_next(cancelled, again);
    attempts_die();
    assert_next(again, attempts_at_work());
    stage_clear(&stage);
}

static void a_snapshot_keeps_the_number_of_what_was_at_work(void **state)
{
    stage_snapshot_every = 1;
    stage_set(&stage, "\"mode\": \"dataflow\", \"start\": [\"s\", \"n\"], \"nodes\": {\"s\": {\"kind\": \"script\"}, "
                      "\"n\": {\"kind\": \"script\"}}");
    char *run = start(&stage, "t", "");
    struct script_call *cancelled = attempts_at_work();
    INSIDE(&stage, script_write(script_find("s", NULL, -1), "", ""));
    cancel(&stage, run);
    attempts_die();
    resume(&stage, run, NULL);
    assert_next(cancelled, attempts_at_work());
    stage_snapshot_every = 0;
    stage_clear(&stage);
}

/* Another state is there, so a result that was kept under the old key is not the result of this. */
static void a_node_that_is_activated_by_hand_has_a_key_of_its_own(void **state)
{
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    stage_set(&stage, "\"start\": \"s\", \"nodes\": {\"s\": {\"kind\": \"noop\", \"on\": {\"done\": \"n\"}}, "
                      "\"n\": {\"kind\": \"script\"}}");
    char *run = start(&stage, "t", "");
    struct script_call *before = attempts_at_work();
    cancel(&stage, run);
    request.thread_id = (char *)(uintptr_t) "t";
    request.as_node = (char *)(uintptr_t) "s";
    ask_end(ask_runner(&stage, &request));
    resume(&stage, run, NULL);
    struct script_call *by_hand = attempts_at_work();
    assert_string_not_equal(before->key, by_hand->key);
    attempts_die();
    assert_next(by_hand, attempts_at_work());
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_that_dies_over_an_answer_keeps_its_number),
        cmocka_unit_test(an_attempt_that_was_cancelled_keeps_its_number),
        cmocka_unit_test(an_attempt_within_a_branch_that_was_cancelled_keeps_its_number),
        cmocka_unit_test(a_snapshot_keeps_the_number_of_what_was_at_work),
        cmocka_unit_test(a_node_that_is_activated_by_hand_has_a_key_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
