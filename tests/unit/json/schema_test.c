#include "json/schema.h"

#include "base/clock.h"

#include <stdio.h>

#include "unit.h"

#define MEMORY_MAX ((size_t)32 << 20)

static cJSON *parsed(const char *text)
{
    struct status st = {0};
    cJSON *tree = json_parse(text, strlen(text), NULL, &st);
    if (!tree)
        fail_msg("%s in %s", st.text, text);
    return tree;
}

static const struct json_schema *compiled(struct arena *arena, const char *text, enum json_schema_rules rules,
                                          struct status *st)
{
    cJSON *tree = parsed(text);
    arena_init(arena, NULL, 0, MEMORY_MAX);
    const struct json_schema *schema = json_schema_compile(arena, tree, rules, st);
    cJSON_Delete(tree); /* the schema stands on its own */
    return schema;
}

/* Checks a value and gives the problems, to be freed; NULL where it fits. */
static char *problems_of(const char *schema_text, const char *value_text, struct status *st)
{
    struct arena arena;
    struct buffer problems;
    const struct json_schema *schema = compiled(&arena, schema_text, JSON_SCHEMA_PLAIN, st);
    if (!schema)
        fail_msg("%s in %s", st->text, schema_text);
    cJSON *value = parsed(value_text);
    buffer_init(&problems, SIZE_MAX);
    bool fits = json_schema_check(schema, value, &problems, st);
    assert_true(fits == (st->code == OK));
    assert_true(problems.length < JSON_SCHEMA_PROBLEMS_MAX * (JSON_SCHEMA_PROBLEM_MAX + 8));
    char *text = fits ? NULL : strdup(buffer_text(&problems));
    cJSON_Delete(value);
    buffer_fini(&problems);
    arena_fini(&arena);
    return text;
}

static void fits(const char *schema, const char *value)
{
    struct status st = {0};
    char *problems = problems_of(schema, value, &st);
    if (problems)
        fail_msg("%s should fit %s: %s", value, schema, problems);
}

static void breaks(const char *schema, const char *value, const char *expected)
{
    struct status st = {0};
    char *problems = problems_of(schema, value, &st);
    if (!problems)
        fail_msg("%s should not fit %s", value, schema);
    else if (strcmp(problems, expected) != 0)
        fail_msg("'%s' instead of '%s'", problems, expected);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_true(strncmp(st.text, problems, strcspn(problems, "\n")) == 0);
    free(problems);
}

static void refused(const char *schema, enum json_schema_rules rules, const char *expected)
{
    struct arena arena;
    struct status st = {0};
    if (compiled(&arena, schema, rules, &st))
        fail_msg("%s should be refused", schema);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_contains(st.text, expected);
    arena_fini(&arena);
}

/* ---- rules --------------------------------------------------------------------------------------------------------
 */

