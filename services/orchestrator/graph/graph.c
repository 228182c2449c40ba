#include "graph.h"

#include <string.h>

const struct field *graph_field(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->field_count; i++)
        if (strcmp(graph->fields[i].name, name) == 0)
            return &graph->fields[i];
    return NULL;
}

const struct node *graph_node(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    return NULL;
}

const struct edge *node_edge(const struct node *node, const char *outcome)
{
    for (size_t i = 0; i < node->edge_count; i++)
        if (strcmp(node->edges[i].outcome, outcome) == 0)
            return &node->edges[i];
    return NULL;
}
