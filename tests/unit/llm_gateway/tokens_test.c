/* The estimate of tokens. How near it comes to the real count is measured in tests/integration/llm_gateway/tokens.mjs.
 */
#include "admission/tokens.h"
#include "answer/answer.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static int64_t of(const char *text)
{
    return tokens_of_text(text, strlen(text));
}

static void nothing_is_no_token(void **state)
{
    assert_int_equal(tokens_of_text(NULL, 0), 0);
    assert_int_equal(of(""), 0);
}

static void plain_words_are_a_token_each(void **state)
{
    assert_int_equal(of("The cat sat on the mat."), 7);
    assert_int_equal(of("1234567"), 3); /* digits go by threes */
    assert_int_equal(of("\n\n"), 1);
    assert_int_equal(of("----------------------------------------"), 1);
    assert_int_equal(of("                                        "), 1);
}

static void kana_are_counted_by_the_words_that_the_vocabulary_has(void **state)
{
    assert_int_equal(of("ありがとうございました"), 1);
    assert_int_equal(of("ありがとうございます。"), 2);
    assert_int_equal(of("ぬぬぬ"), 3);
    assert_int_equal(of("スーパー"), 1);
    assert_int_equal(of("サービス"), 1);
}

static void a_longer_text_is_never_fewer_tokens(void **state)
{
    char text[257];
    for (const char *letters = "a日あアA7-é"; *letters; letters += text_character(letters, 4)) {
        size_t width = text_character(letters, 4);
        int64_t before = 0;
        for (size_t length = 0; length + width <= sizeof text; length += width) {
            memcpy(text + length, letters, width);
            int64_t tokens = tokens_of_text(text, length + width);
            if (tokens < before)
                fail_msg("%zu times '%.*s' is %lld, one less %lld", length / width + 1, (int)width, letters,
                         (long long)tokens, (long long)before);
            before = tokens;
        }
    }
}

/* On the heap and without a NUL, so that AddressSanitizer sees every byte that is read beyond the end. */
static void what_is_no_utf8_is_counted_and_not_read_past(void **state)
{
    static const char *const cut[] = {"\xE3",     "\xE3\x81", "\xF0\x9F\x90", "\xC3",      "\xE3\x81\x82\xE3\x81",
                                      "\x80\x80", "\xFF",     "\xED\xA0\x80", "a\xC0\x80", "\xE3\x81\xFF"};
    for (size_t i = 0; i < COUNT(cut); i++) {
        size_t size = strlen(cut[i]);
        char *text = malloc(size);
        memcpy(text, cut[i], size);
        int64_t tokens = tokens_of_text(text, size);
        assert_in_range(tokens, 1, size);
        free(text);
    }
    for (unsigned seed = 0; seed < 2000; seed++) {
        size_t size = seed % 61;
        char *text = malloc(size + !size);
        for (size_t i = 0; i < size; i++)
            text[i] = (char)(seed * 2654435761u >> (i % 24) ^ i * 40503u);
        assert_in_range(tokens_of_text(text, size), 0, 3 * size);
        free(text);
    }
}

static void a_question_counts_with_all_that_is_sent(void **state)
{
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT;
    Renga__V1__ChatMessage *turns[] = {&turn, &turn};
    Renga__V1__ToolDefinition tool = RENGA__V1__TOOL_DEFINITION__INIT;
    Renga__V1__ToolDefinition *tools[] = {&tool};
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    request.messages = turns;
    request.n_messages = 1;
    turn.content = (char *)(uintptr_t) "The cat sat on the mat.";
    int64_t one = tokens_of_chat(&request);
    assert_in_range(one, 7 + 6, 7 + 8); /* OpenAI: 4 a turn and 3 for the answer */
    request.n_messages = 2;
    assert_in_range(tokens_of_chat(&request) - one, 7 + 3, 7 + 4);
    request.n_messages = 1;
    request.tools = tools;
    request.n_tools = 1;
    tool.name = (char *)(uintptr_t) "lookup";
    tool.parameters_json = (char *)(uintptr_t) "{\"type\":\"object\"}";
    int64_t with_tool = tokens_of_chat(&request);
    assert_true(with_tool > one + 8);
    request.response_format = &format;
    format.schema_json = (char *)(uintptr_t) "{\"type\":\"object\"}";
    assert_true(tokens_of_chat(&request) > with_tool + 5);
}

static void texts_to_embed_are_added_up(void **state)
{
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    char *inputs[] = {(char *)(uintptr_t) "The cat sat on the mat.", (char *)(uintptr_t) "ありがとうございました"};
    request.inputs = inputs;
    request.n_inputs = 2;
    assert_int_equal(tokens_of_embed(&request), 8);
}

/* As a stream brings it: a token a piece, and no usage at the end. */
static void a_stream_without_usage_is_estimated_from_its_pieces(void **state)
{
    static const char *const pieces[] = {"The", " cat", " sat", " on", " the", " mat", "."};
    struct arena arena;
    struct answer answer;
    struct failure failure = {0};
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    arena_init(&arena, NULL, 0, 1 << 20);
    answer_init(&answer, &arena, &request);
    for (size_t i = 0; i < COUNT(pieces); i++)
        assert_true(answer_add(&answer, ANSWER_TEXT, pieces[i], &failure));
    const Renga__V1__Usage *usage = answer_usage(&answer);
    assert_true(usage->estimated);
    assert_in_range(usage->output_tokens, 7, 8);
    assert_int_equal(usage->input_tokens, tokens_of_chat(&request));
    answer_set_usage(&answer, 100, 50, 0, 0);
    answer.usage.estimated = false;
    assert_int_equal(answer_usage(&answer)->output_tokens, 50);
    assert_false(answer_usage(&answer)->estimated);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_no_token),
        cmocka_unit_test(plain_words_are_a_token_each),
        cmocka_unit_test(kana_are_counted_by_the_words_that_the_vocabulary_has),
        cmocka_unit_test(a_longer_text_is_never_fewer_tokens),
        cmocka_unit_test(what_is_no_utf8_is_counted_and_not_read_past),
        cmocka_unit_test(a_question_counts_with_all_that_is_sent),
        cmocka_unit_test(texts_to_embed_are_added_up),
        cmocka_unit_test(a_stream_without_usage_is_estimated_from_its_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
