/* The fields of a graph whose values end up as the names of collections of the knowledge base: a node searches in them,
 * offers them to tools as the argument `collections`, or hands them to a sub-graph that does. StartRun checks the names
 * that an input has. */
#include "reading.h"

#include <string.h>

/* The row of the kind's table; SIZE_MAX: the kind has no such parameter. */
static size_t parameter_row(const struct node_kind *kind, const char *name)
{
    for (size_t row = 0; kind->parameters[row].name; row++)
        if (strcmp(kind->parameters[row].name, name) == 0)
            return row;
    return SIZE_MAX;
}

static const struct field *read_field(const struct node *node, const char *name)
{
    size_t row = parameter_row(node->kind, name);
    return row != SIZE_MAX && node->kind->parameters[row].type == READS_STRINGS ? node_argument(node, row)->field
                                                                                : NULL;
}

/* The field here that a parameter, an object of names of fields, has under `key`. */
static const struct field *mapped_field(const struct node *node, const char *parameter, const char *key)
{
    struct status ignored = {0};
    size_t row = parameter_row(node->kind, parameter);
    bool is_json = row != SIZE_MAX && node->kind->parameters[row].type == PARAMETER_JSON;
    const char *text = is_json ? node_argument(node, row)->text : NULL;
    cJSON *map = text ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(map, key));
    const struct field *field = name ? graph_field(node->graph, name) : NULL;
    cJSON_Delete(map);
    return field;
}

/* The field here that a field of the node's sub-graph is filled from. */
static const struct field *outer_field(const struct node *node, const struct field *inner)
{
    size_t row = parameter_row(node->kind, "in");
    if (!inner)
        return NULL;
    if (node->kind->is_graph && !node_argument(node, row)->text)
        return graph_field(node->graph, inner->name);
    return mapped_field(node, "in", inner->name);
}

static bool collection_fields_of_node(struct graph *graph, const struct node *node)
{
    const struct graph *sub = node_sub_graph(node);
    const struct field *collections = read_field(node, "collections"), *sources = read_field(node, "sources");
    if (!collections)
        collections = mapped_field(node, "arguments", "collections");
    if (!collections && sub && sub->collections) {
        collections = outer_field(node, sub->collections);
        sources = outer_field(node, sub->sources);
    }
    if (!collections || !collections->list || collections->type != FIELD_STRING)
        return false;
    graph->collections = collections;
    graph->sources = sources;
    return true;
}

void collection_fields_find(struct reading *in)
{
    bool changed = true; /* a sub-graph may stand behind the graph that runs it */
    while (changed) {
        changed = false;
        for (size_t i = 0; i < in->draft_count; i++) {
            struct graph *graph = in->drafts[i].graph;
            for (size_t n = 0; n < graph->node_count && !graph->collections; n++)
                changed |= collection_fields_of_node(graph, &graph->nodes[n]);
        }
    }
}
