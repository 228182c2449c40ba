/* LlmGateway.ChatStream: pieces, back-pressure, and leaving. */
#include "gateway_fixture.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSE         "古池や蛙飛びこむ水の音 🐸 – an old pond"
#define REASON(name)  RENGA__V1__FINISH_REASON__FINISH_REASON_##name
#define EVENT(name)   RENGA__V1__CHAT_STREAM_EVENT__EVENT_##name
#define NOTICE_MAX_NS (20 * NS_PER_MS) /* for the upstream to notice that the client has left */

static const Renga__V1__ChatFinish *finish_of(const struct reply *reply)
{
    const Renga__V1__ChatStreamEvent *last = last_event(reply, EVENT(FINISH));
    assert_non_null(last);
    return last->finish;
}

static void a_stream_brings_start_pieces_and_finish(void **state)
{
    struct reply *reply = stream_model(*state, "chat");
    assert_status(reply, OK, "");
    assert_int_equal(reply->events[0]->event_case, EVENT(START));
    assert_string_equal(reply->events[0]->start->id, "chatcmpl-2");
    assert_string_equal(reply->events[0]->start->answered_by->model, "scripted-2026");
    for (size_t i = 1; i + 1 < reply->event_count; i++)
        assert_int_equal(reply->events[i]->event_case, EVENT(TEXT));
    assert_int_equal(reply->event_count, 6); /* four pieces: the empty first delta is none */
    assert_string_equal(buffer_text(&reply->text), VERSE);
    assert_int_equal(finish_of(reply)->finish_reason, REASON(STOP));
    reply_free(reply);
}

static void the_finish_of_a_stream_has_the_usage(void **state)
{
    struct reply *reply = stream_model(*state, "chat");
    const Renga__V1__ChatFinish *finish = finish_of(reply);
    assert_int_equal(finish->usage->input_tokens, 21);
    assert_int_equal(finish->usage->output_tokens, 9);
    assert_false(finish->usage->estimated);
    assert_int_equal(finish->n_attempts, 1);
    assert_string_equal(finish->attempts[0]->provider_request_id, "req-2");
    assert_true(finish->first_token_ms <= finish->duration_ms);
    reply_free(reply);
}

static void a_stream_is_asked_for_with_its_usage(void **state)
{
    struct reply *reply = stream_model(*state, "thinks");
    char *body = seen_text(*state, "thinks", "body");
    assert_non_null(strstr(body, "\"stream\":true,\"stream_options\":{\"include_usage\":true}"));
    free(body);
    assert_string_equal(buffer_text(&reply->reasoning), "let me see");
    assert_string_equal(buffer_text(&reply->text), "42");
    reply_free(reply);
}

static void tool_calls_come_in_pieces_that_alternate(void **state)
{
    struct reply *reply = stream_model(*state, "tools");
    struct buffer arguments[2];
    int opened = 0;
    assert_status(reply, OK, "");
    for (int i = 0; i < 2; i++)
        buffer_init(&arguments[i], 1024);
    for (size_t i = 1; i + 1 < reply->event_count; i++) {
        assert_int_equal(reply->events[i]->event_case, EVENT(TOOL_CALL));
        const Renga__V1__ToolCallDelta *delta = reply->events[i]->tool_call;
        if (delta->id[0]) {
            assert_int_equal(delta->index, opened);
            assert_string_equal(delta->id, opened ? "call_b" : "call_a");
            assert_string_equal(delta->name, opened ? "weather" : "search");
            opened++;
        }
        buffer_print(&arguments[delta->index], delta->arguments_json);
    }
    assert_int_equal(opened, 2);
    assert_string_equal(buffer_text(&arguments[0]), "{\"q\":\"pond\"}");
    assert_string_equal(buffer_text(&arguments[1]), "{\"city\":\"京都\"}");
    assert_int_equal(finish_of(reply)->finish_reason, REASON(TOOL_CALLS));
    for (int i = 0; i < 2; i++)
        buffer_fini(&arguments[i]);
    reply_free(reply);
}

static void comments_carriage_returns_and_compression_are_read(void **state)
{
    struct reply *reply = stream_model(*state, "comments");
    assert_status(reply, OK, "");
    assert_string_equal(buffer_text(&reply->text), "over CRLF");
    reply_free(reply);
    reply = stream_model(*state, "zipped");
    assert_status(reply, OK, "");
    assert_string_equal(buffer_text(&reply->text), "packed");
    reply_free(reply);
}

