/* Lists that are walked in order, answers that are graded, texts that are shortened, reflections that are checked. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

static void assert_walk(const char *document, const char *input, const char *output)
{
    stage_set(&stage, document);
    char *run = start(&stage, "t", input);
    assert_run(&stage, run, SUCCEEDED, output);
    stage_clear(&stage);
}

/* The items are gathered in the order in which they are taken. */
#define WALK(type, rounds)                                                                                             \
    "\"state\": {\"list\": {\"type\": \"" type "[]\"}, \"at\": {\"type\": \"integer\", \"initial\": 0}, "              \
    "\"item\": {\"type\": \"" type "\"}, \"got\": {\"type\": \"" type "[]\", \"reduce\": \"append\"}, "                \
    "\"places\": {\"type\": \"integer[]\", \"reduce\": \"append\"}}, \"input\": [\"list\", \"at\"], "                  \
    "\"output\": [\"at\", \"got\", \"places\"], \"recursion_limit\": 100, \"start\": \"t\", \"nodes\": {"              \
    "\"t\": {\"kind\": \"take\", \"of\": \"list\", \"at\": \"at\", \"into\": \"item\", "                               \
    "\"inputs\": [\"list\", \"at\"], \"visits\": {\"max\": " rounds ", \"then\": \"end\"}, "                           \
    "\"on\": {\"taken\": \"g\", \"empty\": \"end\"}}, "                                                                \
    "\"g\": {\"kind\": \"set\", \"copy\": {\"got\": [\"item\"], \"places\": [\"at\"]}, "                               \
    "\"inputs\": [\"item\", \"at\"], \"on\": {\"done\": \"t\"}}}"

static void items_are_taken_in_order_until_the_list_is_empty(void **state)
{
    assert_walk(WALK("object", "9"), "{\"list\":[{\"a\":\"],\\\"\"},{\"b\":[1,2]},{}]}",
                "{\"at\":0,\"got\":[{\"a\":\"],\\\"\"},{\"b\":[1,2]},{}],\"places\":[1,2,3]}");
    assert_walk(WALK("string", "9"), "{\"list\":[\"x\",\"y\"],\"at\":1}", "{\"at\":0,\"got\":[\"y\"],\"places\":[2]}");
    assert_walk(WALK("string", "9"), "{\"list\":[]}", "{\"at\":0,\"got\":[],\"places\":[]}");
    assert_walk(WALK("string", "9"), "{\"list\":[\"x\"],\"at\":9}", "{\"at\":0,\"got\":[],\"places\":[]}");
    assert_walk(WALK("string", "1"), "{\"list\":[\"x\",\"y\"]}", "{\"at\":1,\"got\":[\"x\"],\"places\":[1]}");
}

static void a_place_below_zero_fails(void **state)
{
    stage_set(&stage, WALK("string", "9"));
    char *run = start(&stage, "t", "{\"list\":[\"x\"],\"at\":-1}");
    Renga__V1__Run *failed = get(&stage, run);
    assert_int_equal(failed->state, FAILED);
    assert_contains(failed->failures[0]->message, "'at' is -1; a place in a list is 0 or more");
    stage_clear(&stage);
}

#define GRADE                                                                                                          \
    "\"state\": {\"a\": {\"type\": \"string\"}, \"t\": {\"type\": \"string\"}, \"m\": {\"type\": \"string\"}, "        \
    "\"is\": {\"type\": \"string\"}}, \"output\": [\"is\"], \"start\": \"g\", \"nodes\": {\"g\": {\"kind\": "          \
    "\"grade\", \"answer\": \"a\", \"truth\": \"t\", \"match\": \"m\", \"on\": {\"right\": \"right\", \"wrong\": "     \
    "\"wrong\", \"unknown\": \"unknown\"}}, \"right\": {\"kind\": \"set\", \"values\": {\"is\": \"right\"}}, "         \
    "\"wrong\": {\"kind\": \"set\", \"values\": {\"is\": \"wrong\"}}, "                                                \
    "\"unknown\": {\"kind\": \"set\", \"values\": {\"is\": \"unknown\"}}}"

static void an_answer_is_graded(void **state)
{
    assert_walk(GRADE, "{\"a\":\"It is Paris.\",\"t\":\"paris\"}", "{\"is\":\"right\"}");
    assert_walk(GRADE, "{\"a\":\"It is Paris.\",\"t\":\"paris\",\"m\":\"exact\"}", "{\"is\":\"wrong\"}");
    assert_walk(GRADE, "{\"a\":\"It is 12.0\",\"t\":\"12\",\"m\":\"number\"}", "{\"is\":\"right\"}");
    assert_walk(GRADE, "{\"a\":\"ab\",\"t\":\"a.\",\"m\":\"pattern\"}", "{\"is\":\"right\"}");
    assert_walk(GRADE, "{\"t\":\"paris\"}", "{\"is\":\"wrong\"}");
    assert_walk(GRADE, "{\"a\":\"Paris\",\"t\":\"\"}", "{\"is\":\"unknown\"}");
    assert_walk(GRADE, "{\"a\":\"Paris\",\"m\":\"exact\"}", "{\"is\":\"unknown\"}");
}

