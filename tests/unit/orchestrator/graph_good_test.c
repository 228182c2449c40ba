/* What a good document becomes. */
#include "unit.h"

#include "agent_fixture.h"
#include "json/json.h"
#include "json/schema.h"

#define FULL                                                                                                           \
    "{ // everything\n"                                                                                                \
    "\"agent\": \"a\", \"description\": \"All of it.\",\n"                                                             \
    "\"state\": {\"question\": {\"type\": \"string\", \"description\": \"What.\"},\n"                                  \
    "            \"plan\": {\"type\": \"string[]\"},\n"                                                                \
    "            \"results\": {\"type\": \"object[]\", \"reduce\": \"append\"},\n"                                     \
    "            \"tries\": {\"type\": \"integer\", \"reduce\": \"sum\", \"initial\": 0},\n"                           \
    "            \"best\": {\"type\": \"number\", \"reduce\": \"max\", \"initial\": -1.5},\n"                          \
    "            \"log\": {\"type\": \"object[]\", \"reduce\": \"messages\"},\n"                                       \
    "            \"facts\": {\"type\": \"object\", \"reduce\": \"merge\", \"initial\": {}},\n"                         \
    "            \"mood\": {\"type\": \"string\", \"values\": [\"good\", \"bad\"], \"initial\": \"good\"}},\n"         \
    "\"input\": [\"question\", \"plan\"], \"output\": [\"results\"],\n"                                                \
    "\"start\": [\"create_plan\", \"beside\"],\n"                                                                      \
    "\"nodes\": {\n"                                                                                                   \
    "  \"create_plan\": {\"kind\": \"remote\", \"address\": \"127.0.0.1:9000\", \"function\": \"plan\",\n"             \
    "      \"stream\": true, \"parameters\": {\"style\": \"brief\"}, \"inputs\": [\"question\"], \"timeout\": "        \
    "\"30s\",\n"                                                                                                       \
    "      \"idle_timeout\": \"5s\", \"retry\": {\"attempts\": 5, \"codes\": [\"UNAVAILABLE\", \"ABORTED\"]},\n"       \
    "      \"cache\": {\"ttl\": \"1h\"}, \"may_reach\": [\"sent_to\"],\n"                                              \
    "      \"on\": {\"planned\": \"work\", \"empty\": [\"ask\", \"quiet\"]}},\n"                                       \
    "  \"work\": {\"kind\": \"each\", \"of\": \"plan\", \"as\": \"subtask\", \"graph\": \"sub\", \"into\": "           \
    "\"results\",\n"                                                                                                   \
    "      \"visits\": {\"max\": 3, \"then\": \"ask\"}, \"on\": {\"done\": \"create_plan\"}},\n"                       \
    "  \"ask\": {\"kind\": \"ask\", \"question\": \"Well?\", \"payload\": {\"x\": 1},\n"                               \
    "      \"schema\": {\"type\": \"string\"}, \"into\": \"question\", \"on\": {\"answered\": \"both\"}},\n"           \
    "  \"quiet\": {\"kind\": \"set\", \"values\": {\"mood\": \"bad\", \"tries\": 1}, \"on\": {\"done\": \"both\"}},\n" \
    "  \"both\": {\"kind\": \"noop\", \"join\": [\"ask\", \"quiet\"], \"on\": {\"done\": \"end\"}},\n"                 \
    "  \"beside\": {\"kind\": \"noop\", \"defer\": true},\n"                                                           \
    "  \"sent_to\": {\"kind\": \"graph\", \"graph\": \"sub\", \"in\": {\"subtask\": \"question\"},\n"                  \
    "      \"out\": {\"tries\": \"size\"}},\n"                                                                         \
    "  \"sorry\": {\"kind\": \"noop\"},\n"                                                                             \
    "},\n"                                                                                                             \
    "\"mode\": \"dataflow\", \"recursion_limit\": 500, \"max_concurrency\": 4, \"timeout\": \"10m\",\n"                \
    "\"idle_timeout\": \"60s\", \"fail_fast\": true, \"error_node\": \"sorry\",\n"                                     \
    "\"budget\": {\"model_calls\": 5, \"tokens\": 1000, \"duration\": \"1m\", \"usd\": 0.25},\n"                       \
    "\"interrupt_before\": [\"*\"], \"interrupt_after\": [\"ask\"],\n"                                                 \
    "\"graphs\": {\"sub\": {\"state\": {\"subtask\": {\"type\": \"string\"}, \"size\": {\"type\": \"integer\"}},\n"    \
    "    \"memory\": \"thread\", \"start\": \"m\", \"nodes\": {\"m\": {\"kind\": \"noop\"}}}}}\n"