static void a_long_piece_is_cut_between_characters(void **state)
{
    struct reply *reply = stream_model(*state, "long-words");
    assert_status(reply, OK, "");
    assert_int_equal(reply->event_count, 1 + 3 + 1);
    for (size_t i = 1; i < 4; i++) {
        size_t size = strlen(reply->events[i]->text);
        assert_true(size <= 65536 && size % 3 == 0);
        assert_true(text_is_clean(reply->events[i]->text, size));
    }
    assert_int_equal(reply->text.length, 150000);
    reply_free(reply);
}

static void an_upstream_that_does_not_stream_gives_one_piece(void **state)
{
    struct reply *reply = stream_model(*state, "streams-not");
    assert_status(reply, OK, "");
    assert_int_equal(reply->event_count, 3);
    assert_string_equal(buffer_text(&reply->text), VERSE);
    assert_int_equal(finish_of(reply)->usage->output_tokens, 9);
    reply_free(reply);
}

static void a_slowly_dripping_stream_comes_whole(void **state)
{
    struct reply *reply = stream_model(*state, "drips");
    assert_status(reply, OK, "");
    assert_string_equal(buffer_text(&reply->text), "slow");
    reply_free(reply);
}

static void an_upstream_that_has_said_all_is_not_waited_for(void **state)
{
    int64_t began_ns = clock_now_ns();
    struct reply *reply = stream_model(*state, "lingers");
    assert_status(reply, OK, "");
    assert_string_equal(buffer_text(&reply->text), "all said");
    assert_int_equal(finish_of(reply)->usage->output_tokens, 9);
    assert_true(clock_now_ns() - began_ns < 3 * NS_PER_SEC);
    reply_free(reply);
}

static void a_finish_reason_is_an_end_also_without_done(void **state)
{
    struct reply *reply = stream_model(*state, "no-done");
    assert_status(reply, OK, "");
    assert_int_equal(finish_of(reply)->finish_reason, REASON(STOP));
    reply_free(reply);
}

static void a_stream_of_nothing_is_empty(void **state)
{
    struct reply *reply = stream_model(*state, "no-choices");
    assert_status(reply, OK, "");
    assert_int_equal(reply->event_count, 2);
    assert_int_equal(finish_of(reply)->finish_reason, REASON(EMPTY));
    reply_free(reply);
}

static void usage_that_was_not_given_is_estimated(void **state)
{
    struct reply *reply = stream_model(*state, "no-usage");
    assert_true(finish_of(reply)->usage->estimated);
    assert_int_equal(finish_of(reply)->usage->output_tokens, 2);
    reply_free(reply);
}

static void streamed_json_is_checked_at_its_end(void **state)
{
    struct question question;
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT;
    question_init(&question, "structured");
    question.request.response_format = &format;
    struct reply *reply = ask_stream(*state, &question);
    assert_status(reply, OK, "");
    assert_string_equal(finish_of(reply)->structured_json, "{\"title\": \"池\", \"steps\": [1, 2]}");
    reply_free(reply);
    question_init(&question, "no-json");
    question.request.response_format = &format;
    reply = ask_stream(*state, &question);
    assert_status(reply, DATA_LOSS, "not the JSON that was asked for");
    assert_int_equal(last_event(reply, EVENT(USAGE))->usage->output_tokens, 2 * 9); /* it was asked once more */
    reply_free(reply);
}

/* ---- back-pressure ----------------------------------------------------------------------------------------------- */

static int64_t settled(struct fixture *fixture, const char *model)
{
    int64_t before = -1, sent = 0;
    for (int waited = 0; waited < 50 && (sent == 0 || sent != before); waited++) {
        before = sent;
        usleep(100000);
        sent = seen_number(fixture, model, "sent");
    }
    return sent;
}

static struct reply *flood(struct fixture *fixture)
{
    struct question question;
    question_init(&question, "floods");
    question.timeout_ms = 100000;
    struct reply *reply = reply_create(fixture);
    reply->pause_at_first = true;
    begin_stream(reply, &question);
    sem_wait(&reply->began);
    return reply;
}

static void resume(struct reply *reply)
{
    loop_enter(reply->fixture->loop);
    rpc_client_call_resume(&reply->call);
    loop_leave(reply->fixture->loop);
}

static void a_slow_reader_slows_the_upstream_and_loses_nothing(void **state)
{
    struct reply *reply = flood(*state);
    int64_t sent = settled(*state, "floods");
    print_message("the upstream could send %lld KB of 21,000 to a client that does not read\n", (long long)sent / 1000);
    assert_true(sent < 10000000);
    resume(reply);
    await(reply);
    assert_status(reply, OK, "");
    size_t bytes = 0;
    for (size_t i = 1; i + 1 < reply->event_count; i++)
        bytes += strlen(reply->events[i]->tool_call->arguments_json);
    assert_int_equal(bytes, 20000000);
    reply_free(reply);
}