static void a_truth_that_cannot_be_compared_fails(void **state)
{
    static const struct {
        const char *input, *part;
    } rows[] = {
        {"{\"a\":\"x\",\"t\":\"x\",\"m\":\"close\"}", "'m' is 'close'; it must be contains, exact, number or pattern"},
        {"{\"a\":\"x\",\"t\":\"x\",\"m\":\"number\"}", "the ground truth 'x' has no number"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        stage_set(&stage, GRADE);
        Renga__V1__Run *failed = get(&stage, start(&stage, "t", rows[i].input));
        assert_int_equal(failed->state, FAILED);
        assert_contains(failed->failures[0]->message, rows[i].part);
        stage_clear(&stage);
    }
}

#define SHORTEN                                                                                                        \
    "\"state\": {\"a\": {\"type\": \"string\"}, \"b\": {\"type\": \"string\"}}, \"input\": [\"a\"], \"output\": "      \
    "[\"b\"], "                                                                                                        \
    "\"start\": \"s\", \"nodes\": {\"s\": {\"kind\": \"shorten\", \"of\": \"a\", \"bytes\": 12, \"into\": \"b\"}}"

static void a_text_is_cut_behind_a_sentence(void **state)
{
    assert_walk(SHORTEN, "{\"a\":\"One. Two.\"}", "{\"b\":\"One. Two.\"}");
    assert_walk(SHORTEN, "{\"a\":\"One two. Three four.\"}", "{\"b\":\"One two.\"}");
    assert_walk(SHORTEN, "{\"a\":\"東京東京東京\"}", "{\"b\":\"東京東京\"}");
    assert_walk(SHORTEN, "{}", "{\"b\":\"\"}");
}

#define REFLECT                                                                                                        \
    "\"state\": {\"m\": {\"type\": \"object\"}, \"s\": {\"type\": \"string[]\"}, \"r\": {\"type\": \"object\"}, "      \
    "\"is\": {\"type\": \"string\"}}, \"input\": [\"m\", \"s\"], \"output\": [\"r\", \"is\"], \"start\": \"x\", "      \
    "\"nodes\": {\"x\": {\"kind\": \"reflection\", \"of\": \"m\", \"shown\": \"s\", \"into\": \"r\", "                 \
    "\"on\": {\"reflected\": \"end\", \"nothing\": \"n\"}}, "                                                          \
    "\"n\": {\"kind\": \"set\", \"values\": {\"is\": \"nothing\"}}}"
#define TAG(id, tag) "{\"id\":\"" id "\",\"tag\":\"" tag "\"}"
#define EMPTY(insight)                                                                                                 \
    "\"reasoning\":\"\",\"error_identification\":\"\",\"root_cause_analysis\":\"\",\"correct_approach\":\"\","         \
    "\"key_insight\":\"" insight "\","
#define MADE(id, tag) "{\"id\":\"" id "\",\"effect\":\"BULLET_EFFECT_" tag "\"}"

static void only_bullets_that_were_shown_are_tagged_each_once(void **state)
{
    assert_walk(
        REFLECT,
        "{\"s\":[\"a\",\"b\",\"c\",\"a\"],\"m\":{\"key_insight\":\"Look.\",\"bullet_tags\":[" TAG("c", "harmful") "," TAG(
            "a",
            "helpful") "," TAG("x",
                               "harmful") "," TAG("a",
                                                  "helpful") "," TAG("b",
                                                                     "helpful") "," TAG("b",
                                                                                        "harmful") "," TAG("c",
                                                                                                           "splend"
                                                                                                           "id") ",7,{"
                                                                                                                 "\"id"
                                                                                                                 "\":7}"
                                                                                                                 "]}}",
        "{\"r\":{" EMPTY("Look.") "\"bullet_tags\":[" MADE("a", "HELPFUL") "," MADE("b", "NEUTRAL") "," MADE(
            "c", "HARMFUL") "]}}");
}

static void a_reflection_without_a_text_is_nothing(void **state)
{
    assert_walk(REFLECT, "{\"s\":[\"a\"],\"m\":{\"key_insight\":\" \",\"reasoning\":7}}",
                "{\"r\":{" EMPTY("") "\"bullet_tags\":[]},\"is\":\"nothing\"}");
    assert_walk(REFLECT, "{}", "{\"r\":{" EMPTY("") "\"bullet_tags\":[]},\"is\":\"nothing\"}");
}

/* ---- documents that cannot be ------------------------------------------------------------------------------------ */

#define TAKE(rest)                                                                                                     \
    "{\"agent\": \"a\", \"state\": {\"l\": {\"type\": \"string[]\"}, \"s\": {\"type\": \"string\"}, "                  \
    "\"n\": {\"type\": \"integer\"}, \"o\": {\"type\": \"object\"}}, \"start\": \"t\", \"nodes\": {\"t\": {"           \
    "\"kind\": \"take\", " rest ", \"on\": {\"taken\": \"end\", \"empty\": \"end\"}}}}"

static void wrong_documents_are_refused(void **state)
{
    static const struct {
        const char *document, *part;
    } rows[] = {
        {TAKE("\"of\": \"s\", \"at\": \"n\", \"into\": \"s\""), "of: 's' is a string; it must be a list"},
        {TAKE("\"of\": \"l\", \"at\": \"s\", \"into\": \"s\""), "at: 's' is a string; it must be a whole number"},
        {TAKE("\"of\": \"l\", \"at\": \"n\", \"into\": \"o\""), "into: 'o' is an object; it must be a string"},
        {TAKE("\"of\": \"l\", \"at\": \"n\", \"into\": \"s\", \"inputs\": [\"l\"]"), "at: 'n' is not among"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct reading_of read = read_text(rows[i].document);
        assert_non_null(read.problems->first);
        assert_contains(read.problems->first->message, rows[i].part);
        read_fini(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_taken_in_order_until_the_list_is_empty),
        cmocka_unit_test(a_place_below_zero_fails),
        cmocka_unit_test(an_answer_is_graded),
        cmocka_unit_test(a_truth_that_cannot_be_compared_fails),
        cmocka_unit_test(a_text_is_cut_behind_a_sentence),
        cmocka_unit_test(only_bullets_that_were_shown_are_tagged_each_once),
        cmocka_unit_test(a_reflection_without_a_text_is_nothing),
        cmocka_unit_test(wrong_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