static const struct node *node_of(const struct graph *graph, const char *name)
{
    const struct node *node = graph_node(graph, name);
    assert_non_null(node);
    assert_string_equal(node->name, name);
    assert_ptr_equal(node->graph, graph);
    return node;
}

static void a_graph_is_as_its_document_says(void **state)
{
    struct reading_of read = good_text(FULL);
    const struct graph *graph = read.agent->graph;
    assert_string_equal(graph->name, "a");
    assert_string_equal(read.agent->description, "All of it.");
    assert_int_equal(graph->field_count, 8);
    assert_int_equal(graph->node_count, 8);
    assert_int_equal(graph->input_count, 2);
    assert_int_equal(graph->output_count, 1);
    assert_string_equal(graph->output[0]->name, "results");
    assert_int_equal(graph->start.node_count, 2);
    assert_true(graph->dataflow && graph->fail_fast && !graph->persistent);
    assert_int_equal(graph->recursion_limit, 500);
    assert_int_equal(graph->max_concurrency, 4);
    assert_int_equal(graph->timeout_ms, 600000);
    assert_int_equal(graph->idle_timeout_ms, 60000);
    assert_string_equal(graph->error_node->name, "sorry");
    assert_int_equal(graph->interrupt_before_count, 8);
    assert_int_equal(graph->interrupt_after_count, 1);
    assert_int_equal(graph->budget.model_calls, 5);
    assert_int_equal(graph->budget.tool_calls, -1);
    assert_int_equal(graph->budget.duration_ms, 60000);
    assert_int_equal(graph->budget.cost_micros, 250000);
    assert_int_equal(read.agent->graph_count, 2);
    assert_ptr_equal(read.agent->graphs[0], graph);
    assert_true(read.agent->graphs[1]->persistent);
    read_fini(&read);
}

static void fields_have_types_reducers_and_first_values(void **state)
{
    struct reading_of read = good_text(FULL);
    const struct graph *graph = read.agent->graph;
    const struct field *tries = graph_field(graph, "tries"), *mood = graph_field(graph, "mood");
    const struct field *results = graph_field(graph, "results"), *question = graph_field(graph, "question");
    assert_int_equal(question->index, 0);
    assert_null(question->initial_json);
    assert_string_equal(question->description, "What.");
    assert_true(results->list && results->type == FIELD_OBJECT && results->reducer == REDUCE_APPEND);
    assert_true(tries->type == FIELD_INTEGER && tries->reducer == REDUCE_SUM);
    assert_string_equal(tries->initial_json, "0");
    assert_string_equal(graph_field(graph, "best")->initial_json, "-1.5");
    assert_int_equal(mood->value_count, 2);
    assert_string_equal(mood->values[1], "bad");
    assert_null(graph_field(graph, "nothing"));
    read_fini(&read);
}

