/* What becomes of the upstream's failures: each ends in the right status, none in a silent OK. */
#include "gateway_fixture.h"

#include "http/client.h"

#include <stdio.h>
#include <string.h>

#define EVENT(name) RENGA__V1__CHAT_STREAM_EVENT__EVENT_##name

struct fault {
    const char *model;
    enum status_code code;
    const char *text;
    const char *field;
    int32_t retry_min_ms, retry_max_ms;
};

static const struct fault refusals[] = {
    {.model = "busy-ms", .code = RESOURCE_EXHAUSTED, .text = "Slow down", .retry_min_ms = 1250, .retry_max_ms = 1250},
    {.model = "busy-seconds",
     .code = RESOURCE_EXHAUSTED,
     .text = "HTTP 429",
     .retry_min_ms = 2000,
     .retry_max_ms = 2000},
    {.model = "busy-date", .code = RESOURCE_EXHAUSTED, .text = "Slow", .retry_min_ms = 25000, .retry_max_ms = 31000},
    {.model = "busy-reset", .code = RESOURCE_EXHAUSTED, .text = "Slow", .retry_min_ms = 62500, .retry_max_ms = 62500},
    {.model = "busy", .code = RESOURCE_EXHAUSTED, .text = "takes no more requests at present"},
    {.model = "poor", .code = RESOURCE_EXHAUSTED, .text = "You exceeded your current quota"},
    {.model = "locked", .code = FAILED_PRECONDITION, .text = "Incorrect API key provided: [key], or [key]"},
    {.model = "gone", .code = NOT_FOUND, .text = "The model `gone` does not exist"},
    {.model = "lost", .code = FAILED_PRECONDITION, .text = "look at its key and base URL"},
    {.model = "moved", .code = FAILED_PRECONDITION, .text = "HTTP 308"},
    {.model = "picky", .code = INVALID_ARGUMENT, .text = "Unsupported value", .field = "sampling.temperature"},
    {.model = "too-long", .code = INVALID_ARGUMENT, .text = "maximum context length", .field = "messages"},
    {.model = "too-large", .code = INVALID_ARGUMENT, .text = "HTTP 413"},
    {.model = "broken", .code = UNAVAILABLE, .text = "The server had an error"},
    {.model = "overloaded", .code = UNAVAILABLE, .text = "Overloaded", .retry_min_ms = 3000, .retry_max_ms = 3000},
    {.model = "closes", .code = UNAVAILABLE, .text = "upstream c"},
};

static const struct fault whole_faults[] = {
    {.model = "resets", .code = UNAVAILABLE, .text = "upstream c"},
    {.model = "cuts-json", .code = DATA_LOSS, .text = "upstream c"},
    {.model = "short-json", .code = DATA_LOSS, .text = "are not JSON"},
    {.model = "error-in-200", .code = UNAVAILABLE, .text = "The server had an error"},
    {.model = "html", .code = DATA_LOSS, .text = "no JSON but text/html"},
    {.model = "huge", .code = DATA_LOSS, .text = "larger than the gateway takes"},
    {.model = "bomb", .code = DATA_LOSS, .text = "larger than the gateway takes"},
};

/* Before the client has seen anything of the answer. */
static const struct fault early_faults[] = {
    {.model = "hangs", .code = UNAVAILABLE, .text = "was silent for 1000 ms"},
    {.model = "error-first", .code = UNAVAILABLE, .text = "Too busy to begin"},
    {.model = "error-in-200", .code = UNAVAILABLE, .text = "The server had an error"},
    {.model = "html", .code = DATA_LOSS, .text = "no JSON but text/html"},
    {.model = "big-event", .code = DATA_LOSS, .text = "has more than 1048576 bytes"},
    {.model = "cuts-json", .code = DATA_LOSS, .text = "upstream c"},
};

