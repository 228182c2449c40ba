/* Answers in JSON: checked against their schema, and repaired once. */
#include "gateway_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON(name) RENGA__V1__FINISH_REASON__FINISH_REASON_##name
#define EVENT(name)  RENGA__V1__CHAT_STREAM_EVENT__EVENT_##name
#define KIND(name)   RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_##name

#define PLAN        "{\"title\": \"池\", \"steps\": [1, 2]}"
#define BROKEN_PLAN "{\"title\": 7, \"steps\": [1, \"two\"], \"more\": true}"
#define SCHEMA                                                                                                         \
    "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},"                                            \
    "\"steps\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"                                                \
    "\"required\":[\"title\",\"steps\"],\"additionalProperties\":false}"

struct wish {
    struct question question;
    Renga__V1__ResponseFormat format;
};

static void wish_init(struct wish *wish, const char *model, const char *schema)
{
    question_init(&wish->question, model);
    renga__v1__response_format__init(&wish->format);
    wish->format.kind = schema ? KIND(JSON_SCHEMA) : KIND(JSON_OBJECT);
    wish->format.name = (char *)(uintptr_t)(schema ? "plan" : "");
    wish->format.schema_json = (char *)(uintptr_t)(schema ? schema : "");
    wish->question.request.response_format = &wish->format;
}

static struct reply *ask_json(struct fixture *fixture, const char *model, const char *schema)
{
    struct wish wish;
    wish_init(&wish, model, schema);
    return ask(fixture, &wish.question);
}

static struct reply *stream_json(struct fixture *fixture, const char *model, const char *schema)
{
    struct wish wish;
    wish_init(&wish, model, schema);
    return ask_stream(fixture, &wish.question);
}

static const Renga__V1__ChatFinish *finish_of(const struct reply *reply)
{
    const Renga__V1__ChatStreamEvent *last = last_event(reply, EVENT(FINISH));
    assert_non_null(last);
    return last->finish;
}

static void assert_invalid(const struct reply *reply, const char *problem, const char *raw_text)
{
    Renga__V1__InvalidOutput *invalid =
        (Renga__V1__InvalidOutput *)detail(reply, &renga__v1__invalid_output__descriptor);
    assert_non_null(invalid);
    assert_string_equal(invalid->problem, problem);
    assert_string_equal(invalid->raw_text, raw_text);
    renga__v1__invalid_output__free_unpacked(invalid, NULL);
}

static void assert_output_tokens(const struct reply *reply, int64_t tokens, int64_t calls)
{
    Renga__V1__Usage *usage = (Renga__V1__Usage *)detail(reply, &renga__v1__usage__descriptor);
    assert_non_null(usage);
    assert_int_equal(usage->output_tokens, tokens);
    assert_int_equal(usage->model_calls, calls);
    renga__v1__usage__free_unpacked(usage, NULL);
}

/* ---- the first answer fits ----------------------------------------------------------------------------------------
 */

static void an_answer_that_fits_its_schema_is_given(void **state)
{
    struct reply *reply = ask_json(*state, "structured", SCHEMA);
    assert_status(reply, OK, "");
    assert_string_equal(reply->response->finish->structured_json, PLAN);
    assert_false(reply->response->finish->repaired);
    assert_int_equal(reply->response->finish->n_attempts, 1);
    reply_free(reply);
    reply = stream_json(*state, "structured", SCHEMA);
    assert_status(reply, OK, "");
    assert_string_equal(finish_of(reply)->structured_json, PLAN);
    assert_false(finish_of(reply)->repaired);
    reply_free(reply);
}

static void fences_around_it_are_taken_off(void **state)
{
    static const char *const schemas[] = {SCHEMA, NULL};
    for (int i = 0; i < 2; i++) {
        struct reply *reply = ask_json(*state, "fences", schemas[i]);
        assert_status(reply, OK, "");
        assert_string_equal(reply->response->finish->structured_json, PLAN);
        assert_non_null(strstr(reply->response->message->content, "```json")); /* as the model wrote it */
        assert_false(reply->response->finish->repaired);
        reply_free(reply);
    }
}

