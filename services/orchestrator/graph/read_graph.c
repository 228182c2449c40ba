/* A graph of the document, and the agent of all of them. First every graph's fields and the names of its nodes, then
 * nodes, which may name both, then the rules between them. */
#include "reading.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_MS      (INT64_C(30) * 24 * 3600 * 1000) /* thirty days */
#define RECURSION_MAX   1000000                          /* supersteps, as StartRun has it */
#define CONCURRENCY_MAX 100000                           /* nodes, as StartRun has it */
#define DESCRIPTION_MAX 1024                             /* bytes, as Agent.description */
#define COUNT_MAX       INT64_C(9007199254740991)
#define MICROS_IN_USD   1e6
#define USD_MAX         1e9
#define NAMES(text)     "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"" text "\"}"

struct graph_words {
    const char *agent, *description;
    int mode, memory;
    struct graph *graph;
    int64_t timeout_ms, idle_timeout_ms;
    unsigned recursion_limit, max_concurrency;
    bool fail_fast, atomic;
};

const struct key graph_keys[] = {
    {.option = {.name = "agent", .max = GRAPH_NAME_MAX, .help = "Its name, which is also that of its folder."},
     .kind = KEY_TEXT,
     .required = true,
     .own_only = true,
     INTO(struct graph_words, agent)},
    {.option = {.name = "description", .max = DESCRIPTION_MAX, .help = "What it does, for people."},
     .kind = KEY_TEXT,
     INTO(struct graph_words, description)},
    {.option = {.name = "state"}, .kind = KEY_PART},
    {.option = {.name = "input"},
     .kind = KEY_PART,
     .schema = NAMES("The fields that may be given at the start; all where it is not said.")},
    {.option = {.name = "output"},
     .kind = KEY_PART,
     .schema = NAMES("The fields that come out; all where it is not said.")},
    {.option = {.name = "start"},
     .kind = KEY_PART,
     .required = true,
     .schema = "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}],"
               "\"description\":\"The node, or the nodes, that it begins with.\"}"},
    {.option = {.name = "nodes"}, .kind = KEY_PART, .required = true},
    {.option = {.name = "mode",
                .choices = "supersteps|dataflow",
                .help = "In supersteps (the default) the next nodes are due when all of a step have ended; in dataflow "
                        "each as soon as it is led to."},
     .kind = KEY_CHOICE,
     INTO(struct graph_words, mode)},
    {.option = INTEGER_OPTION("recursion_limit", NULL, 1, RECURSION_MAX, NULL,
                              "The most supersteps; 100 where it is not said."),
     INTO(struct graph_words, recursion_limit)},
    {.option = INTEGER_OPTION("max_concurrency", NULL, 1, CONCURRENCY_MAX, NULL,
                              "The most nodes at work at once, sub-graphs included; 64 where it is not said."),
     INTO(struct graph_words, max_concurrency)},
    {.option = DURATION_OPTION("timeout", NULL, 1, LONGEST_MS, "The longest that a run may take."),
     INTO(struct graph_words, timeout_ms)},
    {.option = DURATION_OPTION("idle_timeout", NULL, 1, LONGEST_MS, "The longest that nothing may happen in a run."),
     INTO(struct graph_words, idle_timeout_ms)},
    {.option = {.name = "budget"}, .kind = KEY_PART},
    {.option = BOOLEAN_OPTION(
         "fail_fast", NULL,
         "When a node fails, those beside it are cancelled. Without it they end, and what they wrote is kept."),
     INTO(struct graph_words, fail_fast)},
    {.option =
         BOOLEAN_OPTION("atomic", NULL, "A run that fails or is cancelled leaves the thread as it was before the run."),
     .own_only = true,
     INTO(struct graph_words, atomic)},
    {.option = {.name = "error_node"},
     .kind = KEY_PART,
     .schema = "{\"type\":\"string\",\"description\":\"The node that a run goes to when another has failed.\"}"},
    {.option = {.name = "error_into"},
     .kind = KEY_PART,
     .schema = "{\"type\":\"string\",\"description\":\"A field of type object[] that gets what has failed, before the "
               "error node runs: node, branch, code, message and attempt.\"}"},
    {.option = {.name = "error_codes"},
     .kind = KEY_PART,
     .schema = NAMES("The status codes of the failures that the error node takes over; all where it is not said. A "
                     "node that fails with another code fails the graph.")},
    {.option = {.name = "interrupt_before"},
     .kind = KEY_PART,
     .schema = NAMES("Nodes before which a run waits; [*] for all of them.")},
    {.option = {.name = "interrupt_after"},
     .kind = KEY_PART,
     .schema = NAMES("Nodes after which a run waits; [*] for all of them.")},
    {.option = {.name = "playbook"},
     .kind = KEY_PART,
     .own_only = true,
     .schema = "{\"type\":\"object\",\"properties\":{\"dataset\":{\"type\":\"string\"},\"query\":{\"type\":"
               "\"string\"},\"top_k\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}},\"required\":["
               "\"query\"],\"additionalProperties\":false,\"description\":\"Bullets of a playbook that fit the query, "
               "a field of the input, stand in prompts as {playbook}.\"}"},
    {.option = {.name = "log"},
     .kind = KEY_PART,
     .schema =
         NAMES("Fields that the log line of each node shows: numbers, booleans, the beginning of strings, and how "
               "many items or bytes others have. With it the lines are of level INFO.")},
    {.option = {.name = "log_near"},
     .kind = KEY_PART,
     .schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"integer\"]},\"description\":"
               "\"Integer fields, each with its limit, a field or a number: a warning is logged when one is left.\"}"},
    {.option = {.name = "memory",
                .choices = "fresh|thread",
                .help = "A sub-graph begins anew each time it is run (the default), or remembers its state as long as "
                        "the thread lives."},
     .kind = KEY_CHOICE,
     .sub_only = true,
     INTO(struct graph_words, memory)},
    {.option = {.name = "graphs"}, .kind = KEY_PART, .own_only = true},
    {.option = {.name = NULL}},
};