static void a_reader_that_takes_nothing_is_given_up(void **state)
{
#ifdef __SANITIZE_THREAD__
    print_message("under TSan gRPC's windows take longer to fill than the reader's patience lasts\n");
    skip();
#endif
    int64_t began_ns = clock_now_ns();
    struct reply *reply = flood(*state);
    int64_t after_ns = left_after_ns(*state, "floods", began_ns);
    assert_true(after_ns >= 1400 * NS_PER_MS && after_ns < INT64_MAX);
    resume(reply);
    await(reply);
    assert_status(reply, RESOURCE_EXHAUSTED, "took nothing of the stream for 1500 ms");
    reply_free(reply);
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* How long until the upstream notices, the best of three: others use this machine too. */
static int64_t leave(struct fixture *fixture, const char *model, bool stream, bool after_first)
{
    int64_t best_ns = INT64_MAX;
    for (int attempt = 0; attempt < 3; attempt++) {
        struct question question;
        question_init(&question, model);
        int64_t before = seen_number(fixture, model, "requests");
        struct reply *reply = reply_create(fixture);
        if (stream)
            begin_stream(reply, &question);
        else
            begin_ask(reply, &question);
        while (seen_number(fixture, model, "requests") == before)
            usleep(1000);
        if (after_first)
            sem_wait(&reply->began);
        loop_enter(fixture->loop);
        int64_t now_ns = clock_now_ns();
        rpc_client_call_cancel(&reply->call);
        loop_leave(fixture->loop);
        int64_t noticed_ns = left_after_ns(fixture, model, now_ns);
        best_ns = noticed_ns < best_ns ? noticed_ns : best_ns;
        await(reply);
        assert_status(reply, CANCELLED, "");
        reply_free(reply);
    }
    print_message("the upstream of '%s' noticed after %.2f ms\n", model, (double)best_ns / NS_PER_MS);
    return best_ns;
}

static void an_upstream_notices_that_the_client_has_left(void **state)
{
    assert_true(leave(*state, "hangs", false, false) <= NOTICE_MAX_NS);
    assert_true(leave(*state, "hangs", true, false) <= NOTICE_MAX_NS);
    assert_true(leave(*state, "endless", true, true) <= NOTICE_MAX_NS);
}

static void an_upstream_is_dropped_when_the_deadline_passes(void **state)
{
    for (int stream = 0; stream < 2; stream++) {
        struct question question;
        question_init(&question, stream ? "endless" : "hangs");
        question.timeout_ms = 150;
        int64_t began_ns = clock_now_ns();
        struct reply *reply = stream ? ask_stream(*state, &question) : ask(*state, &question);
        assert_status(reply, DEADLINE_EXCEEDED, "");
        assert_true(clock_now_ns() - began_ns < NS_PER_SEC);
        assert_true(left_after_ns(*state, question.request.model, began_ns) < NS_PER_SEC);
        reply_free(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_brings_start_pieces_and_finish),
        cmocka_unit_test(the_finish_of_a_stream_has_the_usage),
        cmocka_unit_test(a_stream_is_asked_for_with_its_usage),
        cmocka_unit_test(tool_calls_come_in_pieces_that_alternate),
        cmocka_unit_test(comments_carriage_returns_and_compression_are_read),
        cmocka_unit_test(a_long_piece_is_cut_between_characters),
        cmocka_unit_test(an_upstream_that_does_not_stream_gives_one_piece),
        cmocka_unit_test(a_slowly_dripping_stream_comes_whole),
        cmocka_unit_test(an_upstream_that_has_said_all_is_not_waited_for),
        cmocka_unit_test(a_finish_reason_is_an_end_also_without_done),
        cmocka_unit_test(a_stream_of_nothing_is_empty),
        cmocka_unit_test(usage_that_was_not_given_is_estimated),
        cmocka_unit_test(streamed_json_is_checked_at_its_end),
        cmocka_unit_test(a_slow_reader_slows_the_upstream_and_loses_nothing),
        cmocka_unit_test(a_reader_that_takes_nothing_is_given_up),
        cmocka_unit_test(an_upstream_notices_that_the_client_has_left),
        cmocka_unit_test(an_upstream_is_dropped_when_the_deadline_passes),
    };
    return run_both_ways("ChatStream", tests, sizeof tests / sizeof tests[0]);
}
