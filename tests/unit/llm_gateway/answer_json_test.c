/* What passes for the JSON that was asked for. */
#include "answer/answer.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

struct asking {
    struct arena arena;
    struct answer answer;
    struct failure failure;
    Renga__V1__ChatRequest request;
    Renga__V1__ResponseFormat format;
    Renga__V1__ChatFinish finish;
};

/* Whether an answer of this text passes; `schema` NULL asks for any object. */
static bool passes(struct asking *asking, const char *schema, const char *text)
{
    struct status st = {0};
    memset(asking, 0, sizeof *asking);
    arena_init(&asking->arena, NULL, 0, 32 << 20);
    renga__v1__chat_request__init(&asking->request);
    renga__v1__response_format__init(&asking->format);
    renga__v1__chat_finish__init(&asking->finish);
    asking->format.kind = schema ? RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA
                                 : RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT;
    asking->format.schema_json = (char *)(uintptr_t)(schema ? schema : "");
    asking->request.response_format = &asking->format;
    answer_init(&asking->answer, &asking->arena, &asking->request);
    asking->answer.keeps_content = true;
    if (!answer_expect(&asking->answer, &st))
        fail_msg("%s", st.text);
    assert_true(answer_add(&asking->answer, ANSWER_TEXT, text, &asking->failure));
    answer_stop(&asking->answer, &(struct answer_word){"stop", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP}, "stop");
    return answer_finish(&asking->answer, &asking->finish, &asking->failure);
}

static void what_is_only_wrapped_is_taken_out(void **state)
{
    static const char *const texts[] = {
        "{\"a\":1}",
        " \r\n\t{\"a\":1}\n",
        "\xEF\xBB\xBF{\"a\":1}",
        "```json\n{\"a\":1}\n```",
        "```\n{\"a\":1}```",
        "\n```JSON \r\n\r\n{\"a\":1}\r\n```\r\n",
        "\xEF\xBB\xBF ```json\n{\"a\":1}\n```",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        for (int with_schema = 0; with_schema < 2; with_schema++) {
            struct asking asking;
            if (!passes(&asking, with_schema ? "{\"type\":\"object\"}" : NULL, texts[i]))
                fail_msg("%s: %s", texts[i], asking.failure.problem);
            assert_string_equal(asking.finish.structured_json, "{\"a\":1}");
            assert_string_equal(asking.answer.parts[ANSWER_TEXT].bytes, texts[i]); /* the turn stays as it was */
            arena_fini(&asking.arena);
        }
}

static void what_is_more_than_wrapped_is_not_guessed_at(void **state)
{
    static const char *const texts[] = {
        "Here: {\"a\":1}",
        "{\"a\":1} Anything else?",
        "```json\n{\"a\":1}\n``` Anything else?",
        "{\"a\":1}{\"b\":2}",
        "```{\"a\":1}```",
        "```json\n```",
        "```",
        "``````",
        "```json {\"a\":1}",
        "[1]",
        "\"{}\"",
        "null",
        "{\"a\":1,\"a\":2}",
        "{'a':1}",
        "{\"a\":1,}",
        " ",
        "<think></think>{}",
        "```json\n{\"a\":1}\n```\n```\n",
        "{\"a\":NaN}",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        for (int with_schema = 0; with_schema < 2; with_schema++) {
            struct asking asking;
            if (passes(&asking, with_schema ? "{\"type\":\"object\"}" : NULL, texts[i]))
                fail_msg("%s should not pass", texts[i]);
            assert_int_equal(asking.failure.status.code, DATA_LOSS);
            assert_true(asking.failure.mendable);
            assert_true(asking.failure.problem[0] != '\0');
            assert_int_equal(asking.failure.raw_size, strlen(texts[i]));
            arena_fini(&asking.arena);
        }
}

static void a_schema_may_want_another_root_than_an_object(void **state)
{
    struct asking asking;
    assert_true(passes(&asking, "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[1, 2]"));
    assert_string_equal(asking.finish.structured_json, "[1, 2]");
    arena_fini(&asking.arena);
    assert_false(passes(&asking, "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[1, \"池\"]"));
    assert_string_equal(asking.failure.problem, "[1]: must be an integer, not a string");
    arena_fini(&asking.arena);
}

static void alternatives_within_alternatives_are_checked_to_the_end(void **state)
{
    struct asking asking;
    char text[1024] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, "{\"a\":");
    strcat(text, "{}");
    for (int i = 0; i < 60; i++)
        strcat(text, "}");
    assert_true(passes(&asking,
                       "{\"$defs\":{\"n\":{\"anyOf\":["
                       "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}},"
                       "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}}]}},"
                       "\"$ref\":\"#/$defs/n\"}",
                       text));
    arena_fini(&asking.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_only_wrapped_is_taken_out),
        cmocka_unit_test(what_is_more_than_wrapped_is_not_guessed_at),
        cmocka_unit_test(a_schema_may_want_another_root_than_an_object),
        cmocka_unit_test(alternatives_within_alternatives_are_checked_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
