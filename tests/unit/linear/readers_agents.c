/* services/orchestrator: documents of agents, updates of state. Nodes at work: readers_nodes.c. */
#include "readers.h"

#include "graph/bundle.h"
#include "nodes/cite_sources.h"
#include "state/state.h"
#include "json/writer.h"

#include <string.h>

static void agents_read_graph(struct input *in)
{
    struct problems *problems = problems_create();
    struct agent *agent = agent_of_text(agent_create(), in->text, in->length, "a", problems);
    agent_destroy(&agent);
    agent = agent_of_bundle(in->text, in->length, problems);
    agent_destroy(&agent);
    problems_destroy(&problems);
}

static const char updated[] =
    "{\"agent\":\"a\",\"state\":{\"l\":{\"type\":\"any[]\",\"reduce\":\"append\"},\"o\":{\"type\":\"object\","
    "\"reduce\":\"merge\"},\"m\":{\"type\":\"object[]\",\"reduce\":\"messages\"},\"xx\":{\"type\":\"any\"},\"yy\":{"
    "\"type\":\"any[]\",\"reduce\":\"append\"},\"zz\":{"
    "\"type\":\"object\",\"reduce\":\"merge\"}},\"start\":\"n\",\"nodes\":{\"n\":{"
    "\"kind\":\"noop\",\"on\":{\"done\":\"end\"}}}}";

/* The graph of `updated`. */
static const struct graph *graph_of_updates(void)
{
    static struct agent *agent;
    if (!agent) {
        struct problems *problems = problems_create();
        agent = agent_of_text(agent_create(), updated, sizeof updated - 1, "a", problems);
        problems_destroy(&problems);
    }
    return agent->graph;
}

/* It is taken, read again from the record of its change, and written. */
static void update_state(struct input *in)
{
    struct write write;
    struct json_writer writer;
    const struct graph *graph = graph_of_updates();
    const struct write_source source = {.node = "n", .update_json = in->text, .update_size = in->length, .seed = 1};
    struct state *state = state_create(graph), *again = state_create(graph);
    json_writer_init(&writer, &in->out);
    if (write_parse(graph, &source, &in->arena, &write, &in->st) && state_takes(state, &write, 1, &in->st) &&
        state_reduce(state, &write, 1, &in->out, NULL, &in->st) &&
        state_apply(again, in->out.data, in->out.length, &in->st))
        state_write(again, NULL, 0, &writer);
    state_destroy(&state);
    state_destroy(&again);
}

/* Each line is the update of one node, all of one step; then they are read again from the record. */
static void update_in_one_step(struct input *in)
{
    const struct graph *graph = graph_of_updates();
    struct state *state = state_create(graph), *again = state_create(graph);
    struct write *writes = arena_alloc(&in->arena, in->length * sizeof *writes);
    size_t count = 0;
    bool good = true;
    for (const char *line = in->text; good && *line; count++) {
        size_t size = strcspn(line, "\n");
        const struct write_source source = {.node = "n", .update_json = line, .update_size = size, .seed = count};
        good = write_parse(graph, &source, &in->arena, &writes[count], &in->st);
        line += size + (line[size] == '\n');
    }
    if (good && state_takes(state, writes, count, &in->st) &&
        state_reduce(state, writes, count, &in->out, NULL, &in->st))
        in->accepted = state_apply(again, in->out.data, in->out.length, &in->st);
    state_destroy(&state);
    state_destroy(&again);
}

/* The text as the record of a change. */
static void apply_change(struct input *in)
{
    struct state *state = state_create(graph_of_updates());
    if (state_apply(state, in->text, in->length, &in->st))
        state_snapshot(state, &in->out);
    state_destroy(&state);
}

static void gather_sources(struct input *in)
{
    struct cite_sources *sources = arena_zalloc(&in->arena, sizeof *sources);
    sources->arena = &in->arena;
    input_json(in);
    cite_sources_gather(sources, in->tree);
}

#define LETTERS_64 "pondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpond"
#define SAME_TEXT  LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64

/* As many hits as a node takes; more are left out. */
static const struct generator hits[] = {
    {"hits that differ at their ends", 0, .begin = "[{}", .unit = ",{\"uri\":\"a\",\"snippet\":\"" SAME_TEXT "\1\"}",
     .end = "]"},
    {"results of a tool", 0, .begin = "[{}", .unit = ",{\"tool_name\":\"a\",\"text\":\"" SAME_TEXT "\1\"}", .end = "]"},
    {"one hit many times", 0, .begin = "[{}", .unit = ",{\"uri\":\"a\",\"snippet\":\"" SAME_TEXT "\"}", .end = "]"},
    {.name = NULL},
};

