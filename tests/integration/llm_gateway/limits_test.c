/* Limits as callers meet them, beside each other: what is refused, what waits, what is told. */
#include "gateway_fixture.h"

#include <stdio.h>
#include <string.h>

#define CALLERS 64

/* Everybody is the same client here ("", since no keys are asked for), so each model is a test of its own by what it
 * costs: one is paid for in tokens that the client does not have. */
static const char document[] =
    "{\"deployments\": {\"one\": {\"upstream\": \"http://127.0.0.1:PORT/v1\"},"
    "                   \"narrow\": {\"upstream\": \"http://127.0.0.1:PORT/v1\", \"limits\": {\"concurrency\": 1}}},"
    "\"models\": {\"default\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"chat\"}]},"
    "\"slow\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"slow\"}]},"
    "\"budget\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"slow.b\"}]},"
    "\"narrow\": {\"targets\": [{\"deployment\": \"narrow\", \"model\": \"slow.narrow\"}]}},"
    "\"clients\": {\"*\": {\"tokens_per_minute\": 20000, \"concurrency\": 4}}}";

static Google__Rpc__QuotaFailure *quota_failure(const struct reply *reply)
{
    return (Google__Rpc__QuotaFailure *)detail(reply, &google__rpc__quota_failure__descriptor);
}

/* Asks for answers of this length at the same time. */
static unsigned admitted_of(struct fixture *fixture, const char *model, int32_t output_tokens)
{
    struct question question;
    struct reply *replies[CALLERS];
    unsigned admitted = 0;
    question_init(&question, model);
    question.request.max_output_tokens = output_tokens;
    for (int i = 0; i < CALLERS; i++) {
        replies[i] = reply_create(fixture);
        begin_ask(replies[i], &question);
    }
    for (int i = 0; i < CALLERS; i++) {
        await(replies[i]);
        admitted += replies[i]->status.code == OK;
        if (replies[i]->status.code != OK)
            assert_status(replies[i], RESOURCE_EXHAUSTED, "tokens");
        reply_free(replies[i]);
    }
    return admitted;
}

static void callers_at_the_same_time_wait_for_the_clients_places(void **state)
{
    int64_t before = seen_number(*state, "slow", "requests");
    unsigned admitted = admitted_of(*state, "slow", 1);
    assert_int_equal(seen_number(*state, "slow", "requests") - before, admitted);
    assert_true(admitted > 0);
    assert_in_range(seen_number(*state, "slow", "most"), 1, 4);
}

static void callers_of_a_model_with_few_places_wait_for_them_and_may_leave(void **state)
{
    struct question question;
    struct reply *replies[8];
    int64_t before = seen_number(*state, "slow.narrow", "requests");
    question_init(&question, "narrow");
    question.request.max_output_tokens = 1;
    for (int i = 0; i < 8; i++) {
        replies[i] = reply_create(*state);
        begin_ask(replies[i], &question);
    }
    loop_enter(replies[0]->fixture->loop);
    rpc_client_call_cancel(&replies[2]->call);
    rpc_client_call_cancel(&replies[6]->call);
    loop_leave(replies[0]->fixture->loop);
    unsigned answered = 0;
    for (int i = 0; i < 8; i++) {
        await(replies[i]);
        answered += replies[i]->status.code == OK;
        if (i != 2 && i != 6)
            assert_status(replies[i], OK, "");
        reply_free(replies[i]);
    }
    assert_in_range(answered, 6, 8);
    assert_in_range(seen_number(*state, "slow.narrow", "requests") - before, answered, 8);
    assert_int_equal(seen_number(*state, "slow.narrow", "most"), 1);
}

static void a_caller_whose_time_is_up_before_a_place_is_free_is_told_so(void **state)
{
    struct question question;
    struct reply *replies[4];
    question_init(&question, "narrow");
    question.request.max_output_tokens = 1;
    for (int i = 0; i < 4; i++) {
        question.timeout_ms = i == 3 ? 20 : 5000;
        replies[i] = reply_create(*state);
        begin_ask(replies[i], &question);
    }
    for (int i = 0; i < 4; i++) {
        await(replies[i]);
        assert_int_equal(replies[i]->status.code, i == 3 ? DEADLINE_EXCEEDED : OK);
        reply_free(replies[i]);
    }
}

static void a_budget_of_tokens_is_never_overdrawn_by_callers_at_the_same_time(void **state)
{
    assert_true(admitted_of(*state, "budget", 7000) > 0);
    assert_in_range(seen_number(*state, "slow.b", "most"), 1, 2); /* three would be more than 20,000 */
}

static void who_is_over_the_limit_is_told_which_and_for_how_long(void **state)
{
    struct question question;
    struct reply *replies[3];
    unsigned refused = 0;
    question_init(&question, "slow");
    question.request.max_output_tokens = 15000; /* twice is more than there is, however much is left */
    for (size_t i = 0; i < 3; i++) {
        replies[i] = reply_create(*state);
        begin_ask(replies[i], &question);
    }
    for (size_t i = 0; i < 3; i++) {
        await(replies[i]);
        if (replies[i]->status.code == OK)
            continue;
        refused++;
        assert_status(replies[i], RESOURCE_EXHAUSTED, "tokens");
        assert_in_range(replies[i]->status.retry_after_ms, 1, 60000);
        Google__Rpc__QuotaFailure *quota = quota_failure(replies[i]);
        assert_non_null(quota);
        assert_int_equal(quota->n_violations, 1);
        assert_string_equal(quota->violations[0]->subject, "client");
        assert_non_null(strstr(quota->violations[0]->description, "tokens_per_minute"));
        google__rpc__quota_failure__free_unpacked(quota, NULL);
    }
    assert_true(refused >= 2);
    for (size_t i = 0; i < 3; i++)
        reply_free(replies[i]);
}

static void a_request_that_can_never_pass_is_told_so(void **state)
{
    struct question question;
    question_init(&question, "default");
    question.request.max_output_tokens = 30000;
    struct reply *reply = ask(*state, &question);
    assert_status(reply, RESOURCE_EXHAUSTED, "20000");
    assert_int_equal(reply->status.retry_after_ms, 0);
    reply_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_at_the_same_time_wait_for_the_clients_places),
        cmocka_unit_test(callers_of_a_model_with_few_places_wait_for_them_and_may_leave),
        cmocka_unit_test(a_caller_whose_time_is_up_before_a_place_is_free_is_told_so),
        cmocka_unit_test(a_budget_of_tokens_is_never_overdrawn_by_callers_at_the_same_time),
        cmocka_unit_test(who_is_over_the_limit_is_told_which_and_for_how_long),
        cmocka_unit_test(a_request_that_can_never_pass_is_told_so),
    };
    return run_both_ways_over(document, "limits", tests, sizeof tests / sizeof tests[0]);
}
