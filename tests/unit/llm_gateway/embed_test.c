/* Embeddings as the providers have them: what is asked, what is read, and what is no answer. */
#include "answer/embed_answer.h"
#include "contract/check_embed.h"
#include "embed/embed_priv.h"
#include "provider/provider.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static struct {
    struct arena arena;
    struct embed_answer answer;
    struct failure failure;
    Renga__V1__EmbedRequest request;
    char *inputs[EMBED_INPUTS_MAX + 1];
} now;

static void ask(size_t count)
{
    memset(&now.failure, 0, sizeof now.failure);
    for (size_t i = 0; i < count; i++)
        now.inputs[i] = text("old pond");
    now.request.inputs = now.inputs;
    now.request.n_inputs = count;
    assert_true(embed_answer_init(&now.answer, &now.arena, &now.request));
}

static int begin(void **state)
{
    arena_init(&now.arena, NULL, 0, 32 << 20);
    renga__v1__embed_request__init(&now.request);
    now.request.model = text("m");
    ask(2);
    return 0;
}

static int end(void **state)
{
    arena_fini(&now.arena);
    return 0;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void assert_written_as(const struct provider *provider, struct embed_question question, const char *expected)
{
    struct buffer out;
    struct json_writer writer;
    question.request = &now.request;
    question.model = "theirs";
    buffer_init(&out, 1 << 20);
    json_writer_init(&writer, &out);
    provider->write_embed(&question, &writer);
    assert_true(json_writer_done(&writer));
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
}

static void the_question_has_only_what_was_said(void **state)
{
    now.inputs[1] = text("\"古池\"\n");
    assert_written_as(&openai_provider, (struct embed_question){0},
                      "{\"model\":\"theirs\",\"input\":[\"old pond\",\"\\\"古池\\\"\\n\"]}");
    assert_written_as(&ollama_provider, (struct embed_question){0},
                      "{\"model\":\"theirs\",\"input\":[\"old pond\",\"\\\"古池\\\"\\n\"],\"truncate\":false}");
}

static void form_length_and_context_are_said_where_they_are_set(void **state)
{
    struct embed_question question = {.base64 = true, .context_tokens = 8192};
    ask(1);
    now.request.dimensions = 256;
    assert_written_as(
        &openai_provider, question,
        "{\"model\":\"theirs\",\"input\":[\"old pond\"],\"encoding_format\":\"base64\",\"dimensions\":256}");
    assert_written_as(
        &azure_provider, question,
        "{\"model\":\"theirs\",\"input\":[\"old pond\"],\"encoding_format\":\"base64\",\"dimensions\":256}");
    assert_written_as(&ollama_provider, question,
                      "{\"model\":\"theirs\",\"input\":[\"old pond\"],\"truncate\":false,\"dimensions\":256,"
                      "\"options\":{\"num_ctx\":8192}}");
}

static void each_provider_has_its_way(void **state)
{
    struct status st = {0};
    const struct provider_terms plain = {.version = "", .model = "m"},
                                dated = {.version = "2024-10-21", .model = "small"};
    const struct {
        const struct provider *provider;
        const struct provider_terms *terms;
        const char *path;
    } ways[] = {
        {&openai_provider, &plain, "/embeddings"},
        {&azure_provider, &plain, "/openai/v1/embeddings"},
        {&azure_provider, &dated, "/openai/deployments/small/embeddings?api-version=2024-10-21"},
        {&ollama_provider, &plain, "/api/embed"},
        {&anthropic_provider, &plain, ""},
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        struct provider_endpoint way = {0};
        assert_true(ways[i].provider->find_endpoint(ways[i].terms, &way, &st));
        assert_string_equal(way.embed_path, ways[i].path);
    }
    assert_null(anthropic_provider.write_embed);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_by(const struct provider *provider, const char *body)
{
    ask(now.request.n_inputs);
    return provider->read_embed(&now.answer, body, strlen(body), &now.failure) &&
           embed_answer_conclude(&now.answer, &now.failure);
}

static void assert_read(const struct provider *provider, const char *body)
{
    if (!read_by(provider, body))
        fail_msg("%s", now.failure.status.text);
}

static void assert_refused(const char *body, const char *part)
{
    if (read_by(&openai_provider, body))
        fail_msg("taken: %s", body);
    assert_int_equal(now.failure.status.code, DATA_LOSS);
    assert_contains(now.failure.status.text, part);
}

#define BODY(elements)                                                                                                 \
    "{\"object\":\"list\",\"data\":[" elements "],\"model\":\"big-2026\",\"usage\":{\"prompt_tokens\":7}}"
#define ELEMENT(index, what) "{\"object\":\"embedding\",\"index\":" #index ",\"embedding\":" what "}"
#define HALVES               "\"AAAAPwAAAL8=\"" /* 0.5, -0.5 */

static void vectors_are_read_in_both_forms_whatever_was_asked(void **state)
{
    assert_read(&openai_provider, BODY(ELEMENT(0, "[1,2.5]") "," ELEMENT(1, HALVES)));
    const Renga__V1__Embedding *embeddings = now.answer.embeddings;
    assert_int_equal(embeddings[0].n_values, 2);
    assert_true(embeddings[0].values[0] == 1 && embeddings[0].values[1] == 2.5f);
    assert_int_equal(embeddings[1].n_values, 2);
    assert_true(embeddings[1].values[0] == 0.5f && embeddings[1].values[1] == -0.5f);
    assert_string_equal(now.answer.model, "big-2026");
    assert_int_equal(embed_answer_usage(&now.answer)->input_tokens, 7);
    assert_int_equal(embed_answer_usage(&now.answer)->model_calls, 1);
    assert_false(embed_answer_usage(&now.answer)->estimated);
}

static void vectors_come_into_the_order_of_the_texts(void **state)
{
    assert_read(&openai_provider, BODY("{\"embedding\":[1],\"index\":1}," ELEMENT(0, "[2]")));
    assert_true(now.answer.embeddings[0].values[0] == 2 && now.answer.embeddings[1].values[0] == 1);
    assert_read(&openai_provider, BODY("{\"embedding\":[1]},{\"embedding\":[2]}"));
    assert_true(now.answer.embeddings[0].values[0] == 1 && now.answer.embeddings[1].values[0] == 2);
}

static void ollama_says_it_in_its_own_way(void **state)
{
    assert_read(&ollama_provider,
                "{\"model\":\"nomic\",\"embeddings\":[[0.25,1],[0,-1e-3]],\"total_duration\":14143917,"
                "\"load_duration\":1019500,\"prompt_eval_count\":8}");
    assert_true(now.answer.embeddings[1].values[1] == -0.001f);
    assert_string_equal(now.answer.model, "nomic");
    assert_int_equal(embed_answer_usage(&now.answer)->input_tokens, 8);
    assert_false(read_by(&ollama_provider, "{\"embeddings\":[[1],[2],[3]]}"));
    assert_contains(now.failure.status.text, "a vector 2, but 2 texts were sent");
    assert_false(read_by(&ollama_provider, "{\"embeddings\":[[1]]}"));
    assert_contains(now.failure.status.text, "1 vectors for 2 texts; that of text 1 is missing");
    assert_false(read_by(&ollama_provider, "{\"embedding\":[1]}"));
    assert_contains(now.failure.status.text, "that of text 1 is missing");
    assert_false(read_by(&ollama_provider, "{\"vectors\":[[1]]}"));
    assert_contains(now.failure.status.text, "0 vectors for 2 texts");
    assert_false(read_by(&ollama_provider, "{\"error\":\"model not loaded\"}"));
    assert_int_equal(now.failure.status.code, UNAVAILABLE);
}

static void what_was_not_counted_is_estimated(void **state)
{
    static const char *const usages[] = {
        "null", "{}", "{\"prompt_tokens\":0}", "{\"prompt_tokens\":\"7\"}", "7", "{\"prompt_tokens\":-1}"};
    for (size_t i = 0; i < COUNT(usages); i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"usage\":%s,\"data\":[" ELEMENT(0, "[1]") "," ELEMENT(1, "[1]") "]}", usages[i]);
        assert_read(&openai_provider, body);
        const Renga__V1__Usage *usage = embed_answer_usage(&now.answer);
        assert_true(usage->estimated);
        assert_int_equal(usage->input_tokens, 4); /* twice eight bytes */
    }
}

static void vectors_that_do_not_match_the_texts_are_refused(void **state)
{
    assert_refused(BODY(ELEMENT(0, "[1]")), "1 vectors for 2 texts; that of text 1 is missing");
    assert_refused(BODY(ELEMENT(1, "[1]")), "that of text 0 is missing");
    assert_refused(BODY(""), "0 vectors for 2 texts");
    assert_refused(BODY(ELEMENT(0, "[1]") "," ELEMENT(0, "[1]")), "has vector 0 twice");
    assert_refused(BODY(ELEMENT(0, "[1]") "," ELEMENT(2, "[1]")), "a vector 2, but 2 texts were sent");
    assert_refused(BODY(ELEMENT(-1, "[1]")), "a vector -1");
    assert_refused(BODY(ELEMENT(0, "[1]") "," ELEMENT(1, "[1]") ",{\"embedding\":[1]}"), "a vector 2");
    assert_refused(BODY(ELEMENT(0, "[1,2]") "," ELEMENT(1, "[1]")), "vector 1 has 1 numbers, and others have 2");
}

static void what_is_not_as_the_api_has_it_is_refused(void **state)
{
    assert_refused("nonsense", "are not JSON: 1:1");
    assert_refused("[]", "must be an object, not an array");
    assert_refused("{}", "0 vectors for 2 texts");
    assert_refused("{\"data\":{}}", "data: must be an array");
    assert_refused("{\"data\":null}", "data: must be an array");
    assert_refused(BODY("[1]"), "data[0]: must be an object");
    assert_refused(BODY("{\"index\":0}"), "data[0].embedding: is missing");
    assert_refused(BODY(ELEMENT("0", "[1]")), "data[0].index: must be a whole number");
    assert_refused(BODY(ELEMENT(0.5, "[1]")), "data[0].index: must be a whole number");
    assert_refused(BODY(ELEMENT(1e99, "[1]")), "data[0].index: must be a whole number");
    assert_refused(BODY(ELEMENT(0, "null")), "data[0].embedding: is neither");
    assert_refused(BODY(ELEMENT(0, "[]")), "data[0].embedding: has no numbers");
    assert_refused(BODY(ELEMENT(0, "[1]") "," ELEMENT(1, "[NaN]")), "are not JSON");
    assert_refused(BODY(ELEMENT(0, "[1]") "," ELEMENT(1, "\"AADA/w==\"")),
                   "data[1].embedding: has an element 0 that is not a number");
    assert_refused(BODY(ELEMENT(0, "[1]")) "}", "are not JSON");
}

static void an_error_in_the_place_of_vectors_is_one(void **state)
{
    assert_false(read_by(&openai_provider, "{\"error\":{\"message\":\"No such\",\"code\":\"model_not_found\"}}"));
    assert_int_equal(now.failure.status.code, NOT_FOUND);
    assert_read(&openai_provider, "{\"error\":null,\"data\":[" ELEMENT(0, "[1]") "," ELEMENT(1, "[1]") "]}");
}

static void a_length_that_was_asked_for_is_kept_to(void **state)
{
    now.request.dimensions = 2;
    assert_read(&openai_provider, BODY(ELEMENT(0, "[1,2]") "," ELEMENT(1, "[1,2]")));
    assert_refused(BODY(ELEMENT(0, "[1,2,3]")), "vector 0 has 3 numbers where 2 were asked for");
}

static void more_numbers_than_an_answer_holds_are_the_callers_to_mend(void **state)
{
    static char body[4 * 1000 + 64] = "{\"data\":[{\"embedding\":[0";
    for (int i = 0; i < 999; i++)
        strcat(body + 4, ",1");
    strcat(body, "]}]}");
    ask(1001);
    assert_false(read_by(&openai_provider, body));
    assert_int_equal(now.failure.status.code, INVALID_ARGUMENT);
    assert_string_equal(now.failure.status.field, "inputs");
    assert_contains(now.failure.status.text, "send 1000 texts at a time");
}

static void the_largest_answer_is_as_large_as_its_numbers(void **state)
{
    const size_t usual = 8 << 20;
    now.request.dimensions = 8;
    assert_int_equal(embed_response_max(&now.request, usual), usual);
    ask(1000);
    now.request.dimensions = 1000;
    assert_true(embed_response_max(&now.request, usual) > 25000000);
    now.request.dimensions = 0;
    ask(2048);
    assert_true(embed_response_max(&now.request, usual) < 33000000);
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static void assert_wrong(const char *field, const char *part)
{
    struct status st = {0};
    assert_false(check_embed_request(&now.request, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, field);
    assert_contains(st.text, part);
}

static void requests_are_held_to_the_contract(void **state)
{
    static char long_text[(64 << 10) + 2], long_name[130];
    struct status st = {0};
    Renga__V1__CacheControl cache = RENGA__V1__CACHE_CONTROL__INIT;
    Renga__V1__CallOrigin origin = RENGA__V1__CALL_ORIGIN__INIT;
    memset(long_text, 'x', sizeof long_text - 2);
    memset(long_name, 'm', sizeof long_name - 1);
    now.request.inputs[1] = long_text;
    assert_true(check_embed_request(&now.request, &st));
    long_text[sizeof long_text - 2] = 'x';
    assert_wrong("inputs[1]", "has 65537 bytes; at most 65536 are allowed");
    now.request.inputs[1] = text("");
    assert_wrong("inputs[1]", "inputs[1]: is empty");
    ask(0);
    assert_wrong("inputs", "has 0 entries");
    ask(EMBED_INPUTS_MAX + 1);
    assert_wrong("inputs", "has 2049 entries; 1 to 2048 are allowed");
    ask(1);
    now.request.model = text("");
    assert_wrong("model", "is empty");
    now.request.model = long_name;
    assert_wrong("model", "has 129 bytes");
    now.request.model = text("m");
    now.request.dimensions = -1;
    assert_wrong("dimensions", "is -1; it must be within 0 and 8192 (0 is the model's own)");
    now.request.dimensions = 8193;
    assert_wrong("dimensions", "is 8193");
    now.request.dimensions = 0;
    now.request.priority = (Renga__V1__Priority)9;
    assert_wrong("priority", "is 9");
    now.request.priority = RENGA__V1__PRIORITY__PRIORITY_BATCH;
    now.request.cache = &cache;
    cache.ttl_ms = -1;
    assert_wrong("cache.ttl_ms", "is -1");
    cache.ttl_ms = 0;
    now.request.origin = &origin;
    origin.run_id = long_name;
    assert_wrong("origin.run_id", "has 129 bytes");
}

static void texts_times_dimensions_has_a_bound(void **state)
{
    struct status st = {0};
    ask(1000);
    now.request.dimensions = 1000;
    assert_true(check_embed_request(&now.request, &st));
    now.request.dimensions = 1001;
    assert_wrong("inputs", "send at most 999 texts at a time");
    now.request.dimensions = 0;
    assert_true(check_embed_size(&now.request, "m", 0, &st));
    assert_true(check_embed_size(&now.request, "m", 1000, &st));
    assert_true(check_embed_size(&now.request, "text-embedding-3-large", 1000, &st));
    assert_false(check_embed_size(&now.request, "m", 1536, &st));
    assert_contains(st.text, "send at most 651 texts at a time");
    assert_false(check_embed_size(&now.request, "text-embedding-3-large", 0, &st));
    assert_contains(st.text, "send at most 325 texts at a time");
    now.request.dimensions = 256; /* asked for, and checked with the rest */
    assert_true(check_embed_size(&now.request, "text-embedding-3-large", 0, &st));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_question_has_only_what_was_said),
        TEST(form_length_and_context_are_said_where_they_are_set),
        TEST(each_provider_has_its_way),
        TEST(vectors_are_read_in_both_forms_whatever_was_asked),
        TEST(vectors_come_into_the_order_of_the_texts),
        TEST(ollama_says_it_in_its_own_way),
        TEST(what_was_not_counted_is_estimated),
        TEST(vectors_that_do_not_match_the_texts_are_refused),
        TEST(what_is_not_as_the_api_has_it_is_refused),
        TEST(an_error_in_the_place_of_vectors_is_one),
        TEST(a_length_that_was_asked_for_is_kept_to),
        TEST(more_numbers_than_an_answer_holds_are_the_callers_to_mend),
        TEST(the_largest_answer_is_as_large_as_its_numbers),
        TEST(requests_are_held_to_the_contract),
        TEST(texts_times_dimensions_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
