/* Keys: what makes two requests the same, and what keeps them apart. */
#include "cache/response_cache.h"

#include "unit.h"

static Renga__V1__ChatMessage question = RENGA__V1__CHAT_MESSAGE__INIT;
static Renga__V1__ChatMessage *conversation[] = {&question};

static Renga__V1__ChatRequest chat(const char *content)
{
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    request.model = (char *)(uintptr_t) "gpt";
    request.n_messages = 1;
    request.messages = conversation;
    question.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    question.content = (char *)(uintptr_t)content;
    return request;
}

static bool same(const struct response_cache_key *a, const struct response_cache_key *b)
{
    return memcmp(a->bytes, b->bytes, RESPONSE_CACHE_KEY_SIZE) == 0;
}

static void the_same_request_has_the_same_key_and_another_has_another(void **state)
{
    struct response_cache_key one, again, other;
    Renga__V1__ChatRequest request = chat("hello");
    response_cache_key_of_chat("t", &request, &one);
    response_cache_key_of_chat("t", &request, &again);
    assert_true(same(&one, &again));
    request.max_output_tokens = 7;
    response_cache_key_of_chat("t", &request, &other);
    assert_false(same(&one, &other));
    request = chat("hellp");
    response_cache_key_of_chat("t", &request, &other);
    assert_false(same(&one, &other));
}

static void who_asks_and_how_makes_no_difference(void **state)
{
    struct response_cache_key plain, dressed;
    Renga__V1__CacheControl cache = RENGA__V1__CACHE_CONTROL__INIT;
    Renga__V1__CallOrigin origin = RENGA__V1__CALL_ORIGIN__INIT;
    Renga__V1__ChatRequest request = chat("hello");
    response_cache_key_of_chat("t", &request, &plain);
    cache.read = true;
    origin.run_id = (char *)(uintptr_t) "run-7";
    request.cache = &cache;
    request.origin = &origin;
    request.idempotency_key = (char *)(uintptr_t) "word";
    request.priority = RENGA__V1__PRIORITY__PRIORITY_BATCH;
    request.max_model_calls = 2;
    response_cache_key_of_chat("t", &request, &dressed);
    assert_true(same(&plain, &dressed));
    assert_ptr_equal(request.cache, &cache); /* the request is as it was */
}

static void tenants_share_nothing(void **state)
{
    struct response_cache_key one, other;
    Renga__V1__ChatRequest request = chat("hello");
    response_cache_key_of_chat("a", &request, &one);
    response_cache_key_of_chat("b", &request, &other);
    assert_false(same(&one, &other));
    response_cache_key_of_idempotency("ab", "c", &one);
    response_cache_key_of_idempotency("a", "bc", &other);
    assert_false(same(&one, &other));
}

static void a_request_of_any_size_is_digested_as_it_would_be_packed(void **state)
{
    static char long_text[70001];
    struct response_cache_key one, other;
    memset(long_text, 'x', sizeof long_text - 1);
    Renga__V1__ChatRequest request = chat(long_text);
    response_cache_key_of_chat("t", &request, &one);
    for (size_t i = 0; i < sizeof long_text - 1; i += 997) {
        long_text[i] = 'y';
        response_cache_key_of_chat("t", &request, &other);
        assert_false(same(&one, &other));
        long_text[i] = 'x';
    }
    response_cache_key_of_chat("t", &request, &other);
    assert_true(same(&one, &other));
}

static void kinds_of_keys_never_meet(void **state)
{
    struct response_cache_key chat_key, embed_key, idempotency_hash;
    Renga__V1__ChatRequest chat_request = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__EmbedRequest embed_request = RENGA__V1__EMBED_REQUEST__INIT;
    response_cache_key_of_chat("t", &chat_request, &chat_key);
    response_cache_key_of_embed("t", &embed_request, &embed_key);
    response_cache_key_of_idempotency("t", "", &idempotency_hash);
    assert_false(same(&chat_key, &embed_key));
    assert_false(same(&chat_key, &idempotency_hash));
    assert_false(same(&embed_key, &idempotency_hash));
}

static void texts_to_embed_are_told_apart_by_their_bounds(void **state)
{
    struct response_cache_key one, other;
    char *joined[] = {(char *)(uintptr_t) "ab", (char *)(uintptr_t) "c"};
    char *split[] = {(char *)(uintptr_t) "a", (char *)(uintptr_t) "bc"};
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    request.n_inputs = 2;
    request.inputs = joined;
    response_cache_key_of_embed("t", &request, &one);
    request.priority = RENGA__V1__PRIORITY__PRIORITY_BATCH;
    response_cache_key_of_embed("t", &request, &other);
    assert_true(same(&one, &other));
    request.inputs = split;
    response_cache_key_of_embed("t", &request, &other);
    assert_false(same(&one, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_request_has_the_same_key_and_another_has_another),
        cmocka_unit_test(who_asks_and_how_makes_no_difference),
        cmocka_unit_test(tenants_share_nothing),
        cmocka_unit_test(a_request_of_any_size_is_digested_as_it_would_be_packed),
        cmocka_unit_test(kinds_of_keys_never_meet),
        cmocka_unit_test(texts_to_embed_are_told_apart_by_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