static void an_answer_that_is_cut_or_none_is_not_checked(void **state)
{
    static const struct {
        const char *model;
        Renga__V1__FinishReason reason;
    } ways[] = {
        {"breaks-off", REASON(LENGTH)},  {"refuses", REASON(REFUSAL)},  {"filtered", REASON(CONTENT_FILTER)},
        {"says-nothing", REASON(EMPTY)}, {"tools", REASON(TOOL_CALLS)},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct reply *reply = ask_json(*state, ways[i].model, SCHEMA);
        assert_status(reply, OK, "");
        assert_int_equal(reply->response->finish->finish_reason, ways[i].reason);
        assert_string_equal(reply->response->finish->structured_json, "");
        assert_int_equal(reply->response->finish->n_attempts, 1);
        reply_free(reply);
    }
}

/* ---- it does not ---------------------------------------------------------------------------------------------------
 */

static void an_answer_that_breaks_its_schema_is_repaired(void **state)
{
    int64_t before = seen_number(*state, "mends", "requests");
    struct reply *reply = ask_json(*state, "mends", SCHEMA);
    assert_status(reply, OK, "");
    const Renga__V1__ChatFinish *finish = reply->response->finish;
    assert_true(finish->repaired);
    assert_string_equal(finish->structured_json, PLAN);
    assert_string_equal(reply->response->message->content, PLAN);
    assert_int_equal(seen_number(*state, "mends", "requests"), before + 2);
    reply_free(reply);
}

static void a_repair_is_paid_for_and_recorded(void **state)
{
    struct reply *reply = ask_json(*state, "mends", SCHEMA);
    const Renga__V1__ChatFinish *finish = reply->response->finish;
    assert_int_equal(finish->usage->input_tokens, 2 * 21);
    assert_int_equal(finish->usage->output_tokens, 2 * 9);
    assert_int_equal(finish->usage->cached_input_tokens, 2 * 5);
    assert_int_equal(finish->usage->reasoning_tokens, 2 * 3);
    assert_int_equal(finish->usage->model_calls, 2);
    assert_false(finish->usage->estimated);
    assert_int_equal(finish->n_attempts, 2);
    assert_int_equal(finish->attempts[0]->status_code, DATA_LOSS);
    assert_int_equal(finish->attempts[0]->http_status, 200);
    assert_non_null(strstr(finish->attempts[0]->error, "not the JSON that was asked for"));
    assert_string_equal(finish->attempts[0]->asked->model, "scripted-2026");
    assert_string_equal(finish->attempts[0]->provider_request_id, "req-1");
    assert_int_equal(finish->attempts[1]->status_code, OK);
    assert_string_equal(finish->attempts[1]->error, "");
    assert_true(finish->attempts[0]->duration_ms + finish->attempts[1]->duration_ms <= finish->duration_ms + 1);
    reply_free(reply);
}

static void the_model_is_shown_its_answer_and_what_is_wrong(void **state)
{
    struct reply *reply = ask_json(*state, "mends", SCHEMA);
    char *body = seen_text(*state, "mends", "body");
    const char *turns = strstr(body, "{\"role\":\"user\",\"content\":\"What of the pond?\"},{\"role\":\"assistant\","
                                     "\"content\":\"{\\\"title\\\": 7, \\\"steps\\\": [1, \\\"two\\\"], \\\"more\\\": "
                                     "true}\"},{\"role\":\"user\",\"content\":\"Your answer cannot be used:\\n"
                                     "title: must be a string, not a number\\n"
                                     "steps[1]: must be an integer, not a string\\n"
                                     "more: is no property that is allowed here; 'steps', 'title' are\\n"
                                     "Answer again with the whole JSON");
    assert_non_null(turns);
    assert_non_null(strstr(body, "\"response_format\":{\"type\":\"json_schema\""));
    free(body);
    reply_free(reply);
}