#define BUDGET(key, member, text)                                                                                      \
    {                                                                                                                  \
        .option = INTEGER_OPTION(key, NULL, 0, COUNT_MAX, NULL, text), INTO(struct graph_budget, member)               \
    }
const struct key budget_keys[] = {
    BUDGET("model_calls", model_calls, "The most requests to models."),
    BUDGET("tokens", tokens, "The most tokens, read and written together."),
    BUDGET("tool_calls", tool_calls, "The most calls of tools."),
    {.option = DURATION_OPTION("duration", NULL, 0, LONGEST_MS, "The most time at work."),
     INTO(struct graph_budget, duration_ms)},
    {.option = {.name = "usd"},
     .kind = KEY_PART,
     .schema = "{\"type\":\"number\",\"minimum\":0,\"description\":\"The most money, in USD.\"}"},
    {.option = {.name = "then",
                .choices = "end|fail",
                .help = "When the budget is spent: the run ends (the default), or nodes that call other services fail "
                        "with RESOURCE_EXHAUSTED and the reason BUDGET_SPENT, and the graph goes on without them."},
     .kind = KEY_CHOICE,
     INTO(struct graph_budget, then)},
    {.option = {.name = NULL}},
};

/* ---- a graph ----------------------------------------------------------------------------------------------------- */

/* Refuses keys of the table that this graph may not have. */
static bool check_place(struct reading *in, const struct draft *draft)
{
    bool good = true;
    for (const struct key *key = graph_keys; key->option.name; key++) {
        const cJSON *item = part(draft->item, key->option.name);
        if (item && draft->own && key->sub_only)
            good = fault(in, item, "\"%s\" is for sub-graphs; take it out", key->option.name);
        if (item && !draft->own && key->own_only)
            good = fault(in, item, "\"%s\" stands in the agent's own graph only; take it out", key->option.name);
    }
    return good;
}

