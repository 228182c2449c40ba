/* Lists that are unified by their keys, and the measures of a piece of research. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

/* One node over inputs, and its whole output. */
static void assert_node(const char *document, const char *input, const char *output)
{
    stage_set(&stage, document);
    char *run = start(&stage, "t", input);
    assert_run(&stage, run, SUCCEEDED, output);
    stage_clear(&stage);
}

#define WAYS "\"on\": {\"merged\": \"some\", \"nothing\": \"none\"}"
#define ENDS "\"some\": {\"kind\": \"noop\"}, \"none\": {\"kind\": \"set\", \"values\": {\"empty\": true}}"
#define TEXTS(rest)                                                                                                    \
    "\"state\": {\"a\": {\"type\": \"string[]\"}, \"b\": {\"type\": \"string[]\"}, \"new\": {\"type\": "               \
    "\"string[]\"}, \"n\": {\"type\": \"integer\"}, \"empty\": {\"type\": \"boolean\"}}, \"input\": [\"a\", \"b\"], "  \
    "\"output\": [\"a\", \"new\", \"n\", \"empty\"], \"start\": \"m\", \"nodes\": {\"m\": {\"kind\": \"merge\", "      \
    "\"of\": \"a\", \"with\": \"b\", \"into\": \"a\", \"added\": \"new\", \"count\": \"n\"" rest ", " WAYS "}, " ENDS  \
    "}"
#define OBJECTS(rest)                                                                                                  \
    "\"state\": {\"a\": {\"type\": \"object[]\"}, \"b\": {\"type\": \"object[]\"}, \"n\": {\"type\": \"integer\"}, "   \
    "\"empty\": {\"type\": \"boolean\"}}, \"input\": [\"a\", \"b\"], \"output\": [\"a\", \"n\"], \"start\": \"m\", "   \
    "\"nodes\": {\"m\": {\"kind\": \"merge\", \"of\": \"a\", \"with\": \"b\", \"into\": \"a\", \"count\": \"n\", "     \
    "\"key\": \"url\"" rest ", " WAYS "}, " ENDS "}"

static void texts_join_a_list_once(void **state)
{
    assert_node(TEXTS(""), "{\"a\":[\"x\",\"y\"],\"b\":[\"y\",\"z\",\"z\"]}",
                "{\"a\":[\"x\",\"y\",\"z\"],\"new\":[\"z\"],\"n\":1}");
    assert_node(TEXTS(""), "{\"a\":[\"x\"],\"b\":[\"x\"]}", "{\"a\":[\"x\"],\"new\":[],\"n\":0,\"empty\":true}");
    assert_node(TEXTS(""), "{\"b\":[\"x\"]}", "{\"a\":[\"x\"],\"new\":[\"x\"],\"n\":1}");
}

static void addresses_of_one_page_are_one(void **state)
{
    assert_node(TEXTS(", \"addresses\": true"),
                "{\"a\":[\"https://example.com/a\"],\"b\":[\"http://www.example.com:80/a/?utm_source=x#top\","
                "\"https://example.com/b\",\"javascript:alert(1)\",\"mailto:a@b.c\",\"guide.md\",\"guide.md\"]}",
                "{\"a\":[\"https://example.com/a\",\"https://example.com/b\",\"guide.md\"],"
                "\"new\":[\"https://example.com/b\",\"guide.md\"],\"n\":2}");
}

static void of_two_objects_one_stays(void **state)
{
    static const char input[] = "{\"a\":[{\"url\":\"u\",\"t\":\"one\"},{\"t\":\"no key\"}],"
                                "\"b\":[{\"url\":\"u\",\"t\":\"two\"},{\"t\":\"left out\"},{\"url\":\"v\"}]}";
    assert_node(OBJECTS(""), input,
                "{\"a\":[{\"url\":\"u\",\"t\":\"one\"},{\"t\":\"no key\"},{\"url\":\"v\"}],\"n\":1}");
    assert_node(OBJECTS(", \"keep\": \"last\""), input,
                "{\"a\":[{\"url\":\"u\",\"t\":\"two\"},{\"t\":\"no key\"},{\"url\":\"v\"}],\"n\":1}");
    assert_node(OBJECTS(", \"most\": 2"), input, "{\"a\":[{\"url\":\"u\",\"t\":\"one\"},{\"t\":\"no key\"}],\"n\":0}");
}

static void texts_of_one_page_are_joined_as_far_as_they_fit(void **state)
{
    static const char input[] = "{\"a\":[{\"url\":\"u\",\"t\":\"月は遠い。\"}],\"b\":[{\"url\":\"u\",\"t\":\"石だ。"
                                "岩だ。\"},{\"url\":\"u\",\"t\":\"月は遠い。\"},{\"url\":\"u\",\"t\":\"裏側\"}]}";
    assert_node(OBJECTS(", \"extend\": \"t\", \"characters\": 9"), input,
                "{\"a\":[{\"url\":\"u\",\"t\":\"月は遠い。\\n石だ。\"}],\"n\":0}");
    assert_node(OBJECTS(", \"extend\": \"t\""), input,
                "{\"a\":[{\"url\":\"u\",\"t\":\"月は遠い。\\n石だ。岩だ。\\n裏側\"}],\"n\":0}");
}