static void prose_around_the_json_is_repaired_too(void **state)
{
    static const char *const schemas[] = {SCHEMA, NULL};
    for (int i = 0; i < 2; i++) {
        struct reply *reply = ask_json(*state, "mends-prose", schemas[i]);
        assert_status(reply, OK, "");
        assert_true(reply->response->finish->repaired);
        assert_string_equal(reply->response->finish->structured_json, PLAN);
        reply_free(reply);
    }
}

static void an_answer_that_is_wrong_twice_is_a_failure_that_shows_the_last(void **state)
{
    int64_t before = seen_number(*state, "never-mends", "requests");
    struct reply *reply = ask_json(*state, "never-mends", SCHEMA);
    assert_status(reply, DATA_LOSS, "not the JSON that was asked for");
    assert_invalid(reply, "steps: is missing", "{\"title\": \"second\"}");
    assert_output_tokens(reply, 2 * 9, 2);
    assert_null(strstr(reply->status.text, "second")); /* it is logged */
    assert_int_equal(seen_number(*state, "never-mends", "requests"), before + 2);
    reply_free(reply);
}

static void a_caller_who_pays_for_one_request_gets_no_repair(void **state)
{
    struct wish wish;
    wish_init(&wish, "mends", SCHEMA);
    wish.question.request.max_model_calls = 1;
    int64_t before = seen_number(*state, "mends", "requests");
    struct reply *reply = ask(*state, &wish.question);
    assert_status(reply, DATA_LOSS, "not the JSON that was asked for");
    assert_output_tokens(reply, 9, 1);
    assert_int_equal(seen_number(*state, "mends", "requests"), before + 1);
    reply_free(reply);
}

static void a_repair_that_is_cut_is_an_answer_that_is_cut(void **state)
{
    struct reply *reply = ask_json(*state, "mends-too-long", SCHEMA);
    assert_status(reply, OK, "");
    assert_int_equal(reply->response->finish->finish_reason, REASON(LENGTH));
    assert_string_equal(reply->response->finish->structured_json, "");
    assert_int_equal(reply->response->finish->n_attempts, 2);
    reply_free(reply);
}

static void a_repair_that_cannot_be_had_leaves_the_first_failure(void **state)
{
    struct reply *reply = ask_json(*state, "mends-never-again", SCHEMA);
    assert_status(reply, DATA_LOSS, "asking once more failed: ");
    assert_non_null(strstr(reply->status.text, "Closed for today"));
    assert_invalid(reply,
                   "title: must be a string, not a number\nsteps[1]: must be an integer, not a string\n"
                   "more: is no property that is allowed here; 'steps', 'title' are",
                   BROKEN_PLAN);
    assert_output_tokens(reply, 9, 2);
    reply_free(reply);
}

static void a_repair_keeps_to_the_callers_deadline(void **state)
{
    for (int stream = 0; stream < 2; stream++) {
        struct wish wish;
        wish_init(&wish, "mends-slowly", SCHEMA);
        wish.question.timeout_ms = 400;
        int64_t began_ns = clock_now_ns();
        struct reply *reply = stream ? ask_stream(*state, &wish.question) : ask(*state, &wish.question);
        assert_status(reply, DEADLINE_EXCEEDED, "");
        assert_true(clock_now_ns() - began_ns < 2 * NS_PER_SEC);
        assert_true(left_after_ns(*state, "mends-slowly", began_ns) < 2 * NS_PER_SEC);
        reply_free(reply);
    }
}

/* ---- streams --------------------------------------------------------------------------------------------------------
 */

