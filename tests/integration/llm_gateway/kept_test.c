/* Answers that are kept, shared and repeated, and what the accounts say of it. */
#include "gateway_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define USE(name) RENGA__V1__CACHE_USE__CACHE_USE_##name

static const char document[] =
    "{\"deployments\": {\"one\": {\"upstream\": \"http://127.0.0.1:PORT/v1\"}},"
    "\"models\": {\"default\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"chat\"}]},"
    "\"kept\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"chat.kept\"}],"
    "           \"cache\": {\"read\": true, \"write\": true, \"ttl\": \"10m\"}},"
    "\"waits\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"waits\"}]},"
    "\"mends\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"too-large\"}]},"
    "\"cut\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"cuts-stream\"}]},"
    "\"tools\": {\"targets\": [{\"deployment\": \"one\", \"model\": \"tools\"}]}},"
    "\"prices\": {\"chat\": {\"input\": 100, \"cached_input\": 10, \"output\": 1000}}}";

/* A question that nobody has asked before. */
static void init_new(struct question *question, const char *model, char text[64])
{
    static int count;
    question_init(question, model);
    snprintf(text, 64, "question %d of %lld", ++count, (long long)clock_now_ns());
    question->message.content = text;
}

static void the_same_question_is_answered_once_and_costs_nothing_then(void **state)
{
    char text[64];
    struct question question;
    init_new(&question, "kept", text);
    int64_t before = seen_number(*state, "chat.kept", "requests");
    struct reply *first = ask(*state, &question), *second = ask(*state, &question);
    assert_status(first, OK, "");
    assert_status(second, OK, "");
    assert_int_equal(seen_number(*state, "chat.kept", "requests") - before, 1);
    assert_int_equal(first->response->finish->cache_use, USE(STORED));
    assert_int_equal(second->response->finish->cache_use, USE(HIT));
    assert_string_equal(first->response->message->content, second->response->message->content);
    assert_int_equal(second->response->finish->usage->input_tokens, 0);
    assert_int_equal(second->response->finish->usage->model_calls, 0);
    assert_int_equal(second->response->finish->n_attempts, 0);
    reply_free(first);
    reply_free(second);
}

static void a_stream_takes_a_whole_answer_and_the_other_way_round(void **state)
{
    char text[64];
    struct question question;
    init_new(&question, "kept", text);
    struct reply *streamed = ask_stream(*state, &question), *whole = ask(*state, &question);
    struct reply *again = ask_stream(*state, &question);
    assert_status(streamed, OK, "");
    assert_status(whole, OK, "");
    assert_status(again, OK, "");
    assert_int_equal(whole->response->finish->cache_use, USE(HIT));
    assert_string_equal(whole->response->message->content, buffer_text(&streamed->text));
    assert_string_equal(buffer_text(&again->text), buffer_text(&streamed->text));
    assert_non_null(last_event(again, RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH));
    reply_free(streamed);
    reply_free(whole);
    reply_free(again);
}

static void a_request_may_say_otherwise_than_its_route(void **state)
{
    char text[64];
    struct question question;
    Renga__V1__CacheControl none = RENGA__V1__CACHE_CONTROL__INIT;
    init_new(&question, "kept", text);
    question.request.cache = &none;
    struct reply *first = ask(*state, &question), *second = ask(*state, &question);
    assert_int_equal(second->response->finish->cache_use, USE(UNSPECIFIED));
    assert_int_equal(second->response->finish->usage->model_calls, 1);
    reply_free(first);
    reply_free(second);
}

static void identical_questions_at_the_same_time_are_asked_once(void **state)
{
    enum { CALLS = 16 };
    char text[64];
    struct question question;
    struct reply *replies[CALLS];
    Renga__V1__CacheControl share = RENGA__V1__CACHE_CONTROL__INIT;
    share.read = 1;
    init_new(&question, "waits", text);
    question.request.cache = &share;
    int64_t before = seen_number(*state, "waits", "requests");
    for (int i = 0; i < CALLS; i++) {
        replies[i] = reply_create(*state);
        begin_ask(replies[i], &question);
    }
    unsigned shared = 0;
    for (int i = 0; i < CALLS; i++) {
        await(replies[i]);
        assert_status(replies[i], OK, "");
        shared += replies[i]->response->finish->cache_use == USE(COALESCED);
        reply_free(replies[i]);
    }
    assert_int_equal(seen_number(*state, "waits", "requests") - before, 1);
    assert_int_equal(shared, CALLS - 1);
}