static bool read_budget(struct reading *in, struct graph_budget *budget, const cJSON *item)
{
    *budget = (struct graph_budget){-1, -1, -1, -1, -1, BUDGET_THEN_END};
    if (!item)
        return true;
    const cJSON *usd = part(item, "usd");
    bool good = keys_read(in, item, budget_keys, NULL, budget);
    if (!usd)
        return good;
    if (!cJSON_IsNumber(usd) || usd->valuedouble < 0 || usd->valuedouble > USD_MAX)
        return fault(in, usd, "usd must be a number of USD, such as 0.4");
    budget->cost_micros = (int64_t)(usd->valuedouble * MICROS_IN_USD + 0.5);
    return good;
}

static void take_words(struct graph *graph, const struct graph_words *words)
{
    graph->dataflow = words->mode == 1;
    graph->persistent = words->memory == 1;
    graph->fail_fast = words->fail_fast;
    graph->atomic = words->atomic;
    graph->timeout_ms = words->timeout_ms;
    graph->idle_timeout_ms = words->idle_timeout_ms;
    graph->recursion_limited = words->recursion_limit > 0;
    graph->recursion_limit = words->recursion_limit ? words->recursion_limit : RECURSION_LIMIT_DEFAULT;
    graph->max_concurrency = words->max_concurrency;
}

/* keys_read asks for "agent", which a sub-graph does not have. */
static bool read_words(struct reading *in, const struct draft *draft, struct graph_words *words)
{
    struct key table[sizeof graph_keys / sizeof *graph_keys];
    memcpy(table, graph_keys, sizeof table);
    for (struct key *key = table; key->option.name; key++)
        key->required &= draft->own || !key->own_only;
    return keys_read(in, draft->item, table, NULL, words);
}

static bool read_graph_head(struct reading *in, struct draft *draft)
{
    struct graph *graph = draft->graph;
    struct graph_words words = {.max_concurrency = CONCURRENCY_DEFAULT};
    bool good = read_words(in, draft, &words);
    if (!cJSON_IsObject(draft->item))
        return false;
    good &= check_place(in, draft);
    good &= read_budget(in, &graph->budget, part(draft->item, "budget"));
    take_words(graph, &words);
    if (draft->own) {
        in->agent->name = words.agent;
        in->agent->description = words.description ? words.description : "";
        if (words.agent && (graph->name = words.agent) && strcmp(words.agent, in->folder) != 0)
            good = fault(in, part(draft->item, "agent"), "the agent is '%s', but its folder '%.*s'; give both one name",
                         words.agent, SHOWN, in->folder);
        good &= !words.agent || name_check(in, part(draft->item, "agent"), "an agent", words.agent);
    }
    graph->document_json = keep_json(in, draft->item);
    draft->state = part(draft->item, "state");
    draft->nodes = part(draft->item, "nodes");
    bool fields = state_read(in, draft);
    return nodes_name(in, draft) && fields && good;
}

/* ---- keys that name nodes ---------------------------------------------------------------------------------------- */

static bool read_start(struct reading *in, struct draft *draft)
{
    const cJSON *start = part(draft->item, "start");
    draft->graph->start.outcome = "";
    if (!start)
        return false;
    return targets_read(in, draft, start, &draft->graph->start) &&
           (draft->graph->start.node_count > 0 || fault(in, start, "the graph starts at its end; start at a node")) &&
           playbook_goes_first(in, draft);
}

static bool read_error_node(struct reading *in, const struct draft *draft)
{
    const cJSON *item = part(draft->item, "error_node");
    struct edge edge = {0};
    if (!item)
        return true;
    if (!cJSON_IsString(item) || strcmp(item->valuestring, "end") == 0)
        return fault(in, item, "error_node must be the name of a node");
    bool good = targets_read(in, draft, item, &edge);
    draft->graph->error_node = good ? edge.nodes[0] : NULL;
    return good;
}