static void nodes_have_what_all_nodes_may_have(void **state)
{
    struct reading_of read = good_text(FULL);
    const struct graph *graph = read.agent->graph;
    const struct node *plan = node_of(graph, "create_plan"), *work = node_of(graph, "work");
    const struct node *both = node_of(graph, "both"), *beside = node_of(graph, "beside");
    assert_int_equal(plan->line, 14);
    assert_int_equal(work->line, 19);
    assert_int_equal(node_of(graph, "sorry")->line, 28);
    assert_int_equal(plan->input_count, 1);
    assert_int_equal(work->input_count, 8);
    assert_int_equal(plan->timeout_ms, 30000);
    assert_int_equal(plan->idle_timeout_ms, 5000);
    assert_int_equal(plan->retry.attempts, 5);
    assert_int_equal(plan->retry.base_ms, 500);
    assert_int_equal(plan->retry.codes, 1U << UNAVAILABLE | 1U << ABORTED);
    assert_int_equal(work->retry.attempts, 1);
    assert_int_equal(plan->cache_ttl_ms, 3600000);
    assert_int_equal(plan->may_reach_count, 1);
    assert_int_equal(work->visits_max, 3);
    assert_string_equal(work->visits_then->nodes[0]->name, "ask");
    assert_int_equal(both->join_count, 2);
    assert_true(beside->defer && !beside->join);
    read_fini(&read);
}

static void outcomes_lead_to_nodes_or_to_the_end(void **state)
{
    struct reading_of read = good_text(FULL);
    const struct graph *graph = read.agent->graph;
    const struct edge *empty = node_edge(node_of(graph, "create_plan"), "empty");
    assert_int_equal(empty->node_count, 2);
    assert_string_equal(empty->nodes[1]->name, "quiet");
    assert_null(node_edge(node_of(graph, "create_plan"), ""));
    assert_int_equal(node_edge(node_of(graph, "both"), "")->node_count, 0);
    assert_int_equal(node_edge(node_of(graph, "sorry"), "done")->node_count, 0);
    read_fini(&read);
}

static void a_kind_finds_its_parameters_by_row(void **state)
{
    struct reading_of read = good_text(FULL);
    const struct graph *graph = read.agent->graph, *sub = read.agent->graphs[1];
    const struct node *plan = node_of(graph, "create_plan"), *work = node_of(graph, "work");
    assert_string_equal(node_argument(plan, 0)->text, "127.0.0.1:9000");
    assert_string_equal(node_argument(plan, 1)->text, "plan");
    assert_true(node_argument(plan, 2)->flag);
    assert_string_equal(node_argument(plan, 3)->text, "{\"style\":\"brief\"}");
    assert_ptr_equal(node_argument(work, 0)->field, graph_field(graph, "plan"));
    assert_ptr_equal(node_argument(work, 2)->graph, sub);
    assert_string_equal(node_argument(node_of(graph, "quiet"), 0)->text, "{\"mood\":\"bad\",\"tries\":1}");
    read_fini(&read);
}

static void a_limited_cycle_is_good(void **state)
{
    struct reading_of read = good_text(
        "{\"agent\": \"a\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\", \"visits\": {\"max\": 2},"
        "\"on\": {\"done\": \"m\"}}, \"m\": {\"kind\": \"noop\", \"on\": {\"done\": \"n\"}}}}");
    assert_int_equal(read.agent->graph->recursion_limit, 100);
    assert_null(graph_node(read.agent->graph, "n")->visits_then);
    read_fini(&read);
    read =
        good_text("{\"agent\": \"a\", \"recursion_limit\": 9, \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\","
                  "\"on\": {\"done\": \"n\"}}}}");
    read_fini(&read);
}

static void the_version_sees_content_and_not_comments(void **state)
{
    struct reading_of plain = good_text("{\"agent\":\"a\",\"start\":\"n\",\"nodes\":{\"n\":{\"kind\":\"noop\"}}}");
    struct reading_of noted = good_text(
        "{ // why\n \"agent\": \"a\", /* how */ \"start\": \"n\",\n\"nodes\": {\"n\": {\"kind\": \"noop\",},},}");
    struct reading_of other = good_text("{\"agent\":\"a\",\"start\":\"m\",\"nodes\":{\"m\":{\"kind\":\"noop\"}}}");
    assert_int_equal(strlen(plain.agent->version), 64);
    assert_string_equal(plain.agent->version, noted.agent->version);
    assert_string_not_equal(plain.agent->version, other.agent->version);
    assert_string_equal(plain.agent->bundle_json,
                        "{\"graph\":{\"agent\":\"a\",\"start\":\"n\",\"nodes\":{\"n\":{\"kind\":\"noop\"}}},"
                        "\"prompts\":{\"en/answer\":\"Say.\"}}");
    assert_string_equal(plain.agent->graph->document_json,
                        "{\"agent\":\"a\",\"start\":\"n\",\"nodes\":{\"n\":{\"kind\":\"noop\"}}}");
    read_fini(&plain);
    read_fini(&noted);
    read_fini(&other);
}