static void an_idempotency_key_brings_the_same_answer_again(void **state)
{
    char text[64], key[80];
    struct question question;
    init_new(&question, "tools", text);
    snprintf(key, sizeof key, "key of %s", text);
    question.request.idempotency_key = key;
    int64_t before = seen_number(*state, "tools", "requests");
    struct reply *first = ask(*state, &question), *second = ask(*state, &question);
    assert_int_equal(seen_number(*state, "tools", "requests") - before, 1);
    assert_int_equal(second->response->finish->cache_use, USE(REPEATED));
    assert_int_equal(second->response->message->n_tool_calls, 2);
    assert_string_equal(second->response->message->tool_calls[1]->arguments_json, "{\"city\":\"京都\"}");
    question.message.content = (char *)(uintptr_t) "something else";
    struct reply *other = ask(*state, &question);
    assert_status(other, INVALID_ARGUMENT, "has been used for another request");
    assert_string_equal(other->status.field, "idempotency_key");
    reply_free(first);
    reply_free(second);
    reply_free(other);
}

static void a_failure_is_not_kept(void **state)
{
    char text[64];
    struct question question;
    init_new(&question, "mends", text);
    question.request.idempotency_key = text;
    int64_t before = seen_number(*state, "too-large", "requests");
    for (int i = 0; i < 2; i++) {
        struct reply *reply = ask(*state, &question);
        assert_status(reply, INVALID_ARGUMENT, "HTTP 413");
        reply_free(reply);
    }
    assert_int_equal(seen_number(*state, "too-large", "requests") - before, 2);
}

/* ---- accounts ---------------------------------------------------------------------------------------------------- */

struct report {
    struct rpc_client_call call;
    sem_t done;
    Renga__V1__GetUsageResponse *response;
};

static void reported(const Renga__V1__GetUsageResponse *response, void *data)
{
    struct report *report = ((struct rpc_client_call *)data)->owner;
    if (response) {
        size_t size = renga__v1__get_usage_response__get_packed_size(response);
        uint8_t *bytes = malloc(size);
        renga__v1__get_usage_response__pack(response, bytes);
        report->response = renga__v1__get_usage_response__unpack(NULL, size, bytes);
        free(bytes);
    }
    sem_post(&report->done);
}

/* The totals of a run; to be freed. */
static Renga__V1__GetUsageResponse *usage_of(struct fixture *fixture, char *run)
{
    struct report report = {0};
    struct timespec until;
    Renga__V1__GetUsageRequest request = RENGA__V1__GET_USAGE_REQUEST__INIT;
    request.run_id = run;
    sem_init(&report.done, 0, 0);
    loop_enter(fixture->loop);
    rpc_client_call_init(&report.call, fixture->loop, NULL);
    report.call.owner = &report;
    renga__v1__llm_gateway__get_usage(fixture->stub, &request, reported, &report.call);
    loop_leave(fixture->loop);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    assert_int_equal(sem_timedwait(&report.done, &until), 0);
    assert_non_null(report.response);
    return report.response;
}