static bool read_error_into(struct reading *in, const struct draft *draft)
{
    struct status why = {0};
    struct graph *graph = draft->graph;
    const cJSON *item = part(draft->item, "error_into");
    if (!item)
        return true;
    if (!part(draft->item, "error_node"))
        return fault(in, item, "error_into is for graphs with an error_node, which reads it; add one, or take it out");
    if (!cJSON_IsString(item) || !(graph->error_into = graph_field_wanted(graph, item->valuestring, &why)))
        return fault(in, item, "error_into: %s", why.code ? why.text : "must be the name of a field");
    return (graph->error_into->list && graph->error_into->type == FIELD_OBJECT) ||
           fault(in, item, "error_into: '%s' is of another type; it must be object[]", graph->error_into->name);
}

static bool read_error_codes(struct reading *in, const struct draft *draft)
{
    const cJSON *item = part(draft->item, "error_codes");
    draft->graph->error_codes = UINT32_MAX;
    if (!item)
        return true;
    if (!part(draft->item, "error_node"))
        return fault(in, item, "error_codes is for graphs with an error_node; add one, or take it out");
    if (!codes_read(in, item, "error_codes", &draft->graph->error_codes))
        return false;
    return draft->graph->error_codes != 0 ||
           fault(in, item, "error_codes is empty, so error_node would never run; name a code, or take both out");
}

static bool read_interrupts(struct reading *in, const struct draft *draft, const char *name, const struct node ***list,
                            size_t *count)
{
    const struct graph *graph = draft->graph;
    const cJSON *item = part(draft->item, name);
    bool all =
        cJSON_GetArraySize(item) == 1 && cJSON_IsString(item->child) && strcmp(item->child->valuestring, "*") == 0;
    if (!item)
        return true;
    if (!all)
        return nodes_list_read(in, draft, item, list, count);
    *list = keep(in, graph->node_count, sizeof **list);
    for (size_t i = 0; *list && i < graph->node_count; i++)
        (*list)[i] = &graph->nodes[i];
    *count = graph->node_count;
    return *list;
}

static bool read_body(struct reading *in, struct draft *draft)
{
    struct graph *graph = draft->graph;
    bool good = nodes_read(in, draft);
    good &= read_start(in, draft);
    good &= read_error_node(in, draft);
    good &= read_error_into(in, draft);
    good &= read_error_codes(in, draft);
    good &= read_interrupts(in, draft, "interrupt_before", &graph->interrupt_before, &graph->interrupt_before_count);
    good &= read_interrupts(in, draft, "interrupt_after", &graph->interrupt_after, &graph->interrupt_after_count);
    return log_read(in, draft) && good;
}

/* ---- rules between nodes ----------------------------------------------------------------------------------------- */

static bool check_kind(struct reading *in, struct node *node, const cJSON *item)
{
    struct status why = {0};
    const struct node_kind *kind = node->kind;
    bool good = parameters_check(node, &why) && (!kind->check || kind->check(node, &why));
    if (good && kind->prepare) {
        node->prepared = kind->prepare(node, &in->agent->arena, &why);
        good = node->prepared;
    }
    if (good)
        return prompts_check(in, node, item);
    const cJSON *parameter = why.field[0] ? part(item, why.field) : NULL;
    if (why.code == RESOURCE_EXHAUSTED)
        in->no_memory = true;
    return fault(in, parameter ? parameter : item, "the node '%s': %s", node->name, why.text);
}

static bool check_nodes(struct reading *in, const struct draft *draft)
{
    bool good = true;
    for (size_t i = 0; i < draft->graph->node_count; i++)
        good &= check_kind(in, &draft->nodes_read[i], draft->node_items[i]);
    return good;
}

