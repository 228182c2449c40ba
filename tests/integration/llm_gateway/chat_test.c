/* LlmGateway.Chat: what is asked, what comes back. */
#include "gateway_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSE        "古池や蛙飛びこむ水の音 🐸 – an old pond"
#define REASON(name) RENGA__V1__FINISH_REASON__FINISH_REASON_##name

static void a_question_is_answered(void **state)
{
    struct reply *reply = ask_model(*state, "chat");
    assert_status(reply, OK, "");
    const Renga__V1__ChatResponse *response = reply->response;
    assert_string_equal(response->id, "chatcmpl-1");
    assert_string_equal(response->message->content, VERSE);
    assert_int_equal(response->message->role, RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT);
    assert_int_equal(response->finish->finish_reason, REASON(STOP));
    assert_string_equal(response->finish->provider_finish_reason, "stop");
    assert_string_equal(response->finish->structured_json, "");
    reply_free(reply);
}

static void an_answer_says_who_gave_it_and_what_it_cost(void **state)
{
    struct reply *reply = ask_model(*state, "chat");
    const Renga__V1__ChatFinish *finish = reply->response->finish;
    assert_int_equal(finish->usage->input_tokens, 21);
    assert_int_equal(finish->usage->output_tokens, 9);
    assert_int_equal(finish->usage->cached_input_tokens, 5);
    assert_int_equal(finish->usage->reasoning_tokens, 3);
    assert_int_equal(finish->usage->model_calls, 1);
    assert_false(finish->usage->estimated);
    assert_string_equal(finish->answered_by->model, "scripted-2026");
    assert_string_equal(finish->answered_by->provider, "openai");
    assert_int_equal(finish->n_attempts, 1);
    assert_int_equal(finish->attempts[0]->http_status, 200);
    assert_string_equal(finish->attempts[0]->provider_request_id, "req-1");
    assert_true(finish->attempts[0]->started_ms > INT64_C(1500000000000));
    assert_true(finish->duration_ms >= 0 && finish->duration_ms < 5000);
    reply_free(reply);
}

static void usage_that_was_not_given_is_estimated(void **state)
{
    struct reply *reply = ask_model(*state, "no-usage");
    const Renga__V1__Usage *usage = reply->response->finish->usage;
    assert_true(usage->estimated);
    assert_int_equal(usage->input_tokens, 12); /* "What of the pond?" is 5; 4 for a turn, 3 for the answer */
    assert_int_equal(usage->output_tokens, 2); /* "no counts" */
    reply_free(reply);
}

static void the_upstream_gets_key_path_and_request(void **state)
{
    struct reply *reply = ask_model(*state, "chat");
    char *authorization = seen_text(*state, "chat", "authorization"), *path = seen_text(*state, "chat", "path");
    char *body = seen_text(*state, "chat", "body");
    assert_string_equal(authorization, "Bearer " KEY);
    assert_string_equal(path, "/v1/chat/completions");
    assert_string_equal(body,
                        "{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"What of the pond?\"}]}");
    free(authorization);
    free(path);
    free(body);
    reply_free(reply);
}

static void default_is_the_first_model(void **state)
{
    struct reply *reply = ask_model(*state, "default");
    assert_status(reply, OK, "");
    assert_string_equal(reply->response->message->content, VERSE);
    reply_free(reply);
}

static void an_unknown_model_is_not_found(void **state)
{
    struct reply *reply = ask_model(*state, "chatt");
    assert_status(reply, NOT_FOUND, "no model 'chatt' here; did you mean 'chat'?");
    reply_free(reply);
}

static void tool_calls_come_whole(void **state)
{
    struct reply *reply = ask_model(*state, "tools");
    assert_status(reply, OK, "");
    const Renga__V1__ChatMessage *message = reply->response->message;
    assert_int_equal(reply->response->finish->finish_reason, REASON(TOOL_CALLS));
    assert_int_equal(message->n_tool_calls, 2);
    assert_string_equal(message->tool_calls[0]->id, "call_a");
    assert_string_equal(message->tool_calls[0]->name, "search");
    assert_string_equal(message->tool_calls[1]->arguments_json, "{\"city\":\"京都\"}");
    assert_string_equal(message->content, "");
    reply_free(reply);
}

static void thinking_stands_apart_from_the_answer(void **state)
{
    struct reply *reply = ask_model(*state, "thinks");
    assert_string_equal(reply->response->message->content, "42");
    assert_string_equal(reply->response->message->reasoning, "let me see");
    reply_free(reply);
}

static void a_compressed_answer_is_read(void **state)
{
    struct reply *reply = ask_model(*state, "zipped");
    assert_status(reply, OK, "");
    assert_string_equal(reply->response->message->content, "packed");
    reply_free(reply);
}

static void every_way_to_stop_is_an_answer(void **state)
{
    static const struct {
        const char *model;
        Renga__V1__FinishReason reason;
    } ways[] = {
        {"refuses", REASON(REFUSAL)},    {"stops-short", REASON(LENGTH)}, {"filtered", REASON(CONTENT_FILTER)},
        {"says-nothing", REASON(EMPTY)}, {"no-choices", REASON(EMPTY)},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct reply *reply = ask_model(*state, ways[i].model);
        assert_status(reply, OK, "");
        assert_int_equal(reply->response->finish->finish_reason, ways[i].reason);
        reply_free(reply);
    }
}