static void rules_take_what_fits_and_say_what_does_not(void **state)
{
    static const struct {
        const char *schema, *value, *problems; /* NULL: fits */
    } cases[] = {
        {"{}", "{\"a\":[1,null,\"x\"]}", NULL},
        {"{\"type\":\"string\"}", "\"\"", NULL},
        {"{\"type\":\"string\"}", "7", "(the whole): must be a string, not a number"},
        {"{\"type\":\"string\"}", "true", "(the whole): must be a string, not true"},
        {"{\"type\":\"string\"}", "{}", "(the whole): must be a string, not an object"},
        {"{\"type\":\"integer\"}", "7", NULL},
        {"{\"type\":\"integer\"}", "-7.0", NULL},
        {"{\"type\":\"integer\"}", "1e3", NULL},
        {"{\"type\":\"integer\"}", "2.5", "(the whole): must be an integer, not 2.5"},
        {"{\"type\":\"number\"}", "2.5", NULL},
        {"{\"type\":\"number\"}", "2", NULL},
        {"{\"type\":\"number\"}", "\"2\"", "(the whole): must be a number, not a string"},
        {"{\"type\":\"boolean\"}", "false", NULL},
        {"{\"type\":\"boolean\"}", "0", "(the whole): must be true or false, not a number"},
        {"{\"type\":\"null\"}", "null", NULL},
        {"{\"type\":\"null\"}", "false", "(the whole): must be null, not false"},
        {"{\"type\":[\"string\",\"null\"]}", "null", NULL},
        {"{\"type\":[\"string\",\"null\"]}", "[]", "(the whole): must be a string or null, not an array"},
        {"{\"type\":[\"number\",\"null\",\"object\"]}", "\"\"",
         "(the whole): must be an object, a number or null, not a string"},
        {"{\"type\":[\"integer\",\"null\"]}", "0.5", "(the whole): must be an integer or null, not 0.5"},
        {"{\"enum\":[\"a\",2,null]}", "2.0", NULL},
        {"{\"enum\":[\"a\",2,null]}", "\"b\"", "(the whole): must be one of \"a\", 2, null, not \"b\""},
        {"{\"enum\":[[1,2]]}", "[1,2]", NULL},
        {"{\"enum\":[[1,2]]}", "[1,2,3]", "(the whole): must be one of [1,2], not an array"},
        {"{\"const\":{\"a\":1,\"b\":[true]}}", "{\"b\":[true],\"a\":1}", NULL},
        {"{\"const\":{\"a\":1}}", "{\"b\":1}", "(the whole): must be {\"a\":1}, not an object"},
        {"{\"const\":\"池\"}", "\"\\u6c60\"", NULL},
        {"{\"const\":1}", "true", "(the whole): must be 1, not true"},
        {"{\"minimum\":1,\"maximum\":3}", "1", NULL},
        {"{\"minimum\":1,\"maximum\":3}", "0.5", "(the whole): must be at least 1, not 0.5"},
        {"{\"minimum\":1,\"maximum\":3}", "4", "(the whole): must be at most 3, not 4"},
        {"{\"minimum\":1}", "\"no number\"", NULL},
        {"{\"exclusiveMinimum\":0,\"exclusiveMaximum\":1}", "0.5", NULL},
        {"{\"exclusiveMinimum\":0}", "0", "(the whole): must be more than 0, not 0"},
        {"{\"exclusiveMaximum\":1}", "1", "(the whole): must be less than 1, not 1"},
        {"{\"minLength\":2,\"maxLength\":2}", "\"池🐸\"", NULL},
        {"{\"minLength\":3}", "\"池🐸\"", "(the whole): must have at least 3 characters, not 2"},
        {"{\"maxLength\":1}", "\"池🐸\"", "(the whole): must have at most 1 characters, not 2"},
        {"{\"minItems\":1,\"maxItems\":2}", "[1,2]", NULL},
        {"{\"minItems\":1}", "[]", "(the whole): must have at least 1 elements, not 0"},
        {"{\"maxItems\":1}", "[1,2]", "(the whole): must have at most 1 elements, not 2"},
        {"{\"items\":{\"type\":\"integer\"}}", "[1,\"2\",3.5]",
         "[1]: must be an integer, not a string\n[2]: must be an integer, not 3.5"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", NULL},
        {"{\"required\":[\"b\",\"a\"]}", "{\"a\":1}", "b: is missing"},
        {"{\"properties\":{\"a\":{}},\"required\":[\"a\",\"b\"]}", "{\"a\":1,\"b\":null}", NULL},
        {"{\"properties\":{\"title\":{}},\"additionalProperties\":false}", "{\"titel\":1}",
         "titel: is no property that is allowed here; did you mean 'title'?"},
        {"{\"properties\":{\"title\":{},\"id\":{}},\"additionalProperties\":false}", "{\"summary\":1}",
         "summary: is no property that is allowed here; 'id', 'title' are"},
        {"{\"additionalProperties\":false}", "{\"a\":1}", "a: is not allowed: the object must be empty"},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":1,\"b\":null}", NULL},
        {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"b\":1}", "b: must be null, not a number"},
        {"{\"type\":\"string\",\"description\":\"d\",\"format\":\"date\",\"default\":1,\"examples\":[]}", "\"\"", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].problems)
            breaks(cases[i].schema, cases[i].value, cases[i].problems);
        else
            fits(cases[i].schema, cases[i].value);
    }
}

