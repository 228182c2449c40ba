#include "json/json.h"

#include <stdio.h>

#include "unit.h"

static struct json_document document;
static struct status st;

static bool parse(const char *text)
{
    return json_document_parse(&document, "graph.json", text, strlen(text), NULL, &st);
}

static void expect_refused(const char *text, const char *why)
{
    if (parse(text))
        fail_msg("accepted %s", text);
    assert_string_equal(st.text, why);
    assert_null(document.root);
}

static void comments_and_spare_commas_are_allowed(void **state)
{
    static const char *const texts[] = {
        "// first\n{\"a\": 1} // last",
        "/**/[1,2]/***/",
        "/* a * b / c ** */ [1, /* 語\xFF */ 2, // x\n]",
        "{\"a\": [1, 2,], \"b\": {\"c\": 1,},}",
        "[\"// no comment /* none */\", \"\\\"//\"]",
        "[1/*a*/,/*b*/]",
        "//\n//\n1",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!parse(texts[i]))
            fail_msg("%s in %s", st.text, texts[i]);
        json_document_fini(&document);
    }
    assert_true(parse("[1, 2, /* , */ ]"));
    assert_int_equal(cJSON_GetArraySize(document.root), 2);
    json_document_fini(&document);
}

static void what_is_wrong_is_named_with_file_line_and_column(void **state)
{
    expect_refused("{\n  // 語\n  \"a\": x\n}", "graph.json:3:8: expected a value, not 'x'");
    expect_refused("/* 語 */ x", "graph.json:1:9: expected a value, not 'x'");
    expect_refused("[1,,]", "graph.json:1:4: expected a value, not ','");
    expect_refused("[,]", "graph.json:1:2: expected a value, not ','");
    expect_refused("{,}", "graph.json:1:2: expected a key in double quotes, not ','");
    expect_refused("[1],", "graph.json:1:4: expected the end of the text, not ','");
    expect_refused("[1] /* x", "graph.json:1:5: the comment does not end");
    expect_refused("[1] /*/", "graph.json:1:5: the comment does not end");
    expect_refused("[1] /", "graph.json:1:5: expected the end of the text, not '/'");
    expect_refused("{\"a\": 1,\n // b\n \"a\": 2,}", "graph.json:3:2: the key 'a' stands twice in this object");
    expect_refused("[\"// no end]", "graph.json:1:2: the string does not end");
    expect_refused("// nothing", "graph.json:1:11: expected a value, but the text ends here");
}

static void expect_place(const cJSON *item, size_t line, size_t column)
{
    size_t at_line, at_column;
    assert_non_null(item);
    json_document_position(&document, item, &at_line, &at_column);
    assert_int_equal(at_line, line);
    assert_int_equal(at_column, column);
}

static void everything_in_the_tree_knows_its_place(void **state)
{
    assert_true(parse("{ // {[\n"
                      "  \"a\\\"\" : [1, {}, [], \"b:\", -2.5e3,\n"
                      "    {\"語\": true, \"d\": null}],\n"
                      "  \"e\": {\"f\":\n"
                      "    \"g\"}, /* \"h\": 1 */ \"h\": 2,\n"
                      "}\n"));
    const cJSON *root = document.root, *a = root->child, *e = a->next, *object = cJSON_GetArrayItem(a, 5);
    expect_place(root, 1, 1);
    expect_place(a, 2, 3);
    expect_place(cJSON_GetArrayItem(a, 0), 2, 12);
    expect_place(cJSON_GetArrayItem(a, 1), 2, 15);
    expect_place(cJSON_GetArrayItem(a, 2), 2, 19);
    expect_place(cJSON_GetArrayItem(a, 3), 2, 23);
    expect_place(cJSON_GetArrayItem(a, 4), 2, 29);
    expect_place(object, 3, 5);
    expect_place(object->child, 3, 6);
    expect_place(object->child->next, 3, 17);
    expect_place(e, 4, 3);
    expect_place(e->child, 4, 9);
    expect_place(e->next, 5, 24);
    assert_false(fail_at(&document, e->next, &st, "'%s' is odd", "h"));
    assert_string_equal(st.text, "graph.json:5:24: 'h' is odd");
    json_document_fini(&document);
}

static void the_children_of_a_value_know_their_lines(void **state)
{
    static const char text[] =
        "{ // one\n\"a\": [1,\n {\"b\": [\n2]}, \"]\", // \"three\"\n\n[]\n, -1e3 ], \"c\"\n: {}}";
    static const size_t expected[] = {2, 3, 4, 6, 7};
    size_t lines[5] = {0};
    assert_true(json_document_parse(&document, "t", text, sizeof text - 1, NULL, &st));
    json_document_lines(&document, document.root->child, lines);
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(lines[i], expected[i]);
    json_document_lines(&document, document.root, lines);
    assert_int_equal(lines[0], 2);
    assert_int_equal(lines[1], 7);
    lines[0] = 99;
    json_document_lines(&document, document.root->child->next, lines);
    assert_int_equal(lines[0], 99);
    json_document_fini(&document);
}

static void a_file_is_read_and_named(void **state)
{
    char path[] = "/tmp/renga-document-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "{\"a\":\n1,}", 9), 9);
    assert_true(json_document_load(&document, path, NULL, &st));
    assert_string_equal(document.name, path);
    expect_place(document.root->child, 1, 2);
    json_document_fini(&document);

    struct json_limits limits = {.bytes = 5};
    assert_false(json_document_load(&document, path, &limits, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    close(fd);
    unlink(path);
    assert_false(json_document_load(&document, path, NULL, &st));
    assert_int_equal(st.code, NOT_FOUND);
    assert_contains(st.text, path);
    assert_false(json_document_load(&document, "/", NULL, &st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_spare_commas_are_allowed),
        cmocka_unit_test(what_is_wrong_is_named_with_file_line_and_column),
        cmocka_unit_test(everything_in_the_tree_knows_its_place),
        cmocka_unit_test(the_children_of_a_value_know_their_lines),
        cmocka_unit_test(a_file_is_read_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
