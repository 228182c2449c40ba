/* Ways that a document chooses by its fields, and failures of its own. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define FIELDS                                                                                                         \
    "\"state\": {\"n\": {\"type\": \"integer\"}, \"kind\": {\"type\": \"string\", \"values\": [\"loan\", \"gift\"]},"  \
    "\"tags\": {\"type\": \"string[]\"}, \"o\": {\"type\": \"object\"}, \"way\": {\"type\": \"string\"}},"
#define WAY(name) "\"" name "\": {\"kind\": \"set\", \"values\": {\"way\": \"" name "\"}}"

static void the_first_case_that_holds_gives_the_outcome(void **state)
{
    static const struct {
        const char *input, *way;
    } rows[] = {
        {"{\"n\":501}", "large"},
        {"{\"n\":500}", "small"},
        {"{}", "small"},
        {"{\"n\":501,\"kind\":\"gift\"}", "given"},
        {"{\"kind\":\"gift\"}", "given"},
        {"{\"o\":{\"urgent\":true}}", "large"},
        {"{\"tags\":[\"a\",\"b\"]}", "large"},
        {"{\"tags\":[\"a\"]}", "small"},
    };
    stage_set(&stage, FIELDS
              "\"output\": [\"way\"], \"start\": \"c\", \"nodes\": {\"c\": {\"kind\": \"choose\", \"cases\": ["
              "{\"when\": {\"field\": \"kind\", \"equals\": \"gift\"}, \"outcome\": \"given\"},"
              "{\"when\": {\"any\": [{\"field\": \"n\", \"more\": 500}, {\"field\": \"o.urgent\", \"equals\": true},"
              "{\"field\": \"tags\", \"contains\": \"b\"}]}, \"outcome\": \"large\"}], \"else\": \"small\","
              "\"on\": {\"small\": \"small\", \"large\": \"large\", \"given\": \"given\"}}," WAY("small") "," WAY(
                  "large") "," WAY("given") "}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char thread[16], output[64];
        snprintf(thread, sizeof thread, "t%zu", i);
        snprintf(output, sizeof output, "{\"way\":\"%s\"}", rows[i].way);
        char *run = start(&stage, thread, rows[i].input);
        assert_run(&stage, run, SUCCEEDED, output);
    }
    stage_clear(&stage);
}

#define FAIL "{\"kind\": \"fail\", \"code\": \"RESOURCE_EXHAUSTED\", \"reason\": \"LOOP_LIMIT\", \"prompt\": \"text\"}"

static void assert_failed_with_reason(const char *run)
{
    Renga__V1__Run *failed = get(&stage, run);
    assert_int_equal(failed->state, FAILED);
    assert_int_equal(failed->status_code, RESOURCE_EXHAUSTED);
    assert_string_equal(failed->reason, "LOOP_LIMIT");
    assert_int_equal(failed->n_failures, 1);
    assert_string_equal(failed->failures[0]->reason, "LOOP_LIMIT");
    assert_string_equal(failed->failures[0]->message, "No more than 10 rounds.");
}

/* The answer is also the one that is read from the log. */
static void a_document_may_fail_its_run_with_a_reason(void **state)
{
    stage_prompt = "No more than {n} rounds.";
    stage_set(&stage, FIELDS "\"start\": \"f\", \"nodes\": {\"f\": " FAIL "}");
    char *run = start(&stage, "t", "{\"n\":10}");
    assert_failed_with_reason(run);
    stage_end(&stage);
    stage_run(&stage);
    assert_failed_with_reason(run);
    stage_clear(&stage);
}

static void no_error_node_of_its_graph_takes_over(void **state)
{
    stage_prompt = "No more than {n} rounds.";
    stage_set(&stage, FIELDS "\"error_node\": \"sorry\", \"start\": [\"f\", \"b\"], \"nodes\": {\"f\": " FAIL ","
                             "\"b\": {\"kind\": \"noop\"}," WAY("sorry") "}");
    assert_failed_with_reason(start(&stage, "t", "{\"n\":10}"));
    stage_clear(&stage);
}

static void the_error_node_around_a_graph_that_fails_takes_over(void **state)
{
    stage_prompt = "No more than {n} rounds.";
    stage_set(&stage, FIELDS
              "\"output\": [\"way\"], \"error_node\": \"sorry\", \"start\": \"g\", \"nodes\": {"
              "\"g\": {\"kind\": \"graph\", \"graph\": \"sub\"}," WAY(
                  "sorry") "},"
                           "\"graphs\": {\"sub\": {\"state\": {\"n\": {\"type\": \"integer\"}}, \"start\": \"f\","
                           "\"nodes\": {\"f\": " FAIL "}}}");
    char *run = start(&stage, "t", "{\"n\":10}");
    assert_run(&stage, run, SUCCEEDED, "{\"way\":\"sorry\"}");
    stage_clear(&stage);
}