#define PLAN                                                                                                           \
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{"                    \
    "\"goal\":{\"type\":\"string\"},"                                                                                  \
    "\"subtasks\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"                                 \
    "\"title\":{\"type\":\"string\"},\"hours\":{\"type\":\"integer\"}},"                                               \
    "\"required\":[\"title\",\"hours\"],\"additionalProperties\":false}}},"                                            \
    "\"required\":[\"goal\",\"subtasks\"],\"additionalProperties\":false}"

static void several_problems_are_gathered_each_with_its_path(void **state)
{
    fits(PLAN, "{\"subtasks\":[{\"hours\":1,\"title\":\"t\"}],\"goal\":\"g\"}");
    breaks(PLAN, "{\"goal\":null,\"subtasks\":[{\"title\":\"t\",\"hours\":1},{\"title\":1},[]]}",
           "goal: must be a string, not null\n"
           "subtasks[1].title: must be a string, not a number\n"
           "subtasks[1].hours: is missing\n"
           "subtasks[2]: must be an object, not an array");
}

static void no_more_than_eight_problems_are_said(void **state)
{
    struct status st = {0};
    char *problems = problems_of("{\"items\":{\"type\":\"null\"}}", "[1,2,3,4,5,6,7,8,9,10]", &st);
    size_t lines = 1;
    for (const char *at = problems; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, JSON_SCHEMA_PROBLEMS_MAX);
    assert_contains(problems, "[7]: ");
    free(problems);
}

static void a_path_shows_any_name_and_stays_short(void **state)
{
    char value[4096], name[1024];
    breaks("{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a.b\\n\":1}",
           "[\"a.b\\n\"]: must be null, not a number");
    breaks("{\"additionalProperties\":{\"type\":\"null\"}}", "{\"名前\":1}", "名前: must be null, not a number");
    breaks("{\"additionalProperties\":{\"type\":\"null\"}}", "{\"\":1}", "[\"\"]: must be null, not a number");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(value, sizeof value, "{\"%s\":{\"%s\":{\"%s\":1}}}", name, name, name);
    struct status st = {0};
    char *problems = problems_of("{\"additionalProperties\":{\"$ref\":\"#\"},\"type\":\"object\"}", value, &st);
    assert_true(strlen(problems) < 240);
    assert_contains(problems, "n…: must be an object");
    free(problems);
}

/* ---- references and alternatives ------------------------------------------------------------------------------------
 */

#define TREE                                                                                                           \
    "{\"$ref\":\"#/$defs/tree\",\"$defs\":{\"tree\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"          \
    "\"string\"},\"children\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/tree\"}}},"                            \
    "\"required\":[\"name\",\"children\"],\"additionalProperties\":false}}}"

static void references_may_lead_back_to_themselves(void **state)
{
    fits(TREE, "{\"name\":\"a\",\"children\":[{\"name\":\"b\",\"children\":[]},{\"name\":\"c\",\"children\":[]}]}");
    breaks(TREE, "{\"name\":\"a\",\"children\":[{\"name\":\"b\",\"children\":[{\"name\":1,\"children\":[]}]}]}",
           "children[0].children[0].name: must be a string, not a number");
    fits("{\"properties\":{\"next\":{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"null\"}]}},\"required\":[\"next\"],"
         "\"type\":\"object\"}",
         "{\"next\":{\"next\":{\"next\":null}}}");
    fits("{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"$ref\":\"#/properties/a\"}}}", "{\"b\":\"\"}");
    breaks("{\"definitions\":{\"a/b~c d\":{\"type\":\"null\"}},\"items\":{\"$ref\":\"#/definitions/a~1b~0c%20d\"}}",
           "[1]", "[0]: must be null, not a number");
    breaks("{\"$defs\":{\"a\":{\"minimum\":2}},\"$ref\":\"#/$defs/a\",\"maximum\":3}", "4",
           "(the whole): must be at most 3, not 4");
}

static void references_that_lead_nowhere_are_refused(void **state)
{
    refused("{\"$ref\":\"#\"}", JSON_SCHEMA_PLAIN, "$ref: leads back to itself without going deeper");
    refused(
        "{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}],\"$defs\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},{\"$ref\":\"#\"}]}}}",
        JSON_SCHEMA_PLAIN, "leads back to itself");
    refused("{\"$ref\":\"#/$defs/b\",\"$defs\":{\"a\":{}}}", JSON_SCHEMA_PLAIN,
            "$ref: '#/$defs/b' names no schema of this document");
    refused("{\"$ref\":\"#/$defs\",\"$defs\":{\"a\":{}}}", JSON_SCHEMA_PLAIN, "names no schema");
    refused("{\"items\":{\"$ref\":\"https://example.com/s\"}}", JSON_SCHEMA_PLAIN,
            "items.$ref: must lead to a place within this document");
    struct buffer chain;
    buffer_init(&chain, SIZE_MAX);
    buffer_print(&chain, "{\"$defs\":{");
    for (int i = 0; i < 5000; i++)
        buffer_printf(&chain, "\"d%d\":{\"$ref\":\"#/$defs/d%d\"},", i, i + 1);
    buffer_print(&chain, "\"d5000\":{}},\"$ref\":\"#/$defs/d0\"}");
    refused(buffer_text(&chain), JSON_SCHEMA_PLAIN, "leads through more than 64 schemas");
    buffer_fini(&chain);
}

#define EXPRESSION                                                                                                     \
    "{\"$defs\":{\"e\":{\"anyOf\":["                                                                                   \
    "{\"type\":\"object\",\"properties\":{\"left\":{\"$ref\":\"#/$defs/e\"},\"right\":{\"$ref\":\"#/$defs/e\"},"       \
    "\"op\":{\"const\":\"add\"}},\"required\":[\"op\",\"left\",\"right\"],\"additionalProperties\":false},"            \
    "{\"type\":\"object\",\"properties\":{\"left\":{\"$ref\":\"#/$defs/e\"},\"right\":{\"$ref\":\"#/$defs/e\"},"       \
    "\"op\":{\"const\":\"mul\"}},\"required\":[\"op\",\"left\",\"right\"],\"additionalProperties\":false},"            \
    "{\"type\":\"number\"}]}},\"type\":\"object\",\"properties\":{\"e\":{\"$ref\":\"#/$defs/e\"}}}"

static void of_alternatives_the_one_that_was_meant_is_explained(void **state)
{
    fits(EXPRESSION, "{\"e\":{\"left\":1,\"right\":{\"op\":\"add\",\"left\":2,\"right\":3},\"op\":\"mul\"}}");
    breaks(EXPRESSION, "{\"e\":{\"left\":1,\"right\":{\"op\":\"add\",\"left\":2,\"right\":\"3\"},\"op\":\"mul\"}}",
           "e.right.right: must be an object or a number, not a string");
    breaks(EXPRESSION, "{\"e\":{\"op\":\"add\",\"left\":1}}", "e.right: is missing");
    breaks(EXPRESSION, "{\"e\":{\"op\":\"sub\",\"left\":1,\"right\":1}}",
           "e: resembles none of the 3 alternatives: they differ in type, or by a constant");
    breaks("{\"anyOf\":[{\"minimum\":5},{\"minimum\":7}]}", "1", "(the whole): fits none of the 2 alternatives");
    breaks("{\"anyOf\":[{\"type\":\"object\",\"required\":[\"a\"]},{\"type\":\"null\"}]}", "{}", "a: is missing");
}

static void check_in_time(const char *schema_text, const char *value_text, enum status_code expected)
{
    struct status st = {0};
    int64_t began_ns = clock_now_ns();
    free(problems_of(schema_text, value_text, &st));
    if (st.code != expected)
        fail_msg("%s: %s", status_code_name((int)st.code), st.text);
    int64_t took_ms = (clock_now_ns() - began_ns) / NS_PER_MS;
    if (took_ms > 3000)
        fail_msg("took %lld ms", (long long)took_ms);
}

static void alternatives_cannot_explode(void **state)
{
    /* Both alternatives go the whole way down before they fail: 2^30 ways without a bound. */
    struct buffer value;
    const char *twins = "{\"$defs\":{\"n\":{\"anyOf\":["
                        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}},"
                        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}}]}},"
                        "\"$ref\":\"#/$defs/n\"}";
    buffer_init(&value, SIZE_MAX);
    for (int i = 0; i < 60; i++)
        buffer_print(&value, "{\"a\":");
    buffer_print(&value, "1");
    for (int i = 0; i < 60; i++)
        buffer_print(&value, "}");
    check_in_time(twins, buffer_text(&value), INVALID_ARGUMENT);

    /* A constant that tells them apart keeps it cheap, though it stands last. */
    buffer_clear(&value);
    buffer_print(&value, "{\"e\":");
    for (int i = 0; i < 50; i++)
        buffer_print(&value, "{\"left\":");
    buffer_print(&value, "\"wrong\"");
    for (int i = 0; i < 50; i++)
        buffer_print(&value, ",\"right\":1,\"op\":\"mul\"}");
    buffer_print(&value, "}");
    check_in_time(EXPRESSION, buffer_text(&value), INVALID_ARGUMENT);

    /* Many members before many properties, many elements before a long enum. */
    struct buffer schema;
    buffer_init(&schema, SIZE_MAX);
    buffer_print(&schema, "{\"items\":{\"enum\":[");
    buffer_clear(&value);
    buffer_print(&value, "[");
    for (int i = 0; i < 5000; i++) {
        buffer_printf(&schema, "%s\"e%d\"", i ? "," : "", i);
        buffer_printf(&value, "%s\"v%d\"", i ? "," : "", i);
    }
    buffer_print(&schema, "]}}");
    buffer_print(&value, "]");
    check_in_time(buffer_text(&schema), buffer_text(&value), INVALID_ARGUMENT);
    buffer_fini(&schema);
    buffer_fini(&value);
}

