/* Runs a sub-graph as a node. The engine itself runs it: this file is the entry, and checks which fields fit
 * together. */
#include "graph/node_kind.h"

#include "json/json.h"

#include <string.h>

enum { GRAPH_GRAPH, GRAPH_IN, GRAPH_OUT };

static const struct node_parameter parameters[] = {
    [GRAPH_GRAPH] = {"graph", PARAMETER_GRAPH, REQUIRED, "The sub-graph."},
    [GRAPH_IN] = {"in", PARAMETER_JSON, OPTIONAL,
                  "Its input: an object of fields of the sub-graph, each with the field here that it gets. Without it, "
                  "fields of the same name."},
    [GRAPH_OUT] = {"out", PARAMETER_JSON, OPTIONAL,
                   "Its output: an object of fields here, each with the field of the sub-graph that it gets. Without "
                   "it, fields of the same name."},
    {.name = NULL},
};
static const char *const outcomes[] = {"done", NULL};

/* The direction in which values pass between two graphs: `open` are the fields of the sub-graph that may take part. */
struct passage {
    const char *parameter, *side; /* "in", "input" */
    const struct graph *from, *to, *sub;
    const struct field *const *open;
    size_t open_count;
};

static bool is_open(const struct passage *passage, const struct field *field)
{
    for (size_t i = 0; i < passage->open_count; i++)
        if (passage->open[i] == field)
            return true;
    return false;
}

static bool may_pass(const struct passage *passage, const struct field *from, const struct field *to, struct status *st)
{
    const struct field *inner = passage->from == passage->sub ? from : to;
    if (!is_open(passage, inner))
        return fail_field(st, passage->parameter, "'%s' is not in the \"%s\" of the graph '%s'; add it there",
                          inner->name, passage->side, passage->sub->name);
    bool fits = to->type == FIELD_ANY && (!to->list || from->list);
    fits |= to->type == from->type && to->list == from->list;
    fits |= to->type == FIELD_NUMBER && from->type == FIELD_INTEGER && to->list == from->list;
    return fits ||
           fail_field(st, passage->parameter, "'%s' takes %s, '%s' is %s; give both the same type", to->name,
                      field_type_words(to->type, to->list), from->name, field_type_words(from->type, from->list));
}

static bool graph_check_pair(const struct passage *passage, const cJSON *pair, struct status *st)
{
    struct status why = {0};
    if (!cJSON_IsString(pair))
        return fail_field(st, passage->parameter, "'%s' must have the name of a field", pair->string);
    const struct field *to = graph_field_wanted(passage->to, pair->string, &why);
    const struct field *from = to ? graph_field_wanted(passage->from, pair->valuestring, &why) : NULL;
    if (!from)
        return fail_field(st, passage->parameter, "%s", why.text);
    return may_pass(passage, from, to, st);
}

static bool graph_check_pairs(const struct passage *passage, const char *text, struct status *st)
{
    cJSON *pairs = json_parse(text, strlen(text), NULL, st), *pair;
    if (!pairs)
        return false;
    bool good = cJSON_IsObject(pairs) || fail_field(st, passage->parameter, "must be an object of fields");
    for (pair = good ? pairs->child : NULL; good && pair; pair = pair->next)
        good = graph_check_pair(passage, pair, st);
    cJSON_Delete(pairs);
    return good;
}

/* Without a map: the fields with the same name on both sides. */
static bool check_same_names(const struct passage *passage, struct status *st)
{
    for (size_t i = 0; i < passage->open_count; i++) {
        const struct field *from = graph_field(passage->from, passage->open[i]->name);
        const struct field *to = graph_field(passage->to, passage->open[i]->name);
        if (from && to && !may_pass(passage, from, to, st))
            return false;
    }
    return true;
}

static bool graph_check(const struct node *node, struct status *st)
{
    const struct graph *own = node->graph, *sub = node_argument(node, GRAPH_GRAPH)->graph;
    const char *in = node_argument(node, GRAPH_IN)->text, *out = node_argument(node, GRAPH_OUT)->text;
    const struct passage inward = {"in", "input", own, sub, sub, sub->input, sub->input_count};
    const struct passage outward = {"out", "output", sub, own, sub, sub->output, sub->output_count};
    return (in ? graph_check_pairs(&inward, in, st) : check_same_names(&inward, st)) &&
           (out ? graph_check_pairs(&outward, out, st) : check_same_names(&outward, st));
}

extern const struct node_kind graph_kind;
const struct node_kind graph_kind = {
    .name = "graph",
    .help = "Runs a sub-graph as one node.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = graph_check,
    .is_graph = true,
};