static void a_graph_that_fails_within_gives_the_run_its_reason(void **state)
{
    stage_prompt = "No more than {n} rounds.";
    stage_set(&stage, FIELDS "\"start\": \"g\", \"nodes\": {\"g\": {\"kind\": \"graph\", \"graph\": \"sub\"}},"
                             "\"graphs\": {\"sub\": {\"state\": {\"n\": {\"type\": \"integer\"}}, \"start\": \"f\","
                             "\"nodes\": {\"f\": " FAIL "}}}");
    assert_failed_with_reason(start(&stage, "t", "{\"n\":10}"));
    stage_clear(&stage);
}

/* ---- documents that cannot be ------------------------------------------------------------------------------------ */

#define CHOOSE(cases, rest)                                                                                            \
    "{\"agent\": \"a\"," FIELDS "\"start\": \"c\", \"nodes\": {\"c\": {\"kind\": \"choose\", \"inputs\": [\"n\", "     \
    "\"kind\", \"o\"], \"cases\": " cases ", " rest "}}}"
#define WHEN(text)                                                                                                     \
    CHOOSE("[{\"when\": {" text "}, \"outcome\": \"x\"}]", "\"else\": \"y\", \"on\": {\"x\": \"end\", \"y\": "         \
                                                           "\"end\"}")
#define TEXT(rest)                                                                                                     \
    "{\"agent\": \"a\", \"start\": \"c\", \"nodes\": {\"c\": {\"kind\": \"fail\", \"prompt\": \"answer\"" rest "}}}"

static void wrong_documents_are_refused(void **state)
{
    static const struct {
        const char *document, *part;
    } rows[] = {
        {CHOOSE("[]", "\"else\": \"y\", \"on\": {\"y\": \"end\"}"), "cases: must be a list of 1 to 100 cases"},
        {CHOOSE("[{\"when\": {}}]", "\"else\": \"y\", \"on\": {\"y\": \"end\"}"), "cases: [0] must be {\"when\""},
        {CHOOSE("[{\"when\": {\"field\": \"n\", \"more\": 1}, \"outcome\": \"x\"}]", "\"on\": {\"x\": \"end\"}"),
         "needs \"else\""},
        {CHOOSE("[{\"when\": {\"field\": \"n\", \"more\": 1}, \"outcome\": \"x\"}]",
                "\"else\": \"y\", \"on\": {\"x\": \"end\"}"),
         "else: the outcome 'y' has no edge"},
        {CHOOSE("[{\"when\": {\"field\": \"n\", \"more\": 1}, \"outcome\": \"x\"}]",
                "\"else\": \"y\", \"on\": {\"y\": \"end\"}"),
         "cases: the outcome 'x' has no edge"},
        {CHOOSE("[{\"when\": {\"field\": \"n\", \"more\": 1}, \"outcome\": \"x\"}]",
                "\"else\": \"y\", \"on\": {\"x\": \"end\", \"y\": \"end\", \"z\": \"end\"}"),
         "on: no case has the outcome 'z'"},
        {WHEN("\"field\": \"n\", \"mroe\": 1"),
         "cases: [0].when: (the whole): there is no test 'mroe'; did you mean 'more'?"},
        {WHEN("\"field\": \"kidn\", \"equals\": \"loan\""), "there is no field 'kidn'; did you mean 'kind'?"},
        {WHEN("\"field\": \"tags\", \"contains\": \"b\""), "'tags' is not among the node's \"inputs\""},
        {WHEN("\"field\": \"kind\", \"more\": 5"), "\"more\" never holds of 'kind', which is a string"},
        {WHEN("\"field\": \"kind\", \"equals\": \"lone\""), "'kind' is never 'lone'"},
        {WHEN("\"field\": \"n\", \"contains\": 1"), "\"contains\" never holds of 'n'"},
        {WHEN("\"field\": \"n.m\", \"equals\": 1"), "leads into 'n', which is a whole number"},
        {TEXT(""), "needs \"code\""},
        {TEXT(", \"code\": \"OK\""), "code: is 'OK'; it must be the name"},
        {TEXT(", \"code\": \"ABORTED\", \"reason\": \"too bad\""), "reason: is 'too bad'"},
        {TEXT(", \"code\": \"ABORTED\", \"on\": {\"done\": \"end\"}"), "'fail' leads nowhere"},
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
        cmocka_unit_test(the_first_case_that_holds_gives_the_outcome),
        cmocka_unit_test(a_document_may_fail_its_run_with_a_reason),
        cmocka_unit_test(no_error_node_of_its_graph_takes_over),
        cmocka_unit_test(the_error_node_around_a_graph_that_fails_takes_over),
        cmocka_unit_test(a_graph_that_fails_within_gives_the_run_its_reason),
        cmocka_unit_test(wrong_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
