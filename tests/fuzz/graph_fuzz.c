/* libFuzzer on graph documents: the first byte says whether what follows is a graph.json or a bundle. Whatever it is,
 * it becomes an agent that can be described and comes back from its own bundle, or problems that say where and why. */
#include "graph/bundle.h"
#include "graph/node_kind.h"

#include "json/json.h"

#include <string.h>

#include "fuzz.h"

static void check_json(struct buffer *text)
{
    struct status st = {0};
    must(!text->failed && json_check(text->data, text->length, NULL, &st));
    buffer_clear(text);
}

static void describe(const struct agent *agent)
{
    struct buffer out;
    buffer_init(&out, SIZE_MAX);
    for (size_t i = 0; i < agent->graph_count; i++) {
        const struct graph *graph = agent->graphs[i];
        graph_write_mermaid(graph, &out);
        must(out.length > 0 && out.length <= MERMAID_BYTES_MAX);
        buffer_clear(&out);
        graph_write_state_schema(graph, &out);
        check_json(&out);
        graph_write_input_schema(graph, &out);
        check_json(&out);
        graph_write_output_schema(graph, &out);
        check_json(&out);
        for (size_t j = 0; j < graph->node_count; j++)
            must(graph_node(graph, graph->nodes[j].name) == &graph->nodes[j] && graph->nodes[j].edge_count > 0);
        for (size_t j = 0; j < graph->field_count; j++)
            must(graph_field(graph, graph->fields[j].name) == &graph->fields[j]);
    }
    buffer_fini(&out);
}

static void come_back(const struct agent *agent, struct problems *problems)
{
    struct agent *again = agent_of_bundle(agent->bundle_json, agent->bundle_size, problems);
    must(again && strcmp(again->version, agent->version) == 0 && strcmp(again->name, agent->name) == 0);
    must(again->graph_count == agent->graph_count && again->graph->node_count == agent->graph->node_count);
    agent_destroy(&again);
}

static void check_problems(const struct problems *problems)
{
    must(problems->count > 0 && problems->count <= AGENT_FAULTS_MAX + 2);
    for (const struct agent_problem *one = problems->first; one; one = one->next)
        must(one->message[0] && one->line >= 0 && (one->line == 0) == (one->column == 0));
}

static struct agent *read_document(const char *text, size_t size, struct problems *problems)
{
    static const struct prompt_source prompt = {.language = "en", .name = "p", .file = "p", .text = "p", .size = 1};
    struct agent *agent = agent_create();
    must(agent && prompt_add(agent, &prompt, "a", problems));
    return agent_of_text(agent, text, size, "a", problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct problems *problems = problems_create();
    const char *text = (const char *)data + 1;
    struct agent *agent =
        data[0] & 1 ? agent_of_bundle(text, size - 1, problems) : read_document(text, size - 1, problems);
    if (agent) {
        must(problems->count == 0);
        describe(agent);
        come_back(agent, problems);
    } else {
        check_problems(problems);
    }
    agent_destroy(&agent);
    problems_destroy(&problems);
    return 0;
}