static void the_accounts_have_what_each_call_used(void **state)
{
    char text[64];
    struct question question;
    Renga__V1__CallOrigin origin = RENGA__V1__CALL_ORIGIN__INIT;
    init_new(&question, "default", text);
    origin.run_id = text;
    question.request.origin = &origin;
    struct reply *whole = ask(*state, &question), *streamed = ask_stream(*state, &question);
    question.request.model = (char *)(uintptr_t) "mends";
    struct reply *failed = ask(*state, &question);
    question.request.model = (char *)(uintptr_t) "kept";
    struct reply *stored = ask(*state, &question), *hit = ask(*state, &question);
    assert_int_equal(hit->response->finish->cache_use, USE(HIT));

    Renga__V1__GetUsageResponse *accounts = usage_of(*state, text);
    const Renga__V1__UsageRow *totals = accounts->totals;
    assert_int_equal(totals->calls, 5);
    assert_int_equal(totals->failed_calls, 1);
    assert_int_equal(totals->cached_calls, 1);
    assert_int_equal(totals->usage->input_tokens, 3 * 21);
    assert_int_equal(totals->usage->output_tokens, 3 * 9);
    assert_int_equal(totals->usage->model_calls, 4);
    /* 16 tokens at 100 and 5 at 10 USD for a million, 9 at 1,000; twice: "chat.kept" has no price */
    assert_int_equal(whole->response->finish->usage->cost_micros, 1600 + 50 + 9000);
    assert_int_equal(totals->usage->cost_micros, 2 * (1600 + 50 + 9000));
    assert_int_equal(whole->response->finish->usage->unpriced_calls, 0);
    assert_int_equal(stored->response->finish->usage->unpriced_calls, 1);
    assert_int_equal(totals->usage->unpriced_calls, 2);
    renga__v1__get_usage_response__free_unpacked(accounts, NULL);
    struct reply *all[] = {whole, streamed, failed, stored, hit};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        reply_free(all[i]);
}

static void a_stream_that_was_cut_is_settled_and_marked(void **state)
{
    char text[64];
    struct question question;
    Renga__V1__CallOrigin origin = RENGA__V1__CALL_ORIGIN__INIT;
    init_new(&question, "cut", text);
    origin.run_id = text;
    question.request.origin = &origin;
    struct reply *reply = ask_stream(*state, &question);
    assert_status(reply, DATA_LOSS, "");
    const Renga__V1__ChatStreamEvent *last = last_event(reply, RENGA__V1__CHAT_STREAM_EVENT__EVENT_USAGE);
    assert_non_null(last);
    Renga__V1__GetUsageResponse *accounts = usage_of(*state, text);
    assert_int_equal(accounts->totals->failed_calls, 1);
    assert_true(accounts->totals->usage->estimated);
    assert_int_equal(accounts->totals->usage->output_tokens, last->usage->output_tokens);
    assert_true(last->usage->output_tokens > 0);
    renga__v1__get_usage_response__free_unpacked(accounts, NULL);
    reply_free(reply);
}

static void a_call_that_was_left_is_settled_as_cancelled(void **state)
{
    char text[64];
    struct question question;
    Renga__V1__CallOrigin origin = RENGA__V1__CALL_ORIGIN__INIT;
    init_new(&question, "waits", text);
    origin.run_id = text;
    question.request.origin = &origin;
    struct reply *reply = reply_create(*state);
    begin_ask(reply, &question);
    usleep(10000);
    loop_enter(reply->fixture->loop);
    rpc_client_call_cancel(&reply->call);
    loop_leave(reply->fixture->loop);
    await(reply);
    assert_status(reply, CANCELLED, "");
    Renga__V1__GetUsageResponse *accounts = usage_of(*state, text);
    for (int i = 0; i < 600 && accounts->totals->calls == 0;
         i++) { /* over gRPC the gateway hears of it a little later */
        renga__v1__get_usage_response__free_unpacked(accounts, NULL);
        usleep(20000);
        accounts = usage_of(*state, text);
    }
    assert_int_equal(accounts->totals->calls, 1);
    assert_int_equal(accounts->totals->cancelled_calls, 1);
    assert_int_equal(accounts->totals->failed_calls, 0);
    renga__v1__get_usage_response__free_unpacked(accounts, NULL);
    reply_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_question_is_answered_once_and_costs_nothing_then),
        cmocka_unit_test(a_stream_takes_a_whole_answer_and_the_other_way_round),
        cmocka_unit_test(a_request_may_say_otherwise_than_its_route),
        cmocka_unit_test(identical_questions_at_the_same_time_are_asked_once),
        cmocka_unit_test(an_idempotency_key_brings_the_same_answer_again),
        cmocka_unit_test(a_failure_is_not_kept),
        cmocka_unit_test(the_accounts_have_what_each_call_used),
        cmocka_unit_test(a_stream_that_was_cut_is_settled_and_marked),
        cmocka_unit_test(a_call_that_was_left_is_settled_as_cancelled),
    };
    return run_both_ways_over(document, "kept", tests, sizeof tests / sizeof tests[0]);
}
