#include "rpc/message_bounds.h"
#include "rpc/message_json.h"

#include "wire_cases.pb-c.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

#define TYPE renga__test__v1__everything__descriptor

/* A field with one kind of bound: the JSON of a value at the bound, and of one beyond it with the error. */
static const struct {
    const char *field;
    struct field_bounds bounds;
    const char *good, *wrong;
    const char *path, *part; /* of the error */
} rows[] = {
    {"a_string", {.required = true}, "\"a\"", "\"\"", "a_string", "is empty; it is required"},
    {"a_string", {.bytes = 3}, "\"abc\"", "\"abcd\"", "a_string", "has 4 bytes; at most 3 are allowed"},
    {"a_string", {.bytes = 6}, "\"連歌\"", "\"連歌a\"", "a_string", "has 7 bytes"},
    {"a_string", {.not_blank = true}, "\" a\"", "\" \u3000\"", "a_string", "is blank"},
    {"a_string", {.form = BOUNDS_NAME}, "\"a b\"", "\"a\\tb\"", "a_string", "0x09 at byte 1"},
    {"a_string", {.form = BOUNDS_NAME}, "\"~\"", "\"\x7f\"", "a_string", "0x7f at byte 0"},
    {"a_string", {.form = BOUNDS_PROSE}, "\"a\\t\\r\\nb\"", "\"a\\u001fb\"", "a_string", "0x1f at byte 1"},
    {"a_string", {.form = BOUNDS_TOKEN}, "\"aZ09_-\"", "\"a.b\"", "a_string", "0x2e at 1"},
    {"a_string", {.form = BOUNDS_JSON}, "\"[1]\"", "\"[1\"", "a_string", "is not JSON"},
    {"a_string", {.form = BOUNDS_OBJECT}, "\" {}\"", "\"[]\"", "a_string", "must be a JSON object"},
    {"a_string", {.form = BOUNDS_LANGUAGE}, "\"zh-Hant-TW\"", "\"english_\"", "a_string", "BCP 47"},
    {"a_string", {.form = BOUNDS_LANGUAGE}, "\"abcdefgh-12345678\"", "\"a\"", "a_string", "BCP 47"},
    {"a_string", {.form = BOUNDS_LANGUAGE}, "\"\"", "\"en-\"", "a_string", "BCP 47"},
    {"a_string", {.form = BOUNDS_LANGUAGE}, "\"abcdefgh\"", "\"abcdefghi\"", "a_string", "BCP 47"},
    {"a_string", {.form = BOUNDS_LANGUAGE}, "\"en-1\"", "\"en-123456789\"", "a_string", "BCP 47"},
    {"an_int32", {.ranged = true, .min = 1, .max = 5}, "5", "6", "an_int32", "is 6; it must be within 1 and 5"},
    {"an_int32", {.ranged = true, .min = 1, .max = 5}, "1", "0", "an_int32", "is 0; it must be within 1 and 5"},
    {"an_int32", {.ranged = true, .min = 4, .max = 5, .or_zero = true}, "0", "3", "an_int32", "within 4 and 5, or 0"},
    {"an_int64",
     {.ranged = true, .min = -1, .max = BOUNDS_NUMBER_MAX},
     "-1",
     "-2",
     "an_int64",
     "it must be -1 or more"},
    {"an_int64", {.ranged = true, .min = -BOUNDS_NUMBER_MAX, .max = 7}, "7", "8", "an_int64", "must be at most 7"},
    {"an_int64", {.ranged = true, .max = 31536000000}, "31536000000", "31536000001", "an_int64", "and 31536000000"},
    {"an_int32", {.required = true, .hint = "it counts"}, "1", "0", "an_int32", "is 0; it is required (it counts)"},
    {"a_double", {.ranged = true, .max = 2}, "2", "2.01", "a_double", "is 2.01; it must be within 0 and 2"},
    {"a_colour", {.required = true}, "\"COLOUR_RED\"", "\"COLOUR_UNSPECIFIED\"", "a_colour", "one of COLOUR_RED (1)"},
    {"a_tree", {.required = true}, "{}", "null", "a_tree", "is missing"},
    {"strings",
     {.items = 2},
     "[\"a\",\"b\"]",
     "[\"a\",\"b\",\"c\"]",
     "strings",
     "has 3 entries; at most 2 are allowed"},
    {"strings", {.items = 2, .required = true}, "[\"a\"]", "[]", "strings", "has 0 entries; 1 to 2 are allowed"},
    {"strings", {.bytes = 1}, "[\"a\",\"b\"]", "[\"a\",\"bb\"]", "strings[1]", "has 2 bytes"},
    {"strings", {.bytes = 1}, "[]", "[\"\"]", "strings[0]", "is empty; leave it out"},
    {"int32s", {.ranged = true, .max = 1}, "[0,1]", "[0,1,2]", "int32s[2]", "is 2"},
    {"int64s", {.ranged = true, .max = 1}, "[0,1]", "[0,2]", "int64s[1]", "is 2"},
    {"colours", {.known = true}, "[\"COLOUR_RED\"]", "[\"COLOUR_UNSPECIFIED\"]", "colours[0]", "is 0"},
    {"labels",
     {.items = 1, .key_bytes = 2, .bytes = 9},
     "{\"a\":\"\"}",
     "{\"a\":\"\",\"b\":\"\"}",
     "labels",
     "2 entries"},
    {"labels",
     {.items = 1, .key_bytes = 2, .bytes = 9},
     "{\"ab\":\"\"}",
     "{\"abc\":\"\"}",
     "labels",
     "a key of 3 bytes"},
    {"labels",
     {.items = 1, .key_bytes = 2, .bytes = 1},
     "{\"a\":\"b\"}",
     "{\"a\":\"bb\"}",
     "labels",
     "2 bytes under 'a'"},
    {"labels", {.key_bytes = 2, .bytes = 1, .not_blank = true}, "{}", "{\"\":\"b\"}", "labels", "has an empty key"},
    {"chosen_text", {.required = true}, "null", "\"\"", "chosen_text", "is empty"},
};