static const struct generator graphs[] = {
    {"nodes", 0,
     .begin = "{\"agent\":\"a\",\"start\":\"n\",\"nodes\":{\"n\":{\"kind\":\"noop\",\"on\":{\"done\":\"end\"}}",
     .unit = ",\"n\1\":{\"kind\":\"noop\",\"on\":{\"done\":\"end\"}}", .end = "}}"},
    {"fields that are declared", 0, .begin = "{\"agent\":\"a\",\"start\":\"n\",\"state\":{\"f\":{\"type\":\"any\"}",
     .unit = ",\"f\1\":{\"type\":\"any\"}", .end = "},\"nodes\":{}}"},
    {"nodes that are faulty", 0, .begin = "{\"agent\":\"a\",\"start\":\"n\",\"nodes\":{\"n\":{}",
     .unit = ",\"n\1\":{\"kind\":\"none\"}", .end = "}}"},
    {"unknown keys", 0, .begin = "{\"agent\":\"a\"", .unit = ",\"x\1\":1", .end = "}"},
    {"graphs", 0, .begin = "{\"agent\":\"a\",\"graphs\":{\"g\":{}", .unit = ",\"g\1\":{\"start\":\"n\"}", .end = "}}"},
    {.name = NULL},
};

static const struct generator steps[] = {
    {"nodes that append", 0, .unit = "{\"l\":[1]}\n"},
    {"nodes that merge", 0, .unit = "{\"o\":{\"k\1\":1}}\n"},
    {"nodes that add messages", 0, .unit = "{\"m\":[{\"id\":\"i\1\"}]}\n"},
    {"nodes that remove messages", 0, .unit = "{\"m\":[{\"id\":\"i\1\"}]}\n",
     .close = "{\"m\":[{\"id\":\"i\1\",\"removed\":true}]}\n"},
    {.name = NULL},
};

static const struct generator updates[] = {
    {"items that are appended", 0, .begin = "{\"l\":[0", .unit = ",{\"a\":1}", .end = "]}"},
    {"members that are merged", 0, .begin = "{\"o\":{\"\":0", .unit = ",\"k\1\":1", .end = "}}"},
    {"messages", 0, .begin = "{\"m\":[{\"role\":\"user\",\"content\":\"a\"}",
     .unit = ",{\"role\":\"user\",\"content\":\"a\"}", .end = "]}"},
    {"messages with ids", 0, .begin = "{\"m\":[{\"role\":\"user\",\"content\":\"a\"}",
     .unit = ",{\"id\":\"i\1\",\"role\":\"user\",\"content\":\"a\"}", .end = "]}"},
    {"messages that are removed", 0, .begin = "{\"m\":[{\"id\":\"a\"}", .unit = ",{\"id\":\"i\1\"}",
     .close = ",{\"id\":\"i\1\",\"removed\":true}", .end = "]}"},
    {"unknown fields of a state", 0, .begin = "{\"x\":0", .unit = ",\"x\1\":0", .end = "}"},
    {.name = NULL},
};

/* A letter, a field, and for "A" a number of pieces; each text has its length before it. */
static const struct generator changes[] = {
    {"a value that is set", 0, .unit = "S\002xx\002[]"},
    {"items that were appended", 0, .unit = "A\002yy\002\002[]\002[]"},
    {"members that were merged", 0, .unit = "A\002zz\002\002aa\002[]\002bb\002[]"},
    {"places that were written", 0, .begin = "A\002yy\003\002[]\002[]\002[]", .unit = "P\002yy\002\002{}"},
    {"items that were taken away and added", 0, .begin = "A\002yy\003\002[]\002[]\002[]",
     .unit = "A\002yy\002\002[]\002[]", .close = "R\002yy\002A\002yy\002\002[]\002[]"},
    {"items that were taken away upwards", 0, .begin = "A\002yy\003\002[]\002[]\002[]",
     .unit = "A\002yy\002\002[]\002[]", .close = "R\002yy\002"},
    {"members that were taken away and added", 0, .begin = "A\002zz\003\002aa\002[]\002bb\002[]\002cc\002[]",
     .unit = "A\002zz\002\002aa\002[]\002bb\002[]", .close = "R\002zz\002A\002zz\002\002aa\002[]\002bb\002[]"},
    {"fields that were emptied", 0, .unit = "E\002yyX\002xx"},
    {.name = NULL},
};

const struct reader readers_agents[] = {
    {"document of an agent", agents_read_graph, .sets = HOSTILE_JSON, .own = graphs},
    {"update of a state", update_state, .sets = HOSTILE_JSON, .own = updates},
    {"updates of one step", update_in_one_step, .own = steps, .accepts = true, .most = (size_t)256 << 10},
    {"change of a state", apply_change, .sets = HOSTILE_BYTES, .own = changes},
    {"sources of citations", gather_sources, .sets = HOSTILE_JSON, .own = hits, .most = (size_t)1 << 20},
    {.name = NULL},
};
