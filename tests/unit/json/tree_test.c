/* The tree is the one that cJSON's own parser makes. */
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static cJSON *parse(const char *text)
{
    struct status st = {0};
    cJSON *tree = json_parse(text, strlen(text), NULL, &st);
    if (!tree)
        fail_msg("%s: %s", text, st.text);
    return tree;
}

/* Every link and every field, not only what cJSON_Compare looks at. */
static void assert_same(const cJSON *ours, const cJSON *theirs)
{
    for (; ours && theirs; ours = ours->next, theirs = theirs->next) {
        assert_int_equal(ours->type, theirs->type);
        assert_memory_equal(&ours->valuedouble, &theirs->valuedouble, sizeof ours->valuedouble);
        assert_int_equal(ours->valueint, theirs->valueint);
        assert_int_equal(ours->valuestring != NULL, theirs->valuestring != NULL);
        if (ours->valuestring)
            assert_string_equal(ours->valuestring, theirs->valuestring);
        assert_int_equal(ours->string != NULL, theirs->string != NULL);
        if (ours->string)
            assert_string_equal(ours->string, theirs->string);
        assert_int_equal(ours->prev != NULL, theirs->prev != NULL);
        if (ours->next)
            assert_ptr_equal(ours->next->prev, ours);
        assert_same(ours->child, theirs->child);
    }
    assert_null(ours);
    assert_null(theirs);
}

static void it_is_the_tree_that_cjson_makes(void **state)
{
    static const char *const texts[] = {
        "null",
        "true",
        " false ",
        "\"\"",
        "\"古池や 🐸 \\u53e4\\uD83D\\uDC38 \\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "0",
        "-0",
        "-0.0",
        "12345678901234567890",
        "2147483647",
        "2147483648",
        "-2147483649",
        "0.1",
        "1e-400",
        "1.7976931348623157e308",
        "[]",
        "{}",
        "[1]",
        "[1, [2, [3, []], {}], \"x\", null]",
        "{\"a\": {\"b\": [true, false, {\"c\": \"d\"}]}, \"\": 0, \"k\\u0065y\\n\": [\"v\"]}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        cJSON *ours = parse(texts[i]), *theirs = cJSON_Parse(texts[i]);
        assert_same(ours, theirs);
        cJSON_Delete(ours);
        cJSON_Delete(theirs);
    }
}

static void the_last_of_a_list_is_found_from_the_first(void **state)
{
    cJSON *tree = parse("[1, 2]");
    assert_ptr_equal(tree->child->prev, tree->child->next);
    cJSON_AddItemToArray(tree, cJSON_CreateNumber(3));
    char *text = cJSON_PrintUnformatted(tree);
    assert_string_equal(text, "[1,2,3]");
    free(text);
    cJSON_Delete(tree);
}

static void what_breaks_off_leaves_nothing(void **state)
{
    static const char whole[] = "{\"a\": [1, {\"b\": \"c\\n\"}, [true, null]], \"d\": {\"e\": -1.5}}";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        struct status st = {0};
        assert_null(json_parse(whole, length, NULL, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
    }
}

static void the_deepest_that_may_be_is_read(void **state)
{
    static char text[2 * JSON_DEPTH_MAX + 1];
    const struct json_limits limits = {.depth = JSON_DEPTH_MAX};
    struct status st = {0};
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    cJSON *tree = json_parse(text, 2 * JSON_DEPTH_MAX, &limits, &st);
    assert_non_null(tree);
    cJSON_Delete(tree);
    text[0] = '{';
    assert_null(json_parse(text, 2 * JSON_DEPTH_MAX, &limits, &st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_tree_that_cjson_makes),
        cmocka_unit_test(the_last_of_a_list_is_found_from_the_first),
        cmocka_unit_test(what_breaks_off_leaves_nothing),
        cmocka_unit_test(the_deepest_that_may_be_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