/* ---- all graphs -------------------------------------------------------------------------------------------------- */

static bool begin_draft(struct reading *in, size_t index, const cJSON *item)
{
    struct draft *draft = &in->drafts[index];
    *draft = (struct draft){.graph = keep(in, 1, sizeof *draft->graph), .item = item, .own = index == 0};
    if (!draft->graph)
        return false;
    draft->graph->agent = in->agent;
    if (index == 0)
        in->agent->graph = draft->graph; /* kinds ask whether they stand in it */
    draft->graph->name = index == 0 ? in->folder : keep_text(in, item->string);
    if (index > 0 && strcmp(item->string, in->folder) == 0)
        return fault(in, item, "'%.*s' is the agent itself; give the sub-graph another name", SHOWN, item->string);
    return index == 0 || name_check(in, item, "a graph", item->string);
}

static bool begin_drafts(struct reading *in)
{
    const cJSON *item, *graphs = part(in->root, "graphs");
    int count = cJSON_IsObject(graphs) ? cJSON_GetArraySize(graphs) : 0;
    if (graphs && !cJSON_IsObject(graphs))
        return fault(in, graphs, "graphs: must be an object of sub-graphs, {\"NAME\": {…}}");
    if (count >= AGENT_GRAPHS_MAX)
        return fault(in, graphs, "\"graphs\" has %d sub-graphs; at most %d are allowed", count, AGENT_GRAPHS_MAX - 1);
    in->drafts = calloc((size_t)count + 1, sizeof *in->drafts);
    in->no_memory |= !in->drafts;
    if (!in->drafts || !begin_draft(in, in->draft_count++, in->root))
        return false;
    bool good = true;
    cJSON_ArrayForEach(item, graphs) good &= begin_draft(in, in->draft_count++, item);
    return good && !in->no_memory;
}

static bool for_each_draft(struct reading *in, bool (*step)(struct reading *in, struct draft *draft))
{
    bool good = true;
    for (size_t i = 0; i < in->draft_count; i++)
        good &= step(in, &in->drafts[i]);
    return good && !in->no_memory;
}

static bool check_draft(struct reading *in, struct draft *draft)
{
    bool good = check_nodes(in, draft);
    return ways_check(in, draft) && good;
}

static bool list_graphs(struct reading *in)
{
    const struct graph **graphs = keep(in, in->draft_count, sizeof *graphs);
    for (size_t i = 0; graphs && i < in->draft_count; i++)
        graphs[i] = in->drafts[i].graph;
    in->agent->graphs = graphs;
    in->agent->graph_count = in->draft_count;
    return graphs;
}

bool agent_read(struct agent *agent, const struct json_document *document, const cJSON *root, const char *folder,
                const char *file, struct problems *problems)
{
    struct status st = {0};
    struct reading in = {.agent = agent, .document = document, .root = root, .folder = folder, .file = file};
    in.problems = problems;
    in.values = config_create(NULL, 0, &st);
    in.no_memory = !in.values;
    bool good =
        in.values && begin_drafts(&in) && for_each_draft(&in, read_graph_head) && for_each_draft(&in, read_body);
    if (good) {
        bool nested = nesting_check(&in);
        good = for_each_draft(&in, check_draft) && nested;
    }
    if (good)
        collection_fields_find(&in);
    good = good && list_graphs(&in);
    size_t unseen = in.faults > AGENT_FAULTS_MAX ? in.faults - AGENT_FAULTS_MAX : 0;
    in.faults = 0;
    if (unseen)
        fault(&in, NULL, "there are %zu more; these are the first %d", unseen, AGENT_FAULTS_MAX);
    if (in.no_memory)
        good = fault(&in, NULL, "no memory for this document");
    if (in.draft_count)
        cJSON_Delete(in.drafts[0].playbook_node);
    free(in.drafts);
    config_destroy(in.values);
    return good;
}
