/* Several deployments behind one model: who is asked, who stands in, how often, and when not. */
#include "gateway_fixture.h"

#include <stdio.h>
#include <string.h>

#define FALLBACK RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK

/* One deployment for each name, so that none is tired of the tests of another. */
#define DEPLOYMENT(name) "\"" name "\": {\"upstream\": \"http://127.0.0.1:PORT/v1\", \"key\": \"" KEY "\"},"
#define FAST_RETRY       "\"retry\": {\"attempts\": 3, \"base\": \"10ms\", \"max\": \"20ms\", \"longest_hint\": \"1s\"}"
#define PAIR(model, first, second)                                                                                     \
    "\"" model "\": {" FAST_RETRY ", \"targets\": [{\"deployment\": \"" model "-1\", \"model\": \"" first "\"},"       \
    "{\"deployment\": \"" model "-2\", \"model\": \"" second "\", \"rank\": 1}]},"
#define ALONE(model, first)                                                                                            \
    "\"" model "\": {" FAST_RETRY ", \"targets\": [{\"deployment\": \"" model "-1\", \"model\": \"" first "\"}]},"

static const char document[] = "{\"deployments\": {" DEPLOYMENT("default-1") DEPLOYMENT("breaks-1") DEPLOYMENT(
    "breaks-2") DEPLOYMENT("poor-1") DEPLOYMENT("again-1") DEPLOYMENT("again-2") DEPLOYMENT("poor-2")
    DEPLOYMENT("locked-1") DEPLOYMENT("locked-2") DEPLOYMENT("refused-1") DEPLOYMENT("refused-2") DEPLOYMENT("late-1")
        DEPLOYMENT("late-2") DEPLOYMENT("early-1") DEPLOYMENT("early-2") DEPLOYMENT("alone-1") DEPLOYMENT("mends-1")
            DEPLOYMENT("tires-1") DEPLOYMENT("breaker-1") DEPLOYMENT("breaker-2") DEPLOYMENT("shared-1") DEPLOYMENT(
                "shared-2") "\"narrow-1\": {\"upstream\": \"http://127.0.0.1:PORT/v1\", \"limits\": {\"concurrency\": "
                            "2}}},"
                            "\"models\": {" ALONE("default", "chat") PAIR("breaks", "broken.1", "chat.2")
                                PAIR("again", "broken.16", "chat.17") PAIR("poor", "poor.1", "chat.3")
                                    PAIR("locked", "locked.1", "chat.4") PAIR("refused", "too-large.1", "chat.5") PAIR(
                                        "late", "cuts-stream.1", "chat.6") PAIR("early", "error-first.1", "chat.7")
                                        ALONE("alone", "broken.8") ALONE("mends", "mends.9") ALONE("tires", "tires.10")
                                            PAIR("breaker", "broken.11", "chat.12") ALONE(
                                                "narrow",
                                                "slow.13") "\"shared\": {\"targets\": [{\"deployment\": \"shared-1\", "
                                                           "\"model\": \"chat.14\", \"weight\": 3},"
                                                           "{\"deployment\": \"shared-2\", \"model\": \"chat.15\"}]}}}";

/* How many more requests of a model the upstream has seen. */
static int64_t requests(struct fixture *fixture, const char *model)
{
    return seen_number(fixture, model, "requests");
}

static void assert_fell_back(const Renga__V1__ChatFinish *finish, size_t attempts)
{
    assert_int_equal(finish->n_attempts, attempts);
    assert_int_equal(finish->n_degradations, 1);
    assert_int_equal(finish->degradations[0]->kind, FALLBACK);
    assert_int_equal(finish->attempts[attempts - 1]->status_code, OK);
    assert_int_equal(finish->usage->model_calls, attempts);
    assert_string_equal(finish->answered_by->deployment, finish->attempts[attempts - 1]->asked->deployment);
}

static void a_deployment_that_fails_is_tried_as_the_policy_says_and_then_replaced(void **state)
{
    bool again = requests(*state, "broken.1") > 0; /* the second way in; the breaker remembers the first */
    const char *model = again ? "again" : "breaks";
    struct reply *reply = ask_model(*state, model);
    assert_status(reply, OK, "");
    assert_fell_back(reply->response->finish, 4);
    assert_int_equal(requests(*state, again ? "broken.16" : "broken.1"), 3);
    assert_int_equal(requests(*state, again ? "chat.17" : "chat.2"), 1);
    assert_int_equal(reply->response->finish->attempts[0]->status_code, UNAVAILABLE);
    assert_int_equal(reply->response->finish->attempts[0]->http_status, 500);
    assert_non_null(strstr(reply->response->finish->attempts[0]->error, "The server had an error"));
    reply_free(reply);
}

static void an_empty_account_is_replaced_at_once(void **state)
{
    int64_t first = requests(*state, "poor.1");
    struct reply *reply = ask_model(*state, "poor");
    assert_status(reply, OK, "");
    assert_true(requests(*state, "poor.1") - first <= 1); /* none where it rests from the time before */
    assert_int_equal(reply->response->finish->n_degradations, 1);
    reply_free(reply);
}

static void a_key_that_is_refused_is_replaced_at_once(void **state)
{
    int64_t first = requests(*state, "locked.1");
    struct reply *reply = ask_model(*state, "locked");
    assert_status(reply, OK, "");
    assert_fell_back(reply->response->finish, 2);
    assert_int_equal(requests(*state, "locked.1") - first, 1);
    assert_null(strstr(reply->response->finish->attempts[0]->error, KEY));
    reply_free(reply);
}

