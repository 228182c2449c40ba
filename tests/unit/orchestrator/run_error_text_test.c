/* The words of runs that fail: each names the field, its value and the right one; in the log they are quoted. */
#include "unit.h"

#include "runner_fixture.h"

#include "monitor/run_outcome.h"

typedef Renga__V1__RunNodeResponse Response; /* generated from a proto */

static struct stage stage;

#define TEXT(text) ((char *)(uintptr_t)(text))

/* The failure of a run when its only node, "a" with the edge "done", answers so. */
static const char *run_words(void (*fill)(Response *response))
{
    static char words[512];
    Response response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"script\", \"on\": {\"done\": \"end\"}}}");
    char *run = start(&stage, "t", "");
    fill(&response);
    INSIDE(&stage, script_respond(script_find("a", NULL, -1), &response));
    assert_run(&stage, run, FAILED, "");
    assert_int_equal(get(&stage, run)->status_code, INVALID_ARGUMENT);
    snprintf(words, sizeof words, "%s", get(&stage, run)->stop_text);
    stage_clear(&stage);
    return words;
}

static void ends_otherwise(Response *response)
{
    response->outcome = TEXT("dome");
}

static void run_words_jump(Response *response)
{
    response->goto_parent = TEXT("b");
}

static void send_to(Response *response, const char *node, const char *input)
{
    static Renga__V1__NodeSend send, *list[] = {&send};
    renga__v1__node_send__init(&send);
    send.node = TEXT(node);
    send.input_json = TEXT(input);
    response->sends = list;
    response->n_sends = 1;
}

static void sends_to_nobody(Response *response)
{
    send_to(response, "aa", "");
}

static void sends_a_list(Response *response)
{
    send_to(response, "a", " [\"語語語語語語語語語語語語語語語語語語語語語語語語語語語語語\"]");
}

static void asks_twice(Response *response)
{
    static Renga__V1__NodeInterrupt interrupts[2], *list[] = {&interrupts[0], &interrupts[1]};
    for (int i = 0; i < 2; i++) {
        renga__v1__node_interrupt__init(&interrupts[i]);
        interrupts[i].key = TEXT("k");
    }
    response->interrupts = list;
    response->n_interrupts = 2;
}

static void asks_without_a_key(Response *response)
{
    asks_twice(response);
    response->interrupts[1]->key = TEXT("");
}

static void asks_with_half_a_payload(Response *response)
{
    asks_twice(response);
    response->interrupts[0]->payload_json = TEXT("{");
}

static void an_answer_that_breaks_the_contract_is_refused_with_field_value_and_the_right_one(void **state)
{
    static const struct {
        void (*fill)(Response *response);
        const char *words;
    } wrong[] = {
        {ends_otherwise, "node 'a' ended with 'dome', but has no edge of that name; did you mean 'done'?"},
        {run_words_jump, "goto_parent is 'b', but the graph 'a' has no graph around it"},
        {sends_to_nobody, "sends[0].node is 'aa', which is no node of the graph 'a'; there is 'a'"},
        {sends_a_list, "sends[0].input_json is [\"語語語語語語語語語語語語語語語語語語語語…; it must be a JSON object"},
        {asks_twice, "interrupts[0].key and interrupts[1].key are both 'k'; each question needs another key"},
        {asks_without_a_key, "interrupts[1].key has 0 bytes; it must have 1 to 64"},
        {asks_with_half_a_payload, "interrupts[0].payload_json is not JSON: "},
    };
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_contains(run_words(wrong[i].fill), wrong[i].words);
}

static void the_log_leaves_out_values_and_keeps_names_of_fields(void **state)
{
    char out[64];
    report_redact("sends[12].node is 'secret', since [\"secret\"]", out, sizeof out);
    assert_string_equal(out, "sends[12].node is ..., since ...");
    report_redact("語語 it can't take \"a\"", out, 8);
    assert_string_equal(out, "語語 ");
}

static void words_from_outside_stay_within_their_quotes(void **state)
{
    char out[24], tight[8];
    report_quote("a\", code \"OK\\", out, sizeof out);
    assert_string_equal(out, "\"a\\\", code \\\"OK\\\\\"");
    report_quote("語語", tight, sizeof tight);
    assert_string_equal(tight, "\"語\"");
    report_quote("\"\"\"\"", tight, sizeof tight);
    assert_string_equal(tight, "\"\\\"\\\"\"");
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_breaks_the_contract_is_refused_with_field_value_and_the_right_one),
        cmocka_unit_test(the_log_leaves_out_values_and_keeps_names_of_fields),
        cmocka_unit_test(words_from_outside_stay_within_their_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
