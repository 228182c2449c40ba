/* LlmGateway.Embed: texts to vectors, to the bit, and what is no answer. */
#include "gateway_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 120000 /* a second or two where the cores are ours */

struct vectors {
    struct rpc_client_call call;
    struct reply reply; /* status and details alone */
    Renga__V1__EmbedResponse *response;
};

static void came(const Renga__V1__EmbedResponse *response, void *data)
{
    struct vectors *vectors = ((struct rpc_client_call *)data)->owner;
    size_t size = response ? renga__v1__embed_response__get_packed_size(response) : 0;
    if (response) {
        uint8_t *bytes = malloc(size + 1);
        renga__v1__embed_response__pack(response, bytes);
        vectors->response = renga__v1__embed_response__unpack(NULL, size, bytes);
        free(bytes);
    }
    const void *details = rpc_client_call_metadata(&vectors->call, "grpc-status-details-bin", &size);
    if (details)
        vectors->reply.details = google__rpc__status__unpack(NULL, size, details);
    vectors->reply.status = vectors->call.status;
    sem_post(&vectors->reply.done);
}

static struct vectors *begin(struct fixture *fixture, const Renga__V1__EmbedRequest *request, int64_t timeout_ms)
{
    struct vectors *vectors = calloc(1, sizeof *vectors);
    sem_init(&vectors->reply.done, 0, 0);
    loop_enter(fixture->loop);
    rpc_client_call_init(&vectors->call, fixture->loop, NULL);
    vectors->call.timeout_ms = timeout_ms;
    vectors->call.owner = vectors;
    renga__v1__llm_gateway__embed(fixture->stub, request, came, &vectors->call);
    loop_leave(fixture->loop);
    return vectors;
}

static struct vectors *embed(struct fixture *fixture, const char *model, const char *const *texts, size_t count)
{
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    request.model = (char *)(uintptr_t)model;
    request.inputs = (char **)(uintptr_t)texts;
    request.n_inputs = count;
    struct vectors *vectors = begin(fixture, &request, PATIENCE_MS);
    await(&vectors->reply);
    return vectors;
}

static void vectors_free(struct vectors *vectors)
{
    if (vectors->response)
        renga__v1__embed_response__free_unpacked(vectors->response, NULL);
    if (vectors->reply.details)
        google__rpc__status__free_unpacked(vectors->reply.details, NULL);
    free(vectors);
}

static const char *const TEXTS[] = {"an old pond", "a frog leaps in"};

/* ---- good answers ------------------------------------------------------------------------------------------------ */

static void each_text_gets_its_own_vector(void **state)
{
    struct vectors *vectors = embed(*state, "embeds", TEXTS, 2); /* it answers the last one first */
    assert_status(&vectors->reply, OK, "");
    assert_int_equal(vectors->response->n_embeddings, 2);
    for (size_t i = 0; i < 2; i++) {
        const Renga__V1__Embedding *embedding = vectors->response->embeddings[i];
        assert_int_equal(embedding->n_values, 3);
        assert_true(embedding->values[0] == (float)strlen(TEXTS[i]));
        assert_true(embedding->values[1] == 0.5f && embedding->values[2] == -0.25f);
    }
    vectors_free(vectors);
}

static void an_answer_says_who_gave_it_and_what_it_cost(void **state)
{
    struct vectors *vectors = embed(*state, "embeds", TEXTS, 2);
    const Renga__V1__EmbedResponse *response = vectors->response;
    assert_int_equal(response->usage->input_tokens, 11);
    assert_int_equal(response->usage->output_tokens, 0);
    assert_int_equal(response->usage->model_calls, 1);
    assert_false(response->usage->estimated);
    assert_string_equal(response->answered_by->model, "scripted-embedding-2026");
    assert_string_equal(response->answered_by->provider, "openai");
    assert_int_equal(response->n_attempts, 1);
    assert_int_equal(response->attempts[0]->http_status, 200);
    assert_string_equal(response->attempts[0]->provider_request_id, "req-1");
    assert_true(response->attempts[0]->started_ms > INT64_C(1500000000000));
    vectors_free(vectors);
    vectors = embed(*state, "embeds-uncounted", TEXTS, 2);
    assert_true(vectors->response->usage->estimated);
    assert_int_equal(vectors->response->usage->input_tokens, 7); /* 26 bytes */
    vectors_free(vectors);
}