static unsigned index_of(const char *field)
{
    return (unsigned)(protobuf_c_message_descriptor_get_field_by_name(&TYPE, field) - TYPE.fields);
}

static bool passes(const struct field_bounds *bounds, const char *json, struct status *st)
{
    const struct message_bounds table[] = {{"renga.test.v1.Blob", NULL, 0}, {TYPE.name, bounds, 1}};
    struct arena arena;
    arena_init(&arena, NULL, 0, 1 << 20);
    cJSON *tree = json_parse(json, strlen(json), NULL, st);
    const ProtobufCMessage *message = tree ? message_read_json(&TYPE, tree, &arena, st) : NULL;
    if (!message)
        fail_msg("%s: %s", json, st->text);
    bool good = message_check_bounds(message, table, COUNT(table), st);
    cJSON_Delete(tree);
    arena_fini(&arena);
    return good;
}

static void every_kind_of_bound_allows_its_bound_and_refuses_one_more(void **state)
{
    char json[256];
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct field_bounds bounds = rows[i].bounds;
        struct status st = {0};
        bounds.index = index_of(rows[i].field);
        snprintf(json, sizeof json, "{\"%s\":%s}", rows[i].field, rows[i].good);
        if (!passes(&bounds, json, &st))
            fail_msg("%s is refused: %s", json, st.text);
        snprintf(json, sizeof json, "{\"%s\":%s}", rows[i].field, rows[i].wrong);
        if (passes(&bounds, json, &st))
            fail_msg("%s passes", json);
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_string_equal(st.field, rows[i].path);
        assert_contains(st.text, rows[i].part);
    }
}

static void an_error_names_the_way_to_its_field(void **state)
{
    const struct field_bounds name = {.index = 0, .bytes = 1};
    const struct message_bounds leaf = {"renga.test.v1.Tree", &name, 1};
    const struct field_bounds children = {.index = 1, .items = 2, .inside = &leaf};
    const struct message_bounds tree = {"renga.test.v1.Tree", &children, 1};
    const struct field_bounds trees = {.index = index_of("trees"), .inside = &tree};
    struct status st = {0};
    assert_true(passes(&trees, "{\"trees\":[{\"name\":\"free\",\"children\":[{\"name\":\"a\"}]}]}", &st));
    assert_false(passes(&trees, "{\"trees\":[{},{\"children\":[{},{\"name\":\"ab\"}]}]}", &st));
    assert_string_equal(st.field, "trees[1].children[1].name");
    assert_false(passes(&trees, "{\"trees\":[{\"children\":[{},{},{}]}]}", &st));
    assert_string_equal(st.field, "trees[0].children");
}

static void long_bytes_and_no_numbers_and_unknown_values_are_refused(void **state)
{
    const struct field_bounds fields[] = {{.index = index_of("a_double"), .ranged = true, .max = 2},
                                          {.index = index_of("a_bytes"), .bytes = 2},
                                          {.index = index_of("a_colour"), .known = true}};
    const struct message_bounds table = {TYPE.name, fields, COUNT(fields)};
    Renga__Test__V1__Everything message = RENGA__TEST__V1__EVERYTHING__INIT;
    uint8_t three[] = {1, 2, 3};
    struct status st = {0};
    message.a_bytes = (ProtobufCBinaryData){2, three};
    assert_true(message_check_bounds(&message.base, &table, 1, &st));
    message.a_colour = 2;
    assert_false(message_check_bounds(&message.base, &table, 1, &st));
    assert_string_equal(st.field, "a_colour");
    message.a_bytes = (ProtobufCBinaryData){3, three};
    assert_false(message_check_bounds(&message.base, &table, 1, &st));
    assert_string_equal(st.field, "a_bytes");
    message.a_double = NAN;
    assert_false(message_check_bounds(&message.base, &table, 1, &st));
    assert_string_equal(st.field, "a_double");
}

static void a_message_without_a_row_passes(void **state)
{
    const struct message_bounds table = {"renga.test.v1.Tree", NULL, 0};
    Renga__Test__V1__Everything message = RENGA__TEST__V1__EVERYTHING__INIT;
    struct status st = {0};
    assert_true(message_check_bounds(&message.base, &table, 1, &st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_bound_allows_its_bound_and_refuses_one_more),
        cmocka_unit_test(an_error_names_the_way_to_its_field),
        cmocka_unit_test(long_bytes_and_no_numbers_and_unknown_values_are_refused),
        cmocka_unit_test(a_message_without_a_row_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
