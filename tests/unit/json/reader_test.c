#include "json/reader.h"

#include "unit.h"

static const char answer[] =
    "{\"id\":\"c1\",\"choices\":[{\"index\":0,\"message\":{\"content\":\"hello\",\"refusal\":null,"
    "\"score\":0.5}},7],\"created\":1694268190,\"big\":9007199254740993,\"half\":1.5,"
    "\"stream\":false,\"usage\":{\"total\":12}}";

static cJSON *root;
static struct status st;
static struct json_reader in;

static int parse(void **state)
{
    root = json_parse(answer, strlen(answer), NULL, &st);
    in = json_reader_of(root, &st);
    return root == NULL;
}

static int release(void **state)
{
    cJSON_Delete(root);
    return 0;
}

static const cJSON *first_message(void)
{
    return json_object(&in, json_element(&in, json_array(&in, root, "choices"), 0), "message");
}

static void fields_are_read_by_name_and_type(void **state)
{
    const cJSON *message = first_message();
    assert_string_equal(json_string(&in, root, "id"), "c1");
    assert_string_equal(json_string(&in, message, "content"), "hello");
    assert_int_equal(json_integer(&in, root, "created", 0, INT64_MAX), 1694268190);
    assert_false(json_boolean(&in, root, "stream"));
    assert_true(json_double(&in, message, "score") == 0.5);
    assert_int_equal(json_integer(&in, json_object_or_null(&in, root, "usage"), "total", 0, 100), 12);
    assert_false(in.failed);
}

static void a_missing_or_null_field_has_its_fallback(void **state)
{
    const cJSON *message = first_message();
    assert_string_equal(json_string_or(&in, message, "refusal", "none"), "none");
    assert_string_equal(json_string_or(&in, message, "nothing", "none"), "none");
    assert_null(json_string_or(&in, message, "nothing", NULL));
    assert_int_equal(json_integer_or(&in, message, "nothing", 0, 10, -1), -1);
    assert_true(json_double_or(&in, message, "nothing", 2.5) == 2.5);
    assert_true(json_boolean_or(&in, message, "nothing", true));
    assert_null(json_array_or_null(&in, message, "refusal"));
    assert_null(json_object_or_null(&in, message, "nothing"));
    assert_false(in.failed);
}

static void expect_failed(const char *field, const char *text)
{
    assert_true(in.failed);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, field);
    assert_string_equal(st.text, text);
    in.failed = false;
    status_clear(&st);
}

static void what_is_wrong_is_named_by_its_path(void **state)
{
    const cJSON *message = first_message();
    json_string(&in, message, "score");
    expect_failed("choices[0].message.score", "choices[0].message.score: must be a string, not a number");
    json_string(&in, message, "name");
    expect_failed("choices[0].message.name", "choices[0].message.name: is missing");
    json_string(&in, message, "refusal");
    expect_failed("choices[0].message.refusal", "choices[0].message.refusal: is null");
    json_string_or(&in, root, "usage", "");
    expect_failed("usage", "usage: must be a string, not an object");
    json_element(&in, json_array(&in, root, "choices"), 1);
    expect_failed("choices[1]", "choices[1]: must be an object, not a number");
    json_element(&in, json_array(&in, root, "choices"), 2);
    expect_failed("choices", "choices: has 2 elements, needs more than 2");
    json_integer(&in, root, "half", 0, 10);
    expect_failed("half", "half: must be a whole number, not 1.5");
    json_integer(&in, root, "big", 0, INT64_MAX);
    expect_failed("big", "big: must be a whole number, not 9007199254740992");
    json_integer(&in, root, "created", 0, 10);
    expect_failed("created", "created: is 1694268190, must be within 0 and 10");
    json_reader_fail(&in, message, "is odd");
    expect_failed("choices[0].message", "choices[0].message: is odd");
    json_boolean(&in, cJSON_GetArrayItem(cJSON_GetObjectItem(root, "choices"), 1), "x");
    expect_failed("choices[1]", "choices[1]: must be an object, not a number");
}

static void the_first_failure_stays_and_the_rest_is_empty(void **state)
{
    const cJSON *gone = json_object(&in, root, "gone");
    assert_null(gone);
    assert_string_equal(json_string(&in, gone, "x"), "");
    assert_string_equal(json_string(&in, root, "id"), "");
    assert_int_equal(json_integer(&in, root, "created", 0, INT64_MAX), 0);
    assert_int_equal(json_integer_or(&in, root, "created", 0, INT64_MAX, 3), 3);
    assert_null(json_element(&in, json_array(&in, gone, "y"), 0));
    assert_false(json_boolean(&in, gone, "z"));
    assert_false(json_reader_fail(&in, root, "is odd"));
    expect_failed("gone", "gone: is missing");
}

static void a_root_that_is_no_object_is_said(void **state)
{
    cJSON *list = cJSON_CreateArray();
    in = json_reader_of(list, &st);
    json_string(&in, list, "id");
    expect_failed("(the whole)", "(the whole): must be an object, not an array");
    cJSON_Delete(list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, parse, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fields_are_read_by_name_and_type),   TEST(a_missing_or_null_field_has_its_fallback),
        TEST(what_is_wrong_is_named_by_its_path), TEST(the_first_failure_stays_and_the_rest_is_empty),
        TEST(a_root_that_is_no_object_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
