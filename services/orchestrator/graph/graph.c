/* Lookups in a graph while it runs: by name, in sorted lists of up to a thousand entries. A graph that was put together
 * by hand has no sorted lists, and is walked. */
#include "graph.h"

#include <string.h>

static const struct field *walk_fields(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->field_count; i++)
        if (strcmp(graph->fields[i].name, name) == 0)
            return &graph->fields[i];
    return NULL;
}

const struct field *graph_field(const struct graph *graph, const char *name)
{
    size_t low = 0, high = graph->field_count;
    if (!graph->fields_by_name)
        return walk_fields(graph, name);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, graph->fields_by_name[middle]->name);
        if (order == 0)
            return graph->fields_by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static const struct node *walk_nodes(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    return NULL;
}

const struct node *graph_node(const struct graph *graph, const char *name)
{
    size_t low = 0, high = graph->node_count;
    if (!graph->nodes_by_name)
        return walk_nodes(graph, name);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, graph->nodes_by_name[middle]->name);
        if (order == 0)
            return graph->nodes_by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct edge *node_edge(const struct node *node, const char *outcome)
{
    const char *wanted = outcome && *outcome ? outcome : "done";
    for (size_t i = 0; i < node->edge_count; i++)
        if (strcmp(node->edges[i].outcome, wanted) == 0)
            return &node->edges[i];
    return NULL;
}
