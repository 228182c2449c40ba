/* The dialects of those who speak OpenAI's API: what is read leniently, and what is not. */
#include "answer/answer.h"
#include "http/sse.h"
#include "provider/provider.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

struct reading {
    struct arena arena;
    struct answer answer;
    struct failure failure;
    Renga__V1__ChatRequest request;
    Renga__V1__ChatFinish finish;
};

static int begin(void **state)
{
    struct reading *reading = calloc(1, sizeof *reading);
    arena_init(&reading->arena, NULL, 0, 32 << 20);
    renga__v1__chat_request__init(&reading->request);
    renga__v1__chat_finish__init(&reading->finish);
    answer_init(&reading->answer, &reading->arena, &reading->request);
    reading->answer.keeps_content = reading->answer.keeps_rest = true;
    *state = reading;
    return 0;
}

static int end(void **state)
{
    struct reading *reading = *state;
    arena_fini(&reading->arena);
    free(reading);
    return 0;
}

static void restart(struct reading *reading)
{
    memset(&reading->failure, 0, sizeof reading->failure);
    answer_init(&reading->answer, &reading->arena, &reading->request);
    reading->answer.keeps_content = reading->answer.keeps_rest = true;
}

static bool read_whole(struct reading *reading, const char *body)
{
    restart(reading);
    return openai_provider.read_chat(&reading->answer, body, strlen(body), &reading->failure) &&
           answer_finish(&reading->answer, &reading->finish, &reading->failure);
}

static bool read_event(struct reading *reading, const char *type, const char *data)
{
    struct sse_event event = {.type = type, .data = data, .size = strlen(data), .id = ""};
    return openai_provider.read_event(&reading->answer, &event, &reading->failure);
}

static bool read_chunk(struct reading *reading, const char *delta)
{
    char data[4096];
    snprintf(data, sizeof data, "{\"choices\":[{\"index\":0,\"delta\":%s}]}", delta);
    return read_event(reading, "message", data);
}

static const char *said(const struct reading *reading, enum answer_part part)
{
    return reading->answer.parts[part].bytes ? reading->answer.parts[part].bytes : "";
}

static void the_least_answer_there_is_suffices(void **state)
{
    struct reading *reading = *state;
    assert_true(read_whole(reading, "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}"));
    assert_string_equal(said(reading, ANSWER_TEXT), "hi");
    assert_int_equal(reading->finish.finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_STOP);
    assert_true(reading->finish.usage->estimated);
}

static void thinking_has_two_names(void **state)
{
    struct reading *reading = *state;
    assert_true(read_chunk(reading, "{\"reasoning_content\":\"a\"}"));
    assert_true(read_chunk(reading, "{\"reasoning\":\"b\",\"content\":null}"));
    assert_true(read_chunk(reading, "{\"reasoning_content\":\"c\",\"reasoning\":\"c\"}"));
    assert_true(read_chunk(reading, "{\"reasoning\":{\"an\":\"object\"}}")); /* somebody's own: passed over */
    assert_string_equal(said(reading, ANSWER_REASONING), "abc");
}

static void counts_that_make_no_sense_are_as_good_as_none(void **state)
{
    struct reading *reading = *state;
    static const char *const counts[] = {"null", "{}", "{\"prompt_tokens\":-1}", "{\"prompt_tokens\":\"7\"}",
                                         "{\"prompt_tokens\":1.5}"};
    for (size_t i = 0; i < COUNT(counts); i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],%s%s}",
                 "\"usage\":", counts[i]);
        assert_true(read_whole(reading, body));
        assert_true(reading->finish.usage->estimated);
    }
    assert_true(read_whole(reading,
                           "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],"
                           "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"prompt_cache_hit_tokens\":4}}"));
    assert_int_equal(reading->finish.usage->cached_input_tokens, 4);
}

static void an_answer_without_an_end_is_none(void **state)
{
    struct reading *reading = *state;
    assert_false(read_whole(reading, "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":null}]}"));
    assert_int_equal(reading->failure.status.code, DATA_LOSS);
    assert_contains(reading->failure.status.text, "may have been cut");
    assert_false(read_whole(reading, "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"error\"}]}"));
    assert_contains(reading->failure.status.text, "ended with 'error'");
}