/* ---- what is refused ------------------------------------------------------------------------------------------------
 */

static void a_schema_is_refused_by_place_with_what_would_be_right(void **state)
{
    static const struct {
        const char *schema, *part;
    } cases[] = {
        {"[]", "(the whole): must be a schema, which is an object"},
        {"{\"type\":\"strng\"}", "type: 'strng' is no type; object, array"},
        {"{\"type\":[]}", "type: is an empty list"},
        {"{\"type\":[\"string\",7]}", "type: this is no type"},
        {"{\"type\":null}", "type: this is no type"},
        {"{\"properties\":[]}", "properties: must be an object"},
        {"{\"properties\":{\"a\":true}}", "properties.a: must be a schema"},
        {"{\"properties\":{\"steps\":{\"items\":{\"pattern\":\"x\"}}}}",
         "properties.steps.items: the keyword 'pattern' is not supported; say it in description"},
        {"{\"oneOf\":[]}", "the keyword 'oneOf' is not supported; use anyOf"},
        {"{\"nullable\":true}", "\"type\": [\"string\", \"null\"]"},
        {"{\"propertys\":{}}", "there is no keyword 'propertys'; did you mean 'properties'?"},
        {"{\"zebra\":{}}", "there is no keyword 'zebra'; type, properties"},
        {"{\"required\":\"a\"}", "required: must be a list of names"},
        {"{\"required\":[1]}", "required: must be a list of names"},
        {"{\"required\":[\"a\",\"a\"]}", "required: 'a' stands there twice"},
        {"{\"properties\":{\"a\":{}},\"required\":[\"a\",\"a\"]}", "required: 'a' stands there twice"},
        {"{\"properties\":{\"a\":{}},\"required\":[\"b\"],\"additionalProperties\":false}",
         "required: 'b' is none of the properties"},
        {"{\"additionalProperties\":1}", "additionalProperties: must be a schema"},
        {"{\"items\":[{}]}", "items: must be one schema for all elements"},
        {"{\"enum\":[]}", "enum: must be a list of at least one value"},
        {"{\"anyOf\":[]}", "anyOf: must be a list of at least one schema"},
        {"{\"anyOf\":[{},{\"type\":1}]}", "anyOf[1].type: this is no type"},
        {"{\"minItems\":-1}", "minItems: must be a whole number"},
        {"{\"maxLength\":1.5}", "maxLength: must be a whole number"},
        {"{\"minimum\":\"1\"}", "minimum: must be a number"},
        {"{\"minItems\":3,\"maxItems\":2}", "the least is more than the most"},
        {"{\"$defs\":{\"a\":7}}", "$defs.a: must be a schema"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refused(cases[i].schema, JSON_SCHEMA_PLAIN, cases[i].part);
}

static void strict_schemas_require_everything_and_allow_nothing_else(void **state)
{
    static const struct {
        const char *schema, *part;
    } cases[] = {
        {"{\"type\":\"array\"}", "(the whole): a strict schema begins with \"type\": \"object\""},
        {"{\"anyOf\":[{\"type\":\"object\",\"additionalProperties\":false}]}", "(the whole): a strict schema begins"},
        {"{\"type\":\"object\"}", "(the whole): a strict schema has \"additionalProperties\": false"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{}},\"additionalProperties\":false}", "'a' is not in required"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"items\":{\"type\":[\"object\",\"null\"]}}},\"required\":[\"a\"]"
         ","
         "\"additionalProperties\":false}",
         "properties.a.items: a strict schema has \"additionalProperties\": false"},
        {"{\"type\":\"object\",\"additionalProperties\":false,\"$defs\":{\"d\":{\"type\":\"object\"}}}",
         "$defs.d: a strict schema has"},
    };
    struct arena arena;
    struct status st = {0};
    for (size_t i = 0; i < COUNT(cases); i++)
        refused(cases[i].schema, JSON_SCHEMA_STRICT, cases[i].part);
    assert_non_null(compiled(&arena, PLAN, JSON_SCHEMA_STRICT, &st));
    arena_fini(&arena);
}

static void limits_bound_what_a_schema_costs(void **state)
{
    struct buffer text;
    buffer_init(&text, SIZE_MAX);
    buffer_print(&text, "{\"anyOf\":[{}");
    for (int i = 0; i < JSON_SCHEMA_NODES_MAX; i++)
        buffer_print(&text, ",{}");
    buffer_print(&text, "]}");
    refused(buffer_text(&text), JSON_SCHEMA_PLAIN, "at most 10000 schemas");
    buffer_clear(&text);
    buffer_print(&text, "{\"properties\":{\"p\":{}");
    for (int i = 0; i < JSON_SCHEMA_PROPERTIES_MAX; i++)
        buffer_printf(&text, ",\"p%d\":{}", i);
    buffer_print(&text, "}}");
    refused(buffer_text(&text), JSON_SCHEMA_PLAIN, "has 1025 properties");
    buffer_fini(&text);

    struct arena arena;
    struct status st = {0};
    cJSON *tree = parsed(PLAN);
    arena_init(&arena, NULL, 0, 256);
    assert_null(json_schema_compile(&arena, tree, JSON_SCHEMA_PLAIN, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    cJSON_Delete(tree);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_take_what_fits_and_say_what_does_not),
        cmocka_unit_test(several_problems_are_gathered_each_with_its_path),
        cmocka_unit_test(no_more_than_eight_problems_are_said),
        cmocka_unit_test(a_path_shows_any_name_and_stays_short),
        cmocka_unit_test(references_may_lead_back_to_themselves),
        cmocka_unit_test(references_that_lead_nowhere_are_refused),
        cmocka_unit_test(of_alternatives_the_one_that_was_meant_is_explained),
        cmocka_unit_test(alternatives_cannot_explode),
        cmocka_unit_test(a_schema_is_refused_by_place_with_what_would_be_right),
        cmocka_unit_test(strict_schemas_require_everything_and_allow_nothing_else),
        cmocka_unit_test(limits_bound_what_a_schema_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