static void a_stream_that_is_repaired_brings_both_texts_and_says_so(void **state)
{
    struct reply *reply = stream_json(*state, "mends", SCHEMA);
    assert_status(reply, OK, "");
    const Renga__V1__ChatFinish *finish = finish_of(reply);
    assert_true(finish->repaired);
    assert_string_equal(finish->structured_json, PLAN);
    assert_string_equal(buffer_text(&reply->text), BROKEN_PLAN PLAN);
    assert_int_equal(finish->usage->output_tokens, 2 * 9);
    assert_int_equal(finish->usage->model_calls, 2);
    assert_int_equal(finish->n_attempts, 2);
    assert_true(finish->first_token_ms <= finish->duration_ms);
    int starts = 0;
    for (size_t i = 0; i < reply->event_count; i++)
        starts += reply->events[i]->event_case == EVENT(START);
    assert_int_equal(starts, 1);
    reply_free(reply);
}

static void a_stream_that_is_wrong_twice_fails_with_its_usage(void **state)
{
    struct reply *reply = stream_json(*state, "never-mends", SCHEMA);
    assert_status(reply, DATA_LOSS, "not the JSON that was asked for");
    assert_invalid(reply, "steps: is missing", "{\"title\": \"second\"}");
    assert_non_null(strstr(buffer_text(&reply->text), "{\"title\": \"second\"}")); /* a stream has brought all of it */
    assert_int_equal(last_event(reply, EVENT(USAGE))->usage->output_tokens, 2 * 9);
    reply_free(reply);
    reply = stream_json(*state, "mends-never-again", SCHEMA);
    assert_status(reply, DATA_LOSS, "asking once more failed: ");
    reply_free(reply);
}

/* ---- what is asked
 * --------------------------------------------------------------------------------------------------- */

static void a_schema_that_cannot_be_checked_is_refused_by_its_field(void **state)
{
    static const struct {
        const char *schema, *part;
        bool strict;
    } cases[] = {
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"oneOf\":[]}}}",
         "response_format.schema_json: properties.a: the keyword 'oneOf' is not supported; use anyOf", false},
        {"{\"$ref\":\"#/$defs/gone\"}", "response_format.schema_json: $ref: '#/$defs/gone' names no schema", false},
        {"{\"type\":\"object\",", "response_format.schema_json: is not JSON", false},
        {"{\"type\":\"object\",\"properties\":{\"a\":{}}}", "a strict schema has \"additionalProperties\": false",
         true},
    };
    int64_t before = seen_number(*state, "structured", "requests");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wish wish;
        wish_init(&wish, "structured", cases[i].schema);
        wish.format.strict = cases[i].strict;
        struct reply *reply = i % 2 ? ask_stream(*state, &wish.question) : ask(*state, &wish.question);
        assert_status(reply, INVALID_ARGUMENT, cases[i].part);
        assert_string_equal(reply->status.field, "response_format.schema_json");
        reply_free(reply);
    }
    assert_int_equal(seen_number(*state, "structured", "requests"), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_fits_its_schema_is_given),
        cmocka_unit_test(fences_around_it_are_taken_off),
        cmocka_unit_test(an_answer_that_is_cut_or_none_is_not_checked),
        cmocka_unit_test(an_answer_that_breaks_its_schema_is_repaired),
        cmocka_unit_test(a_repair_is_paid_for_and_recorded),
        cmocka_unit_test(the_model_is_shown_its_answer_and_what_is_wrong),
        cmocka_unit_test(prose_around_the_json_is_repaired_too),
        cmocka_unit_test(an_answer_that_is_wrong_twice_is_a_failure_that_shows_the_last),
        cmocka_unit_test(a_caller_who_pays_for_one_request_gets_no_repair),
        cmocka_unit_test(a_repair_that_is_cut_is_an_answer_that_is_cut),
        cmocka_unit_test(a_repair_that_cannot_be_had_leaves_the_first_failure),
        cmocka_unit_test(a_repair_keeps_to_the_callers_deadline),
        cmocka_unit_test(a_stream_that_is_repaired_brings_both_texts_and_says_so),
        cmocka_unit_test(a_stream_that_is_wrong_twice_fails_with_its_usage),
        cmocka_unit_test(a_schema_that_cannot_be_checked_is_refused_by_its_field),
    };
    return run_both_ways("JSON", tests, sizeof tests / sizeof tests[0]);
}