static void the_upstream_is_asked_for_what_it_is_known_to_have(void **state)
{
    vectors_free(embed(*state, "embeds", TEXTS, 2));
    char *path = seen_text(*state, "embeds", "path"), *body = seen_text(*state, "embeds", "body");
    char *authorization = seen_text(*state, "embeds", "authorization");
    assert_string_equal(path, "/v1/embeddings");
    assert_string_equal(authorization, "Bearer " KEY);
    assert_string_equal(body, "{\"model\":\"embeds\",\"input\":[\"an old pond\",\"a frog leaps in\"]}");
    free(path);
    free(body);
    free(authorization);
}

static void every_float_arrives_to_the_bit(void **state)
{
    static const uint32_t bits[] = {0x3f800000, 0xbf000000, 0x00000000, 0x80000000, 0x00000001, 0x807fffff,
                                    0x00800000, 0x7f7fffff, 0xff7fffff, 0x3dcccccd, 0x3eaaaaab, 0x2edbe6ff};
    static const char *const models[] = {"embeds", "embeds-base64", "embeds-numbers", "embeds-escaped",
                                         "embeds-zipped"};
    char text[256] = "";
    const char *const texts[] = {text};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%08x", i ? " " : "", bits[i]);
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct vectors *vectors = embed(*state, models[i], texts, 1);
        assert_status(&vectors->reply, OK, "");
        assert_int_equal(vectors->response->embeddings[0]->n_values, sizeof bits / sizeof bits[0]);
        assert_memory_equal(vectors->response->embeddings[0]->values, bits, sizeof bits);
        vectors_free(vectors);
    }
}