/* After its beginning has been handed on. */
static const struct fault late_faults[] = {
    {.model = "cuts-stream", .code = DATA_LOSS, .text = "upstream c"},
    {.model = "resets", .code = DATA_LOSS, .text = "upstream c"},
    {.model = "ends-early", .code = DATA_LOSS, .text = "it may have been cut"},
    {.model = "no-finish", .code = DATA_LOSS, .text = "it may have been cut"},
    {.model = "aborts", .code = DATA_LOSS, .text = "ended with 'abort'"},
    {.model = "stalls", .code = DATA_LOSS, .text = "was silent for 1000 ms"},
    {.model = "error-midway", .code = DATA_LOSS, .text = "Lost the thread"},
    {.model = "garbage", .code = DATA_LOSS, .text = "an event of the stream is not JSON"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check(const struct reply *reply, const struct fault *fault)
{
    assert_status(reply, fault->code, fault->text);
    assert_string_equal(reply->status.field, fault->field ? fault->field : "");
    assert_in_range(reply->status.retry_after_ms, fault->retry_min_ms, fault->retry_max_ms);
}

/* Others are served as before, and nothing is left behind. */
static void check_that_all_is_well(struct fixture *fixture)
{
    struct http_client_stats stats;
    struct reply *reply = ask_model(fixture, "chat");
    assert_status(reply, OK, "");
    reply_free(reply);
    loop_enter(fixture->loop);
    http_client_stats(fixture->http, &stats);
    loop_leave(fixture->loop);
    assert_int_equal(stats.running, 0);
    assert_int_equal(stats.queued, 0);
}

static void what_the_upstream_refuses_is_said_with_its_reason(void **state)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct reply *reply = ask_model(*state, refusals[i].model);
        check(reply, &refusals[i]);
        reply_free(reply);
    }
    check_that_all_is_well(*state);
}

static void a_refused_stream_is_a_refused_call(void **state)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct reply *reply = stream_model(*state, refusals[i].model);
        check(reply, &refusals[i]);
        assert_int_equal(reply->event_count, 0);
        reply_free(reply);
    }
    check_that_all_is_well(*state);
}

static void an_answer_that_cannot_be_used_is_no_answer(void **state)
{
    for (size_t i = 0; i < COUNT(whole_faults); i++) {
        struct reply *reply = ask_model(*state, whole_faults[i].model);
        check(reply, &whole_faults[i]);
        assert_null(reply->response);
        reply_free(reply);
    }
    check_that_all_is_well(*state);
}

static void a_stream_that_never_began_brings_only_a_status(void **state)
{
    for (size_t i = 0; i < COUNT(early_faults); i++) {
        struct reply *reply = stream_model(*state, early_faults[i].model);
        check(reply, &early_faults[i]);
        assert_int_equal(reply->event_count, 0);
        reply_free(reply);
    }
    check_that_all_is_well(*state);
}

static void a_stream_that_was_cut_ends_with_its_usage_and_data_loss(void **state)
{
    for (size_t i = 0; i < COUNT(late_faults); i++) {
        struct reply *reply = stream_model(*state, late_faults[i].model);
        check(reply, &late_faults[i]);
        assert_int_equal(reply->events[0]->event_case, EVENT(START));
        const Renga__V1__ChatStreamEvent *last = last_event(reply, EVENT(USAGE));
        assert_non_null(last);
        assert_true(last->usage->output_tokens > 0);
        Renga__V1__Usage *usage = (Renga__V1__Usage *)detail(reply, &renga__v1__usage__descriptor);
        assert_non_null(usage);
        assert_int_equal(usage->output_tokens, last->usage->output_tokens);
        renga__v1__usage__free_unpacked(usage, NULL);
        reply_free(reply);
    }
    check_that_all_is_well(*state);
}

static void an_empty_account_is_told_from_a_rate(void **state)
{
    struct reply *reply = ask_model(*state, "poor");
    Google__Rpc__ErrorInfo *info = (Google__Rpc__ErrorInfo *)detail(reply, &google__rpc__error_info__descriptor);
    assert_non_null(info);
    assert_string_equal(info->reason, "INSUFFICIENT_QUOTA");
    assert_string_equal(info->domain, "renga");
    google__rpc__error_info__free_unpacked(info, NULL);
    reply_free(reply);
}

static void nothing_is_asked_twice(void **state)
{
    static const char *const models[] = {"broken", "busy", "closes", "cuts-json"};
    for (size_t i = 0; i < COUNT(models); i++) {
        int64_t before = seen_number(*state, models[i], "requests");
        reply_free(ask_model(*state, models[i]));
        assert_int_equal(seen_number(*state, models[i], "requests"), before + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_upstream_refuses_is_said_with_its_reason),
        cmocka_unit_test(a_refused_stream_is_a_refused_call),
        cmocka_unit_test(an_answer_that_cannot_be_used_is_no_answer),
        cmocka_unit_test(a_stream_that_never_began_brings_only_a_status),
        cmocka_unit_test(a_stream_that_was_cut_ends_with_its_usage_and_data_loss),
        cmocka_unit_test(an_empty_account_is_told_from_a_rate),
        cmocka_unit_test(nothing_is_asked_twice),
    };
    return run_both_ways("Faults", tests, COUNT(tests));
}
