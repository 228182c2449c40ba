/* POST /v1/embeddings as OpenAI's clients know it: what is read, what is refused, and the list they get. */
#include "openai_http/openai_http_priv.h"

#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

static struct arena arena;
static struct openai_http_embed_request texts;
static struct status st;
static cJSON *root;

static int begin(void **state)
{
    arena_init(&arena, NULL, 0, 1 << 20);
    root = NULL;
    return 0;
}

static int end(void **state)
{
    cJSON_Delete(root);
    arena_fini(&arena);
    return 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_json(const char *json)
{
    struct status parsed = {0};
    st = (struct status){0};
    cJSON_Delete(root);
    root = json_parse(json, strlen(json), NULL, &parsed);
    assert_non_null(root);
    return openai_http_read_embed(root, &arena, &texts, &st);
}

static void assert_refused(const char *json, const char *param, const char *code, const char *part)
{
    if (read_json(json))
        fail_msg("taken: %s", json);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, param);
    assert_string_equal(texts.code ? texts.code : "", code);
    assert_contains(st.text, part);
}

static void one_text_or_many_are_read(void **state)
{
    assert_true(read_json("{\"model\":\"m\",\"input\":\"pond\",\"user\":\"u\",\"dimensions\":null}"));
    assert_string_equal(texts.request.model, "m");
    assert_int_equal(texts.request.n_inputs, 1);
    assert_string_equal(texts.request.inputs[0], "pond");
    assert_int_equal(texts.request.dimensions, 0);
    assert_false(texts.base64);
    assert_true(
        read_json("{\"input\":[\"old\",\"池\"],\"encoding_format\":\"base64\",\"dimensions\":256,\"model\":\"m\"}"));
    assert_int_equal(texts.request.n_inputs, 2);
    assert_string_equal(texts.request.inputs[1], "池");
    assert_int_equal(texts.request.dimensions, 256);
    assert_true(texts.base64);
    assert_true(read_json("{\"model\":\"m\",\"input\":[],\"encoding_format\":\"float\"}")); /* refused behind */
    assert_int_equal(texts.request.n_inputs, 0);
}

static void tokens_are_refused_with_what_would_be_right(void **state)
{
    assert_refused("{\"model\":\"m\",\"input\":[1,2]}", "input[0]", "unsupported_value", "send the text itself");
    assert_refused("{\"model\":\"m\",\"input\":[[1,2],[3]]}", "input[0]", "unsupported_value", "is of tokens");
    assert_refused("{\"model\":\"m\",\"input\":[\"a\",[3]]}", "input[1]", "unsupported_value", "is of tokens");
    assert_refused("{\"model\":\"m\",\"input\":7}", "input", "unsupported_value", "is of tokens");
}

static void what_is_wrong_is_said_by_name(void **state)
{
    assert_refused("{\"model\":\"m\"}", "input", "", "is missing");
    assert_refused("{\"model\":\"m\",\"input\":null}", "input", "", "is missing");
    assert_refused("{\"model\":\"m\",\"input\":{}}", "input", "", "must be a string or a list of strings");
    assert_refused("{\"model\":\"m\",\"input\":[true]}", "input", "", "must be a string or a list of strings");
    assert_refused("{\"model\":\"m\",\"input\":[\"a\",null]}", "input[1]", "", "must be a string");
    assert_refused("{\"input\":\"a\"}", "model", "", "model");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"encoding_format\":\"int8\"}", "encoding_format",
                   "unsupported_value", "must be 'float' or 'base64'");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"encoding_format\":1}", "encoding_format", "",
                   "must be a string");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"dimensions\":0}", "dimensions", "", "dimensions");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"dimensions\":1.5}", "dimensions", "", "dimensions");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"dimensions\":9000}", "dimensions", "", "dimensions");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"dimension\":9}", "dimension", "unknown_parameter",
                   "did you mean 'dimensions'?");
    assert_refused("{\"model\":\"m\",\"input\":\"a\",\"hats\":9}", "hats", "unknown_parameter", "leave it out");
    assert_false(read_json("[]"));
    assert_contains(st.text, "must be a JSON object");
}