static void a_bundle_gives_the_same_agent_again(void **state)
{
    struct reading_of read = good_text(FULL);
    struct agent *again = agent_of_bundle(read.agent->bundle_json, read.agent->bundle_size, read.problems);
    assert_non_null(again);
    assert_string_equal(again->version, read.agent->version);
    assert_string_equal(again->bundle_json, read.agent->bundle_json);
    assert_string_equal(again->name, "a");
    assert_int_equal(again->graph->node_count, 8);
    assert_string_equal(agent_prompt(again, "answer", "ja"), "Say.");
    agent_destroy(&again);
    assert_null(agent_of_bundle("{}", 2, read.problems));
    assert_contains(read.problems->first->message, "a bundle has \"graph\" and \"prompts\"");
    read_fini(&read);
}

/* ---- schemas ----------------------------------------------------------------------------------------------------- */

struct schema {
    struct arena arena;
    const struct json_schema *compiled;
};

static struct schema compile(struct buffer *text)
{
    struct schema schema;
    struct status st = {0};
    cJSON *tree = json_parse(text->data, text->length, NULL, &st);
    if (!tree)
        fail_msg("%s: %s", st.text, buffer_text(text));
    arena_init(&schema.arena, NULL, 0, SIZE_MAX);
    schema.compiled = json_schema_compile(&schema.arena, tree, JSON_SCHEMA_PLAIN, &st);
    if (!schema.compiled)
        fail_msg("%s", st.text);
    cJSON_Delete(tree);
    buffer_fini(text);
    return schema;
}

static bool fits(const struct schema *schema, const char *text, struct status *st)
{
    struct json_document document;
    *st = (struct status){0};
    assert_true(json_document_parse(&document, "x", text, strlen(text), NULL, st));
    bool good = json_schema_check(schema->compiled, document.root, NULL, st);
    json_document_fini(&document);
    return good;
}

static void a_document_fits_the_schema_of_documents(void **state)
{
    struct status st;
    struct buffer text;
    buffer_init(&text, SIZE_MAX);
    graph_write_document_schema(&text);
    struct schema schema = compile(&text);
    if (!fits(&schema, FULL, &st))
        fail_msg("%s", st.text);
    assert_false(fits(&schema, "{\"agent\": \"a\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"nop\"}}}", &st));
    assert_false(fits(&schema, "{\"agent\": \"a\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"say\"}}}", &st));
    assert_false(fits(&schema, "{\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}", &st));
    assert_false(fits(&schema, "{\"agent\": \"a\", \"start\": \"n\", \"mode\": \"slow\", \"nodes\": {}}", &st));
    assert_false(fits(&schema, "{\"agent\": \"a\", \"start\": \"n\", \"memory\": \"fresh\", \"nodes\": {}}", &st));
    arena_fini(&schema.arena);
}

static struct schema schema_of(const struct graph *graph, void (*write)(const struct graph *, struct buffer *))
{
    struct buffer text;
    buffer_init(&text, SIZE_MAX);
    write(graph, &text);
    return compile(&text);
}