static void a_million_numbers_are_answered_in_both_forms(void **state)
{
    static const char *texts[2048];
    static const char *const models[] = {"embeds-base64", "embeds-numbers"};
    for (size_t i = 0; i < 2048; i++)
        texts[i] = "488 long";
    for (size_t i = 0; i < 2; i++) {
        struct vectors *vectors = embed(*state, models[i], texts, 2048);
        assert_status(&vectors->reply, OK, "");
        assert_int_equal(vectors->response->n_embeddings, 2048);
        assert_int_equal(vectors->response->embeddings[2047]->n_values, 488);
        assert_true(vectors->response->embeddings[2047]->values[487] == 3.14159274f);
        vectors_free(vectors);
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void a_bad_request_is_refused_by_its_field_before_it_costs(void **state)
{
    static const char *const empty[] = {"a", ""};
    int64_t before = seen_number(*state, "embeds", "requests");
    struct vectors *vectors = embed(*state, "embeds", empty, 2);
    assert_status(&vectors->reply, INVALID_ARGUMENT, "inputs[1]: is empty");
    assert_string_equal(vectors->reply.status.field, "inputs[1]");
    vectors_free(vectors);
    vectors = embed(*state, "embedz", TEXTS, 2);
    assert_status(&vectors->reply, NOT_FOUND, "did you mean 'embeds'?");
    vectors_free(vectors);
    assert_int_equal(seen_number(*state, "embeds", "requests"), before);
}

static void more_numbers_than_an_answer_holds_are_for_the_caller_to_divide(void **state)
{
    static const char *texts[1000];
    for (size_t i = 0; i < 1000; i++)
        texts[i] = "1536 long";
    struct vectors *vectors = embed(*state, "embeds-base64", texts, 1000);
    assert_status(&vectors->reply, INVALID_ARGUMENT, "send 651 texts at a time");
    assert_string_equal(vectors->reply.status.field, "inputs");
    vectors_free(vectors);
}

static void an_answer_that_is_none_ends_in_its_code(void **state)
{
    static const struct {
        const char *model;
        enum status_code code;
        const char *part;
    } answers[] = {
        {"embeds-one", DATA_LOSS, "1 vectors for 2 texts; that of text 1 is missing"},
        {"embeds-more", DATA_LOSS, "a vector 2, but 2 texts were sent"},
        {"embeds-twice", DATA_LOSS, "vector 0 twice"},
        {"embeds-unevenly", DATA_LOSS, "vector 1 has 1 numbers, and others have 2"},
        {"embeds-nan", DATA_LOSS, "data[0].embedding: has an element 0 that is not a number"},
        {"embeds-garbage", DATA_LOSS, "is not base64"},
        {"embeds-endless", DATA_LOSS, "larger than 2 texts can make it"},
        {"chat", DATA_LOSS, "has 0 vectors for"},
        {"short-json", DATA_LOSS, "are not JSON"},
        {"cuts-json", DATA_LOSS, ""},
        {"huge", DATA_LOSS, "larger than 2 texts"},
        {"bomb", DATA_LOSS, "larger than 2 texts"},
        {"closes", UNAVAILABLE, ""},
        {"error-in-200", UNAVAILABLE, "The server had an error"},
        {"broken", UNAVAILABLE, "HTTP 500"},
        {"overloaded", UNAVAILABLE, "HTTP 529"},
        {"busy-ms", RESOURCE_EXHAUSTED, "Slow down"},
        {"poor", RESOURCE_EXHAUSTED, "is empty"},
        {"locked", FAILED_PRECONDITION, "[key]"},
        {"gone", NOT_FOUND, "does not exist"},
        {"too-long", INVALID_ARGUMENT, "inputs: the provider refuses it (HTTP 400): This model's maximum context"},
        {"moved", FAILED_PRECONDITION, "HTTP 308"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct vectors *vectors = embed(*state, answers[i].model, TEXTS, 2);
        assert_status(&vectors->reply, answers[i].code, answers[i].part);
        if (strcmp(answers[i].model, "busy-ms") == 0)
            assert_int_equal(vectors->reply.status.retry_after_ms, 1250);
        if (strcmp(answers[i].model, "poor") == 0)
            assert_non_null(vectors->reply.details);
        vectors_free(vectors);
    }
}

static void what_was_spent_on_a_failure_is_told(void **state)
{
    struct vectors *vectors = embed(*state, "embeds-one", TEXTS, 2);
    Renga__V1__Usage *usage = (Renga__V1__Usage *)detail(&vectors->reply, &renga__v1__usage__descriptor);
    assert_non_null(usage);
    assert_int_equal(usage->input_tokens, 11);
    renga__v1__usage__free_unpacked(usage, NULL);
    vectors_free(vectors);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void the_callers_deadline_and_leave_stop_the_upstream(void **state)
{
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    struct fixture *fixture = *state;
    request.model = (char *)(uintptr_t) "hangs";
    request.inputs = (char **)(uintptr_t)TEXTS;
    request.n_inputs = 2;
    int64_t since_ns = clock_now_ns();
    struct vectors *vectors = begin(fixture, &request, 300);
    await(&vectors->reply);
    assert_status(&vectors->reply, DEADLINE_EXCEEDED, "");
    assert_true(left_after_ns(fixture, "hangs", since_ns) < 5 * NS_PER_SEC);
    vectors_free(vectors);

    int64_t before = seen_number(fixture, "hangs", "requests");
    vectors = begin(fixture, &request, PATIENCE_MS);
    while (seen_number(fixture, "hangs", "requests") == before)
        usleep(1000);
    since_ns = clock_now_ns();
    loop_enter(fixture->loop);
    rpc_client_call_cancel(&vectors->call);
    loop_leave(fixture->loop);
    await(&vectors->reply);
    assert_status(&vectors->reply, CANCELLED, "");
    assert_true(left_after_ns(fixture, "hangs", since_ns) < 5 * NS_PER_SEC);
    vectors_free(vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_gets_its_own_vector),
        cmocka_unit_test(an_answer_says_who_gave_it_and_what_it_cost),
        cmocka_unit_test(the_upstream_is_asked_for_what_it_is_known_to_have),
        cmocka_unit_test(every_float_arrives_to_the_bit),
        cmocka_unit_test(a_million_numbers_are_answered_in_both_forms),
        cmocka_unit_test(a_bad_request_is_refused_by_its_field_before_it_costs),
        cmocka_unit_test(more_numbers_than_an_answer_holds_are_for_the_caller_to_divide),
        cmocka_unit_test(an_answer_that_is_none_ends_in_its_code),
        cmocka_unit_test(what_was_spent_on_a_failure_is_told),
        cmocka_unit_test(the_callers_deadline_and_leave_stop_the_upstream),
    };
    return run_both_ways("Embed", tests, sizeof tests / sizeof tests[0]);
}
