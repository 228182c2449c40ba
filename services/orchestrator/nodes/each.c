/* Runs a sub-graph for each item of a list, side by side. The engine itself does it: this is the entry. */
#include "node_kind.h"

enum { EACH_OF, EACH_AS, EACH_GRAPH, EACH_INTO };

static const struct node_parameter parameters[] = {
    [EACH_OF] = {.name = "of", .type = PARAMETER_FIELD, .required = true, .help = "The list: a field of this graph."},
    [EACH_AS] = {.name = "as",
                 .type = PARAMETER_TEXT,
                 .required = true,
                 .help = "The field of the sub-graph that gets the item; one of its input."},
    [EACH_GRAPH] = {.name = "graph", .type = PARAMETER_GRAPH, .required = true, .help = "The sub-graph."},
    [EACH_INTO] = {.name = "into",
                   .type = PARAMETER_FIELD,
                   .required = true,
                   .help = "The list that gets the output of each, an object of fields, in the order of the items."},
    {.name = NULL},
};
static const char *const outcomes[] = {"done", NULL};

static bool check_lists(const struct field *of, const struct field *into, struct status *st)
{
    if (!of->list)
        return fail_field(st, "of", "'%s' is %s; it must be a list", of->name, field_type_words(of->type, false));
    if (!into->list || (into->type != FIELD_OBJECT && into->type != FIELD_ANY))
        return fail_field(st, "into", "'%s' is %s; it must be object[] or any[]", into->name,
                          field_type_words(into->type, into->list));
    return true;
}

static bool is_input(const struct graph *graph, const struct field *field)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (graph->input[i] == field)
            return true;
    return false;
}

static bool check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, EACH_OF)->field;
    const struct graph *sub = node_argument(node, EACH_GRAPH)->graph;
    struct status why = {0};
    if (!check_lists(of, node_argument(node, EACH_INTO)->field, st))
        return false;
    const struct field *as = graph_field_wanted(sub, node_argument(node, EACH_AS)->text, &why);
    if (!as)
        return fail_field(st, "as", "%s", why.text);
    if (!is_input(sub, as))
        return fail_field(st, "as", "'%s' is not in the \"input\" of the graph '%s'; add it there", as->name,
                          sub->name);
    return as->type == FIELD_ANY || (as->type == of->type && !as->list) ||
           fail_field(st, "as", "'%s' is %s, an item of '%s' is %s; give both the same type", as->name,
                      field_type_words(as->type, as->list), of->name, field_type_words(of->type, false));
}

extern const struct node_kind each_kind;
const struct node_kind each_kind = {
    .name = "each",
    .help = "Runs a sub-graph for each item of a list, side by side.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .is_each = true,
};