static void a_state_fits_the_schema_of_its_graph(void **state)
{
    struct status st;
    struct reading_of read = good_text(FULL);
    struct schema whole = schema_of(read.agent->graph, graph_write_state_schema);
    struct schema input = schema_of(read.agent->graph, graph_write_input_schema);
    struct schema output = schema_of(read.agent->graph, graph_write_output_schema);
    assert_true(fits(&whole, "{\"question\": \"?\", \"plan\": [\"a\"], \"mood\": \"bad\", \"tries\": 3}", &st));
    assert_false(fits(&whole, "{\"mood\": \"odd\"}", &st));
    assert_false(fits(&whole, "{\"plan\": [1]}", &st));
    assert_false(fits(&whole, "{\"other\": 1}", &st));
    assert_true(fits(&input, "{\"question\": \"?\"}", &st));
    assert_false(fits(&input, "{\"results\": []}", &st));
    assert_true(fits(&output, "{\"results\": [{}]}", &st));
    assert_false(fits(&output, "{\"question\": \"?\"}", &st));
    arena_fini(&whole.arena);
    arena_fini(&input.arena);
    arena_fini(&output.arena);
    read_fini(&read);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void a_graph_is_drawn_with_outcomes_joins_and_sub_graphs(void **state)
{
    struct reading_of read = good_text(FULL);
    struct buffer out;
    buffer_init(&out, SIZE_MAX);
    graph_write_mermaid(read.agent->graph, &out);
    const char *text = buffer_text(&out);
    assert_int_equal(strncmp(text, "flowchart TD\n", 13), 0);
    assert_contains(text, "    g0s --> g0n0\n");
    assert_contains(text, "    g0n0[\"create_plan<br/>remote<br/>waits before\"]\n");
    assert_contains(text, "    g0n0 -->|\"planned\"| g0n1\n");
    assert_contains(text, "    g0n0 -.->|\"sends\"| g0n6\n");
    assert_contains(text, "    g0n1[[\"work<br/>each<br/>at most 3 times<br/>waits before\"]]\n");
    assert_contains(text, "    g0n1 -.->|\"visits used up\"| g0n2\n");
    assert_contains(text, "    g0j4((\"all\")) --> g0n4\n");
    assert_contains(text, "    g0n2 --> g0j4\n");
    assert_contains(text, "    g0n4 --> g0e\n");
    assert_contains(text, "    g0x((\"error\")) -.-> g0n7\n");
    assert_contains(text, "    subgraph g1[\"sub\"]\n");
    assert_contains(text, "    g0n1 -.- g1\n");
    buffer_fini(&out);
    read_fini(&read);
}

/* What is written for people cannot end a label. */
static void a_graph_that_is_too_large_is_not_drawn_beyond_its_limit(void **state)
{
    struct buffer text, out;
    buffer_init(&text, SIZE_MAX);
    buffer_init(&out, SIZE_MAX);
    buffer_print(&text, "{\"agent\": \"a\", \"start\": \"n0\", \"recursion_limit\": 5, \"nodes\": {");
    for (unsigned i = 0; i < 100; i++) {
        buffer_printf(&text, "%s\"n%u\": {\"kind\": \"noop\", \"on\": {\"done\": [\"n0\"", i ? "," : "", i);
        for (unsigned j = 1; j < 100; j++)
            buffer_printf(&text, ",\"n%u\"", j);
        buffer_print(&text, "]}}");
    }
    buffer_print(&text, "}}");
    struct reading_of read = good_text(buffer_text(&text));
    graph_write_mermaid(read.agent->graph, &out);
    assert_true(out.length > 100000 && out.length <= MERMAID_BYTES_MAX);
    buffer_fini(&text);
    buffer_fini(&out);
    read_fini(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_as_its_document_says),
        cmocka_unit_test(fields_have_types_reducers_and_first_values),
        cmocka_unit_test(nodes_have_what_all_nodes_may_have),
        cmocka_unit_test(outcomes_lead_to_nodes_or_to_the_end),
        cmocka_unit_test(a_kind_finds_its_parameters_by_row),
        cmocka_unit_test(a_limited_cycle_is_good),
        cmocka_unit_test(the_version_sees_content_and_not_comments),
        cmocka_unit_test(a_bundle_gives_the_same_agent_again),
        cmocka_unit_test(a_document_fits_the_schema_of_documents),
        cmocka_unit_test(a_state_fits_the_schema_of_its_graph),
        cmocka_unit_test(a_graph_is_drawn_with_outcomes_joins_and_sub_graphs),
        cmocka_unit_test(a_graph_that_is_too_large_is_not_drawn_beyond_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