static void a_demanded_tool_that_is_not_called_is_an_outcome(void **state)
{
    struct question question;
    question_init(&question, "chat");
    Renga__V1__ToolDefinition tool = RENGA__V1__TOOL_DEFINITION__INIT, *tools[] = {&tool};
    Renga__V1__ToolChoice choice = RENGA__V1__TOOL_CHOICE__INIT;
    tool.name = (char *)(uintptr_t) "search";
    choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED;
    question.request.tools = tools;
    question.request.n_tools = 1;
    question.request.tool_choice = &choice;
    struct reply *reply = ask(*state, &question);
    assert_status(reply, OK, "");
    assert_int_equal(reply->response->finish->finish_reason, REASON(MISSING_TOOL_CALLS));
    assert_string_equal(reply->response->message->content, VERSE);
    reply_free(reply);
}

static void json_is_given_beside_the_text(void **state)
{
    struct question question;
    question_init(&question, "structured");
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT;
    question.request.response_format = &format;
    struct reply *reply = ask(*state, &question);
    assert_status(reply, OK, "");
    assert_string_equal(reply->response->finish->structured_json, "{\"title\": \"池\", \"steps\": [1, 2]}");
    reply_free(reply);
}

static void text_in_place_of_json_is_a_failure_that_shows_it(void **state)
{
    struct question question;
    question_init(&question, "no-json");
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT;
    question.request.response_format = &format;
    struct reply *reply = ask(*state, &question);
    assert_status(reply, DATA_LOSS, "not the JSON that was asked for");
    assert_null(strstr(reply->status.text, "Here is"));
    Renga__V1__InvalidOutput *invalid =
        (Renga__V1__InvalidOutput *)detail(reply, &renga__v1__invalid_output__descriptor);
    assert_non_null(invalid);
    assert_string_equal(invalid->raw_text, "Here is your JSON: {");
    assert_non_null(strstr(invalid->problem, "1:1"));
    renga__v1__invalid_output__free_unpacked(invalid, NULL);
    Renga__V1__Usage *usage = (Renga__V1__Usage *)detail(reply, &renga__v1__usage__descriptor);
    assert_non_null(usage);
    assert_int_equal(usage->output_tokens, 2 * 9); /* it was asked once more */
    renga__v1__usage__free_unpacked(usage, NULL);
    reply_free(reply);
}

static void a_bad_request_is_refused_by_its_field(void **state)
{
    struct question question;
    question_init(&question, "chat");
    int64_t before = seen_number(*state, "chat", "requests");
    question.message.role = (Renga__V1__ChatRole)9;
    struct reply *reply = ask(*state, &question);
    assert_status(reply, INVALID_ARGUMENT, "messages[0].role: is 9; it must be one of CHAT_ROLE_SYSTEM (1)");
    assert_string_equal(reply->status.field, "messages[0].role");
    assert_int_equal(seen_number(*state, "chat", "requests"), before);
    reply_free(reply);
}

/* ---- the other methods ------------------------------------------------------------------------------------------- */

struct listing {
    struct rpc_client_call call;
    sem_t done;
    size_t count;
    char first[64];
};

static void listed(const Renga__V1__ListModelsResponse *response, void *data)
{
    struct listing *listing = ((struct rpc_client_call *)data)->owner;
    if (response) {
        listing->count = response->n_models;
        snprintf(listing->first, sizeof listing->first, "%s by %s", response->models[0]->name,
                 response->models[0]->deployments[0]->target->provider);
    }
    sem_post(&listing->done);
}

static void the_configured_models_are_listed(void **state)
{
    struct fixture *fixture = *state;
    struct listing listing = {0};
    Renga__V1__ListModelsRequest request = RENGA__V1__LIST_MODELS_REQUEST__INIT;
    sem_init(&listing.done, 0, 0);
    loop_enter(fixture->loop);
    rpc_client_call_init(&listing.call, fixture->loop, NULL);
    listing.call.owner = &listing;
    renga__v1__llm_gateway__list_models(fixture->stub, &request, listed, &listing.call);
    loop_leave(fixture->loop);
    sem_wait(&listing.done);
    assert_true(listing.count > 40);
    assert_string_equal(listing.first, "chat by openai");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered),
        cmocka_unit_test(an_answer_says_who_gave_it_and_what_it_cost),
        cmocka_unit_test(usage_that_was_not_given_is_estimated),
        cmocka_unit_test(the_upstream_gets_key_path_and_request),
        cmocka_unit_test(default_is_the_first_model),
        cmocka_unit_test(an_unknown_model_is_not_found),
        cmocka_unit_test(tool_calls_come_whole),
        cmocka_unit_test(thinking_stands_apart_from_the_answer),
        cmocka_unit_test(a_compressed_answer_is_read),
        cmocka_unit_test(every_way_to_stop_is_an_answer),
        cmocka_unit_test(a_demanded_tool_that_is_not_called_is_an_outcome),
        cmocka_unit_test(json_is_given_beside_the_text),
        cmocka_unit_test(text_in_place_of_json_is_a_failure_that_shows_it),
        cmocka_unit_test(a_bad_request_is_refused_by_its_field),
        cmocka_unit_test(the_configured_models_are_listed),
    };
    return run_both_ways("Chat", tests, sizeof tests / sizeof tests[0]);
}