static void what_is_no_answer_is_named_by_its_path(void **state)
{
    struct reading *reading = *state;
    static const struct {
        const char *body, *part;
    } bodies[] = {
        {"", "0 bytes are not JSON"},
        {"[]", "no object"},
        {"{}", "choices"},
        {"{\"choices\":{}}", "choices: must be an array"},
        {"{\"choices\":[7]}", "choices[0]: must be an object"},
        {"{\"choices\":[{\"message\":{\"content\":7}}]}", "choices[0].message.content: must be a string"},
        {"{\"choices\":[{\"message\":{\"tool_calls\":[7]}}]}", "tool_calls[0]: must be an object"},
        {"{\"choices\":[{\"message\":{\"content\":\"\\ud83d\"}}]}", "not JSON"},
        {"{\"choices\":[]} {}", "not JSON"},
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        assert_false(read_whole(reading, bodies[i].body));
        assert_int_equal(reading->failure.status.code, DATA_LOSS);
        assert_contains(reading->failure.status.text, bodies[i].part);
    }
}

static void errors_in_place_of_answers_keep_their_meaning(void **state)
{
    struct reading *reading = *state;
    static const struct {
        const char *body;
        enum status_code code;
        const char *part;
    } errors[] = {
        {"{\"error\":{\"message\":\"Oops\"}}", UNAVAILABLE, "Oops"},
        {"{\"error\":\"Oops\"}", UNAVAILABLE, "Oops"},
        {"{\"error\":{\"message\":\"Slow\",\"code\":429}}", RESOURCE_EXHAUSTED, "Slow"},
        {"{\"error\":{\"message\":\"Paid?\",\"code\":\"insufficient_quota\"}}", RESOURCE_EXHAUSTED, "account"},
        {"{\"error\":{\"message\":\"Long\",\"type\":\"invalid_request_error\"}}", INVALID_ARGUMENT, "Long"},
        {"{\"error\":true}", UNAVAILABLE, "does not say why"},
    };
    for (size_t i = 0; i < COUNT(errors); i++) {
        assert_false(read_whole(reading, errors[i].body));
        assert_int_equal(reading->failure.status.code, errors[i].code);
        assert_contains(reading->failure.status.text, errors[i].part);
        restart(reading);
        assert_false(read_event(reading, "message", errors[i].body));
        assert_int_equal(reading->failure.status.code, errors[i].code);
    }
    restart(reading);
    assert_false(read_event(reading, "error", "{\"message\":\"Bare\",\"code\":503}"));
    assert_contains(reading->failure.status.text, "Bare");
    restart(reading);
    assert_false(read_event(reading, "error", "not json"));
    assert_int_equal(reading->failure.status.code, UNAVAILABLE);
}

static void done_ends_a_stream_and_an_empty_event_does_nothing(void **state)
{
    struct reading *reading = *state;
    assert_true(read_event(reading, "message", ""));
    assert_true(read_chunk(reading, "{}"));
    assert_true(read_event(reading, "message", "{\"choices\":[],\"usage\":null}"));
    assert_false(reading->answer.ended);
    assert_true(read_event(reading, "message", "[DONE]"));
    assert_true(reading->answer.ended);
    assert_false(answer_finish(&reading->answer, &reading->finish, &reading->failure));
}

/* ---- tool calls -------------------------------------------------------------------------------------------------- */

static const struct answer_call *nth_call(const struct reading *reading, int n)
{
    const struct answer_call *call = reading->answer.first_call;
    while (call && n--)
        call = call->next;
    assert_non_null(call);
    return call;
}

static bool call_piece(struct reading *reading, const char *piece)
{
    char delta[1024];
    snprintf(delta, sizeof delta, "{\"tool_calls\":[%s]}", piece);
    return read_chunk(reading, delta);
}

static void calls_that_are_all_numbered_0_are_told_apart_by_id(void **state)
{
    struct reading *reading = *state;
    assert_true(call_piece(reading, "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"1\"}}"));
    assert_true(call_piece(reading, "{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"2\"}}"));
    assert_true(call_piece(reading, "{\"index\":0,\"function\":{\"arguments\":\"3\"}}"));
    assert_int_equal(reading->answer.call_count, 2);
    assert_string_equal(nth_call(reading, 0)->arguments.bytes, "1");
    assert_string_equal(nth_call(reading, 1)->arguments.bytes, "23");
}

static void an_id_and_a_name_that_are_repeated_open_nothing(void **state)
{
    struct reading *reading = *state;
    for (int i = 0; i < 3; i++)
        assert_true(
            call_piece(reading, "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"x\"}}"));
    assert_int_equal(reading->answer.call_count, 1);
    assert_string_equal(nth_call(reading, 0)->arguments.bytes, "xxx");
}