static void a_request_that_is_wrong_is_wrong_everywhere(void **state)
{
    int64_t first = requests(*state, "too-large.1"), second = requests(*state, "chat.5");
    struct reply *reply = ask_model(*state, "refused");
    assert_status(reply, INVALID_ARGUMENT, "HTTP 413");
    assert_int_equal(requests(*state, "too-large.1") - first, 1);
    assert_int_equal(requests(*state, "chat.5"), second);
    reply_free(reply);
}

static void a_stream_that_fails_before_its_first_token_falls_back(void **state)
{
    struct reply *reply = stream_model(*state, "early");
    assert_status(reply, OK, "");
    const Renga__V1__ChatStreamEvent *last = last_event(reply, RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH);
    assert_non_null(last);
    assert_int_equal(reply->events[0]->event_case, RENGA__V1__CHAT_STREAM_EVENT__EVENT_START);
    assert_string_equal(reply->events[0]->start->answered_by->deployment, "early-2");
    assert_int_equal(last->finish->n_degradations, 1);
    reply_free(reply);
}

static void a_stream_that_fails_after_its_first_token_never_does(void **state)
{
    int64_t first = requests(*state, "cuts-stream.1"), second = requests(*state, "chat.6");
    struct reply *reply = stream_model(*state, "late");
    assert_status(reply, DATA_LOSS, "");
    assert_non_null(last_event(reply, RENGA__V1__CHAT_STREAM_EVENT__EVENT_USAGE));
    assert_int_equal(requests(*state, "cuts-stream.1") - first, 1);
    assert_int_equal(requests(*state, "chat.6"), second);
    reply_free(reply);
}

static void where_nobody_stands_in_the_last_failure_is_told(void **state)
{
    int64_t before = requests(*state, "broken.8");
    struct reply *reply = ask_model(*state, "alone");
    assert_status(reply, UNAVAILABLE, "The server had an error");
    assert_int_equal(requests(*state, "broken.8") - before, 3);
    reply_free(reply);
}

static void what_mends_within_the_policy_is_no_failure(void **state)
{
    struct reply *reply = ask_model(*state, "mends");
    assert_status(reply, OK, "");
    assert_int_equal(reply->response->finish->n_degradations, 0);
    reply_free(reply);
}

static void a_provider_that_asks_for_a_rest_gets_it(void **state)
{
    struct reply *reply = ask_model(*state, "tires");
    assert_status(reply, OK, "");
    if (reply->response->finish->n_attempts == 2) /* the first way in; later it is awake */
        assert_true(
            reply->response->finish->attempts[1]->started_ms - reply->response->finish->attempts[0]->started_ms >= 300);
    reply_free(reply);
}

static void a_deployment_that_keeps_failing_is_left_alone(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct reply *reply = ask_model(*state, "breaker");
        assert_status(reply, OK, "");
        reply_free(reply);
    }
    int64_t before = requests(*state, "broken.11");
    struct reply *reply = ask_model(*state, "breaker");
    assert_status(reply, OK, "");
    assert_int_equal(reply->response->finish->n_attempts, 1);
    assert_int_equal(reply->response->finish->n_degradations, 1);
    assert_int_equal(requests(*state, "broken.11"), before);
    reply_free(reply);
}

static void a_deployments_places_are_never_overdrawn(void **state)
{
    enum { CALLS = 12 };
    struct question question;
    struct reply *replies[CALLS];
    question_init(&question, "narrow");
    for (int i = 0; i < CALLS; i++) {
        replies[i] = reply_create(*state);
        begin_ask(replies[i], &question);
    }
    for (int i = 0; i < CALLS; i++) {
        await(replies[i]);
        assert_status(replies[i], OK, "");
        reply_free(replies[i]);
    }
    assert_int_equal(seen_number(*state, "slow.13", "most"), 2);
}

static void the_load_is_shared_by_weight(void **state)
{
    enum { CALLS = 200 };
    int64_t heavy = requests(*state, "chat.14"), light = requests(*state, "chat.15");
    for (int i = 0; i < CALLS; i++) {
        struct reply *reply = ask_model(*state, "shared");
        assert_status(reply, OK, "");
        reply_free(reply);
    }
    heavy = requests(*state, "chat.14") - heavy;
    light = requests(*state, "chat.15") - light;
    assert_int_equal(heavy + light, CALLS);
    assert_in_range(heavy, CALLS * 6 / 10, CALLS * 9 / 10); /* 3 : 1, by chance */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployment_that_fails_is_tried_as_the_policy_says_and_then_replaced),
        cmocka_unit_test(an_empty_account_is_replaced_at_once),
        cmocka_unit_test(a_key_that_is_refused_is_replaced_at_once),
        cmocka_unit_test(a_request_that_is_wrong_is_wrong_everywhere),
        cmocka_unit_test(a_stream_that_fails_before_its_first_token_falls_back),
        cmocka_unit_test(a_stream_that_fails_after_its_first_token_never_does),
        cmocka_unit_test(where_nobody_stands_in_the_last_failure_is_told),
        cmocka_unit_test(what_mends_within_the_policy_is_no_failure),
        cmocka_unit_test(a_provider_that_asks_for_a_rest_gets_it),
        cmocka_unit_test(a_deployment_that_keeps_failing_is_left_alone),
        cmocka_unit_test(a_deployments_places_are_never_overdrawn),
        cmocka_unit_test(the_load_is_shared_by_weight),
    };
    return run_both_ways_over(document, "routes", tests, sizeof tests / sizeof tests[0]);
}