#define THIN(rest)                                                                                                     \
    "\"state\": {\"a\": {\"type\": \"object[]\"}, \"b\": {\"type\": \"object[]\"}}, \"input\": [\"a\"], "              \
    "\"output\": [\"b\"], \"start\": \"m\", \"nodes\": {\"m\": {\"kind\": \"thin\", \"of\": \"a\", \"text\": \"t\", "  \
    "\"below\": 3, \"into\": \"b\"" rest ", \"on\": {\"some\": \"end\", \"none\": \"end\"}}}"

static void short_texts_are_selected(void **state)
{
    static const char input[] = "{\"a\":[{\"u\":\"https://a.example\",\"t\":\"月は\"},{\"u\":\"b.md\"},"
                                "{\"u\":\"http://c.example\",\"t\":\"月は遠\"},{\"u\":\"HTTP://d.example\"}]}";
    assert_node(THIN(""), input,
                "{\"b\":[{\"u\":\"https://a.example\",\"t\":\"月は\"},{\"u\":\"b.md\"},{\"u\":\"HTTP://d.example\"}]}");
    assert_node(THIN(", \"address\": \"u\""), input,
                "{\"b\":[{\"u\":\"https://a.example\",\"t\":\"月は\"},{\"u\":\"HTTP://d.example\"}]}");
    assert_node(THIN(", \"most\": 1"), input, "{\"b\":[{\"u\":\"https://a.example\",\"t\":\"月は\"}]}");
    assert_node(THIN(""), "{}", "{\"b\":[]}");
}

/* ---- measures ---------------------------------------------------------------------------------------------------- */

#define MEASURE                                                                                                        \
    "\"state\": {\"r\": {\"type\": \"object[]\"}, \"q\": {\"type\": \"string[]\"}, \"s\": {\"type\": \"object[]\"}, "  \
    "\"i\": {\"type\": \"object[]\"}, \"p\": {\"type\": \"object\"}}, \"output\": [\"p\"], \"start\": \"m\", "         \
    "\"nodes\": {\"m\": {\"kind\": \"measure\", \"of\": \"r\", \"wanted\": \"q\", \"searches\": \"s\", \"improved\": " \
    "\"i\", \"into\": \"p\"}}"

static void progress_is_measured(void **state)
{
    assert_node(MEASURE, "{}", "{\"p\":{\"data_count\":0,\"data_quality\":0,\"coverage\":0}}");
    assert_node(MEASURE,
                "{\"r\":[{\"relevance_score\":0.5},{\"relevance_score\":1},{},{\"relevance_score\":7}],"
                "\"q\":[\"a\",\"b\",\"c\",\"d\"],\"s\":[{\"query\":\"a\",\"result_count\":2},"
                "{\"query\":\"b\",\"result_count\":0},{\"query\":\"b\"},{\"query\":\"c2\",\"result_count\":1}],"
                "\"i\":[{\"base\":\"c\",\"query\":\"c2\"},{\"base\":\"d\",\"query\":\"b\"}]}",
                "{\"p\":{\"data_count\":4,\"data_quality\":0.75,\"coverage\":0.5}}");
    assert_node(MEASURE, "{\"r\":[{}]}", "{\"p\":{\"data_count\":1,\"data_quality\":0,\"coverage\":1}}");
}

/* ---- documents that cannot be ------------------------------------------------------------------------------------ */

#define NODE(fields)                                                                                                   \
    "{\"agent\": \"a\", \"state\": {\"t\": {\"type\": \"string[]\"}, \"o\": {\"type\": \"object[]\"}, \"s\": "         \
    "{\"type\": \"string\"}}, \"start\": \"m\", \"nodes\": {\"m\": {\"kind\": \"merge\", " fields ","                  \
    "\"on\": {\"merged\": \"end\", \"nothing\": \"end\"}}}}"

static void wrong_documents_are_refused(void **state)
{
    static const struct {
        const char *document, *part;
    } rows[] = {
        {NODE("\"of\": \"s\", \"with\": \"t\""), "of: 's' is a string; it must be string[] or object[]"},
        {NODE("\"of\": \"t\", \"with\": \"o\""), "with: 'o' is a list of objects; it must be a list of strings"},
        {NODE("\"of\": \"o\", \"with\": \"o\""), "key: is not there; objects are the same by a member"},
        {NODE("\"of\": \"t\", \"with\": \"t\", \"key\": \"k\""), "key: is for objects"},
        {NODE("\"of\": \"o\", \"with\": \"o\", \"key\": \"k\", \"keep\": \"none\""), "keep: is 'none'"},
        {NODE("\"of\": \"o\", \"with\": \"o\", \"key\": \"k\", \"keep\": \"last\", \"extend\": \"t\""),
         "extend: is for objects of which the first stays"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct reading_of read = read_text(rows[i].document);
        if (!read.problems->first)
            fail_msg("%s was taken", rows[i].document);
        assert_contains(read.problems->first->message, rows[i].part);
        read_fini(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_join_a_list_once),
        cmocka_unit_test(addresses_of_one_page_are_one),
        cmocka_unit_test(of_two_objects_one_stays),
        cmocka_unit_test(texts_of_one_page_are_joined_as_far_as_they_fit),
        cmocka_unit_test(short_texts_are_selected),
        cmocka_unit_test(progress_is_measured),
        cmocka_unit_test(wrong_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