static void calls_without_numbers_go_by_id_or_order(void **state)
{
    struct reading *reading = *state;
    assert_true(call_piece(reading, "{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"1\"}}"));
    assert_true(call_piece(reading, "{\"function\":{\"arguments\":\"2\"}}"));
    assert_true(call_piece(reading, "{\"function\":{\"name\":\"g\",\"arguments\":\"3\"}}"));
    assert_true(call_piece(reading, "{\"id\":\"a\",\"function\":{\"arguments\":\"4\"}}"));
    assert_int_equal(reading->answer.call_count, 2);
    assert_string_equal(nth_call(reading, 0)->arguments.bytes, "124");
    assert_string_equal(nth_call(reading, 1)->arguments.bytes, "3");
    assert_int_equal(strlen(nth_call(reading, 1)->id), strlen("call_0123456789abcdef"));
}

static void one_id_for_two_calls_becomes_two(void **state)
{
    struct reading *reading = *state;
    assert_true(read_whole(reading, "{\"choices\":[{\"message\":{\"tool_calls\":["
                                    "{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
                                    "{\"id\":\"a\",\"function\":{\"name\":\"g\"}}]},\"finish_reason\":\"stop\"}]}"));
    assert_int_equal(reading->answer.call_count, 2);
    assert_string_equal(nth_call(reading, 0)->id, "a");
    assert_string_not_equal(nth_call(reading, 1)->id, "a");
    assert_int_equal(reading->finish.finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS);
}

static const struct answer_call *opened;
static char heard[256];

static void piece_came(struct answer *answer, const struct answer_piece *piece)
{
    assert_true((piece->call != opened) == piece->opens);
    opened = piece->call;
    strncat(heard, piece->text, sizeof heard - strlen(heard) - 1);
}

static void arguments_before_the_name_wait_for_it(void **state)
{
    struct reading *reading = *state;
    reading->answer.keeps_rest = false;
    reading->answer.piece_came = piece_came;
    assert_true(call_piece(reading, "{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{\"}}"));
    assert_null(opened);
    assert_true(call_piece(reading, "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"}\"}}"));
    assert_true(call_piece(reading, "{\"index\":0,\"function\":{\"arguments\":\" \"}}"));
    assert_string_equal(heard, "{} ");
}

static void a_call_by_no_name_cannot_be_used(void **state)
{
    struct reading *reading = *state;
    assert_false(call_piece(reading, "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"rm -rf\"}}"));
    assert_int_equal(reading->failure.status.code, DATA_LOSS);
    assert_non_null(reading->failure.problem);
    assert_false(read_whole(reading, "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\"}]},"
                                     "\"finish_reason\":\"tool_calls\"}]}"));
    assert_contains(reading->failure.status.text, "without saying which");
}

static void an_answer_keeps_to_the_limits_of_the_contract(void **state)
{
    struct reading *reading = *state;
    static char half[(1 << 19) + 1];
    memset(half, 'x', sizeof half - 1);
    for (int i = 0; i < 2; i++) {
        assert_true(answer_add(&reading->answer, ANSWER_TEXT, half, &reading->failure));
        assert_true(answer_add(&reading->answer, ANSWER_REASONING, half, &reading->failure));
    }
    assert_true(answer_add(&reading->answer, ANSWER_REASONING, "more", &reading->failure));
    assert_int_equal(reading->answer.parts[ANSWER_REASONING].size, 1 << 20);
    assert_false(answer_add(&reading->answer, ANSWER_TEXT, "x", &reading->failure));
    assert_int_equal(reading->failure.status.code, DATA_LOSS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_least_answer_there_is_suffices, begin, end),
        cmocka_unit_test_setup_teardown(thinking_has_two_names, begin, end),
        cmocka_unit_test_setup_teardown(counts_that_make_no_sense_are_as_good_as_none, begin, end),
        cmocka_unit_test_setup_teardown(an_answer_without_an_end_is_none, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_answer_is_named_by_its_path, begin, end),
        cmocka_unit_test_setup_teardown(errors_in_place_of_answers_keep_their_meaning, begin, end),
        cmocka_unit_test_setup_teardown(done_ends_a_stream_and_an_empty_event_does_nothing, begin, end),
        cmocka_unit_test_setup_teardown(calls_that_are_all_numbered_0_are_told_apart_by_id, begin, end),
        cmocka_unit_test_setup_teardown(an_id_and_a_name_that_are_repeated_open_nothing, begin, end),
        cmocka_unit_test_setup_teardown(calls_without_numbers_go_by_id_or_order, begin, end),
        cmocka_unit_test_setup_teardown(one_id_for_two_calls_becomes_two, begin, end),
        cmocka_unit_test_setup_teardown(arguments_before_the_name_wait_for_it, begin, end),
        cmocka_unit_test_setup_teardown(a_call_by_no_name_cannot_be_used, begin, end),
        cmocka_unit_test_setup_teardown(an_answer_keeps_to_the_limits_of_the_contract, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
