#include "api/check.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define REQUEST(Type, name, function)                                                                                  \
    Renga__V1__##Type name;                                                                                            \
    renga__v1__##function##__init(&name)

static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

/* `length` letters; of the last call. */
static char *letters(size_t length)
{
    static char *kept;
    free(kept);
    kept = malloc(length + 1);
    assert_non_null(kept);
    memset(kept, 'a', length);
    kept[length] = '\0';
    return kept;
}

static void good(const ProtobufCMessage *request)
{
    struct status st = {0};
    if (!check_request(request, &st))
        fail_msg("%s", st.text);
}

static void wrong(const ProtobufCMessage *request, const char *field, const char *part)
{
    struct status st = {0};
    assert_false(check_request(request, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, field);
    if (!strstr(st.text, part))
        fail_msg("'%s' does not say '%s'", st.text, part);
}

static Renga__V1__StartRunRequest start(void)
{
    REQUEST(StartRunRequest, request, start_run_request);
    request.agent = text("helpdesk");
    return request;
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

static void a_run_needs_an_agent(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    good(&request.base);
    request.agent = text("");
    wrong(&request.base, "agent", "required");
    request.agent = letters(64);
    good(&request.base);
    request.agent = letters(65);
    wrong(&request.base, "agent", "65 bytes; at most 64");
}

static void names_have_no_control_characters(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    request.thread_id = text("línea 連歌 / 1");
    good(&request.base);
    request.thread_id = text("a\nb");
    wrong(&request.base, "thread_id", "0x0a at byte 1");
    request.thread_id = text("a\x7f");
    wrong(&request.base, "thread_id", "0x7f");
}

static void input_is_an_object(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    request.input_json = text(" {\"question\": \"why?\"}");
    good(&request.base);
    request.input_json = text("[1]");
    wrong(&request.base, "input_json", "object");
    request.input_json = text("{\"a\":1,}");
    wrong(&request.base, "input_json", "is not JSON");
    request.input_json = text("");
    request.configuration_json = text("7");
    wrong(&request.base, "configuration_json", "object");
}

static void sizes_of_json_are_bounded(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    char *json = letters(3145729);
    json[0] = json[3145728] = '"';
    request.input_json = json;
    wrong(&request.base, "input_json", "at most 3145728");
    request.input_json = text("");
    json = letters(262145);
    request.configuration_json = json;
    wrong(&request.base, "configuration_json", "at most 262144");
}

static void a_checkpoint_is_of_a_thread(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    request.checkpoint_id = text("c1");
    wrong(&request.base, "thread_id", "checkpoint_id needs");
    request.thread_id = text("t");
    good(&request.base);
}

static void limits_of_a_run_have_ranges(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    request.recursion_limit = 1000001;
    wrong(&request.base, "recursion_limit", "within 0 and 1000000");
    request.recursion_limit = 1000000;
    request.max_concurrency = -1;
    wrong(&request.base, "max_concurrency", "within 0 and 100000");
    request.max_concurrency = 100000;
    request.timeout_ms = -1;
    wrong(&request.base, "timeout_ms", "0 or more");
    request.timeout_ms = INT64_MAX;
    request.idle_timeout_ms = -5;
    wrong(&request.base, "idle_timeout_ms", "0 or more");
    request.idle_timeout_ms = 0;
    good(&request.base);
}

static void what_to_do_on_a_busy_thread_is_known(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    request.on_busy = RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK;
    good(&request.base);
    request.on_busy = (Renga__V1__OnBusy)5;
    wrong(&request.base, "on_busy", "is 5");
}

static void nodes_to_stop_at_are_names(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    char *nodes[65];
    for (size_t i = 0; i < 65; i++)
        nodes[i] = text("*");
    request.interrupt_before = nodes;
    request.n_interrupt_before = 64;
    good(&request.base);
    request.n_interrupt_before = 65;
    wrong(&request.base, "interrupt_before", "65 entries; at most 64");
    request.n_interrupt_before = 3;
    nodes[2] = text("");
    wrong(&request.base, "interrupt_before[2]", "empty");
    nodes[2] = letters(1025);
    wrong(&request.base, "interrupt_before[2]", "1025 bytes");
}

static void budgets_and_retention_are_not_negative(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    REQUEST(Budget, budget, budget);
    REQUEST(Retention, retention, retention);
    request.budget = &budget;
    request.retention = &retention;
    good(&request.base);
    budget.maybe_tokens_case = RENGA__V1__BUDGET__MAYBE_TOKENS_TOKENS;
    good(&request.base);
    budget.tokens = -1;
    wrong(&request.base, "budget.tokens", "0 is none, absent is no limit");
    budget.tokens = 0;
    retention.ttl_ms = -1;
    good(&request.base);
    retention.max_checkpoints = -2;
    wrong(&request.base, "retention.max_checkpoints", "-1 is all");
    retention.max_checkpoints = 1000001;
    wrong(&request.base, "retention.max_checkpoints", "1000000");
}

static void labels_are_bounded(void **unused)
{
    Renga__V1__StartRunRequest request = start();
    Renga__V1__StartRunRequest__LabelsEntry label = RENGA__V1__START_RUN_REQUEST__LABELS_ENTRY__INIT;
    Renga__V1__StartRunRequest__LabelsEntry *labels[65];
    for (size_t i = 0; i < 65; i++)
        labels[i] = &label;
    label.key = text("team");
    label.value = text("search");
    request.labels = labels;
    request.n_labels = 64;
    good(&request.base);
    request.n_labels = 65;
    wrong(&request.base, "labels", "at most 64");
    request.n_labels = 1;
    label.value = letters(257);
    wrong(&request.base, "labels", "257 bytes under 'team'");
    label.value = text("");
    label.key = letters(65);
    wrong(&request.base, "labels", "key of 65 bytes");
}

/* ---- going on ---------------------------------------------------------------------------------------------------- */

static void a_run_or_a_thread_is_resumed(void **unused)
{
    REQUEST(ResumeRunRequest, request, resume_run_request);
    wrong(&request.base, "run_id", "so is thread_id");
    request.thread_id = text("t");
    good(&request.base);
}

static void every_json_value_is_an_answer_and_nothing_is_not(void **unused)
{
    static const char *const answers[] = {"0", "false", "\"\"", "null", "{\"a\":[]}"};
    REQUEST(ResumeRunRequest, request, resume_run_request);
    request.run_id = text("r");
    request.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        request.answer_json = text(answers[i]);
        good(&request.base);
    }
    request.answer_json = text("");
    wrong(&request.base, "answer_json", "empty");
    request.answer_json = text("yes");
    wrong(&request.base, "answer_json", "is not JSON");
}

static void answers_name_each_question_once(void **unused)
{
    REQUEST(ResumeRunRequest, request, resume_run_request);
    REQUEST(InterruptAnswer, first, interrupt_answer);
    REQUEST(InterruptAnswer, second, interrupt_answer);
    Renga__V1__InterruptAnswer *answers[] = {&first, &second};
    request.run_id = text("r");
    request.answers = answers;
    request.n_answers = 2;
    first.answer_json = second.answer_json = text("1");
    wrong(&request.base, "answers[0].interrupt_id", "required");
    first.interrupt_id = second.interrupt_id = text("i");
    wrong(&request.base, "answers[1].interrupt_id", "answers[0] too");
    second.interrupt_id = text("j");
    good(&request.base);
    second.answer_json = text("");
    wrong(&request.base, "answers[1].answer_json", "empty");
    second.answer_json = text("2");
    request.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    request.answer_json = text("3");
    wrong(&request.base, "answer_json", "one or the other");
}

static void an_outcome_goes_with_a_node(void **unused)
{
    REQUEST(UpdateStateRequest, request, update_state_request);
    request.thread_id = text("t");
    request.outcome = text("done");
    wrong(&request.base, "outcome", "as_node");
    request.as_node = text("n");
    good(&request.base);
    request.update_json = text("1");
    wrong(&request.base, "update_json", "object");
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void kinds_of_events_are_known(void **unused)
{
    REQUEST(WatchRunRequest, request, watch_run_request);
    Renga__V1__RunEventKind kinds[33] = {RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_STOPPED};
    wrong(&request.base, "run_id", "required");
    request.run_id = text("r");
    request.kinds = kinds;
    request.n_kinds = 1;
    good(&request.base);
    kinds[0] = RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_UNSPECIFIED;
    wrong(&request.base, "kinds[0]", "is 0");
    kinds[0] = (Renga__V1__RunEventKind)15;
    wrong(&request.base, "kinds[0]", "is 15");
    request.n_kinds = 33;
    wrong(&request.base, "kinds", "at most 32");
}

static void a_watcher_comes_back_with_an_id(void **unused)
{
    REQUEST(WatchRunRequest, request, watch_run_request);
    request.run_id = text("r");
    request.after_event_id = -1;
    good(&request.base);
    request.after_event_id = -2;
    wrong(&request.base, "after_event_id", "-1 or more");
    request.after_event_id = 0;
    request.heartbeat_ms = 999;
    wrong(&request.base, "heartbeat_ms", "1000 or more");
    request.heartbeat_ms = 1000;
    good(&request.base);
}

static void pages_have_at_most_five_hundred(void **unused)
{
    REQUEST(ListRunsRequest, runs, list_runs_request);
    REQUEST(ListThreadsRequest, threads, list_threads_request);
    REQUEST(ListCheckpointsRequest, checkpoints, list_checkpoints_request);
    good(&runs.base);
    good(&threads.base);
    wrong(&checkpoints.base, "thread_id", "required");
    checkpoints.thread_id = text("t");
    good(&checkpoints.base);
    runs.page_size = threads.page_size = checkpoints.page_size = 501;
    wrong(&runs.base, "page_size", "within 0 and 500");
    wrong(&threads.base, "page_size", "within 0 and 500");
    wrong(&checkpoints.base, "page_size", "within 0 and 500");
    runs.page_size = 500;
    runs.page_token = letters(257);
    wrong(&runs.base, "page_token", "at most 256");
}

static void what_is_named_must_be_named(void **unused)
{
    REQUEST(GetRunRequest, get, get_run_request);
    REQUEST(CancelRunRequest, cancel, cancel_run_request);
    REQUEST(MigrateRunRequest, migrate, migrate_run_request);
    REQUEST(GetStateRequest, state, get_state_request);
    REQUEST(ForkThreadRequest, fork, fork_thread_request);
    REQUEST(CopyThreadRequest, copy, copy_thread_request);
    REQUEST(DeleteThreadRequest, delete, delete_thread_request);
    REQUEST(DescribeAgentRequest, describe, describe_agent_request);
    wrong(&get.base, "run_id", "required");
    wrong(&cancel.base, "run_id", "required");
    wrong(&migrate.base, "run_id", "required");
    wrong(&state.base, "thread_id", "required");
    wrong(&fork.base, "thread_id", "required");
    wrong(&copy.base, "thread_id", "required");
    wrong(&delete.base, "thread_id", "required");
    wrong(&describe.base, "agent", "required");
    cancel.run_id = text("r");
    cancel.reason = letters(1025);
    wrong(&cancel.base, "reason", "at most 1024");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_needs_an_agent),
        cmocka_unit_test(names_have_no_control_characters),
        cmocka_unit_test(input_is_an_object),
        cmocka_unit_test(sizes_of_json_are_bounded),
        cmocka_unit_test(a_checkpoint_is_of_a_thread),
        cmocka_unit_test(limits_of_a_run_have_ranges),
        cmocka_unit_test(what_to_do_on_a_busy_thread_is_known),
        cmocka_unit_test(nodes_to_stop_at_are_names),
        cmocka_unit_test(budgets_and_retention_are_not_negative),
        cmocka_unit_test(labels_are_bounded),
        cmocka_unit_test(a_run_or_a_thread_is_resumed),
        cmocka_unit_test(every_json_value_is_an_answer_and_nothing_is_not),
        cmocka_unit_test(answers_name_each_question_once),
        cmocka_unit_test(an_outcome_goes_with_a_node),
        cmocka_unit_test(kinds_of_events_are_known),
        cmocka_unit_test(a_watcher_comes_back_with_an_id),
        cmocka_unit_test(pages_have_at_most_five_hundred),
        cmocka_unit_test(what_is_named_must_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