static void more_texts_than_are_allowed_are_refused(void **state)
{
    static char json[4 * 2049 + 64] = "{\"model\":\"m\",\"input\":[\"a\"";
    char *end_of_json = json + strlen(json);
    for (int i = 1; i < 2049; i++, end_of_json += 4)
        strcpy(end_of_json, ",\"a\"");
    strcpy(end_of_json, "]}");
    assert_true(read_json(json)); /* check_embed names the number */
    strcpy(end_of_json, ",\"a\"]}");
    assert_refused(json, "input", "", "has more than 2048 texts");
}

static void fields_of_the_contract_have_openais_names(void **state)
{
    struct openai_http_error error;
    fail_field(&st, "inputs[3]", "is empty; leave it out");
    openai_http_error_of(&st, &error);
    assert_string_equal(error.status.field, "input[3]");
    assert_string_equal(error.status.text, "input[3]: is empty; leave it out");
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static Renga__V1__Embedding embeddings[2048], *list[2048];
static Renga__V1__EmbedResponse response;
static Renga__V1__Usage usage;
static Renga__V1__AnsweredBy by;

static void answer(size_t count, float *values, size_t dimensions)
{
    renga__v1__embed_response__init(&response);
    renga__v1__usage__init(&usage);
    renga__v1__answered_by__init(&by);
    usage.input_tokens = 7;
    by.model = UNCONST("big \"2026\"");
    for (size_t i = 0; i < count; i++) {
        renga__v1__embedding__init(&embeddings[i]);
        embeddings[i].values = values + i * dimensions;
        embeddings[i].n_values = dimensions;
        list[i] = &embeddings[i];
    }
    response.embeddings = list;
    response.n_embeddings = count;
    response.usage = &usage;
    response.answered_by = &by;
}

static void assert_written_as(bool base64, const char *expected)
{
    struct buffer out;
    openai_http_write_embed(&response, base64, &out);
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
}

static void a_list_is_written_in_both_forms(void **state)
{
    float values[] = {0.1f, -1, 16777216, 1e-20f};
    answer(2, values, 2);
#define TAIL "],\"model\":\"big \\\"2026\\\"\",\"usage\":{\"prompt_tokens\":7,\"total_tokens\":7}}"
    assert_written_as(false,
                      "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[0.1,-1]},"
                      "{\"object\":\"embedding\",\"index\":1,\"embedding\":[16777216,1e-20]}" TAIL);
    assert_written_as(true,
                      "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":"
                      "\"zczMPQAAgL8=\"},{\"object\":\"embedding\",\"index\":1,\"embedding\":\"AACASwjlPB4=\"}" TAIL);
    answer(1, values, 1);
    assert_written_as(true, "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":"
                            "\"zczMPQ==\"}" TAIL);
    answer(0, values, 0);
    assert_written_as(false, "{\"object\":\"list\",\"data\":[" TAIL);
}

static void the_longest_numbers_have_room(void **state)
{
    static float values[2048 * 488];
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = i % 2 ? -1.17549435e-38f : -3.40282347e38f;
    answer(2048, values, 488);
    struct buffer out;
    for (int base64 = 0; base64 < 2; base64++) {
        openai_http_write_embed(&response, base64, &out);
        assert_false(out.failed);
        assert_true(out.length > COUNT(values) * 4);
        buffer_fini(&out);
    }
    static float one[8192];
    for (size_t i = 0; i < COUNT(one); i++)
        one[i] = -1.17549435e-38f;
    by.model = UNCONST("\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1");
    answer(1, one, COUNT(one));
    openai_http_write_embed(&response, false, &out);
    assert_false(out.failed);
    buffer_fini(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_text_or_many_are_read),
        TEST(tokens_are_refused_with_what_would_be_right),
        TEST(what_is_wrong_is_said_by_name),
        TEST(more_texts_than_are_allowed_are_refused),
        TEST(fields_of_the_contract_have_openais_names),
        TEST(a_list_is_written_in_both_forms),
        TEST(the_longest_numbers_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
