/* A graph as a Mermaid flowchart. Sub-graphs are blocks beside it, each drawn once however often it is run. */
#include "reading.h"

#include <ctype.h>
#include <string.h>

struct drawing {
    struct buffer *out;
    const struct graph *graphs[AGENT_GRAPHS_MAX]; /* the first is drawn, the others are its blocks */
    size_t graph_count;
};

/* Within quotes: a character that Mermaid could take for syntax becomes the character's number. */
static void draw_text(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x80 || isalnum(c) || strchr(" _-.,/+*!?=", c))
            buffer_put(out, *text);
        else
            buffer_printf(out, "#%u;", c);
    }
}

static size_t mermaid_number_of(const struct drawing *drawing, const struct graph *graph)
{
    size_t number = 0;
    while (number < drawing->graph_count && drawing->graphs[number] != graph)
        number++;
    return number;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool mermaid_is_in(const struct node *const *list, size_t count, const struct node *node)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return true;
    return false;
}

static void draw_notes(struct buffer *out, const struct node *node)
{
    const struct graph *graph = node->graph;
    if (node->visits_max)
        buffer_printf(out, "<br/>at most %u times", node->visits_max);
    if (node->defer)
        buffer_print(out, "<br/>deferred");
    if (mermaid_is_in(graph->interrupt_before, graph->interrupt_before_count, node))
        buffer_print(out, "<br/>waits before");
    if (mermaid_is_in(graph->interrupt_after, graph->interrupt_after_count, node))
        buffer_print(out, "<br/>waits after");
}

static void draw_node(struct buffer *out, size_t number, const struct node *node)
{
    bool sub = node_sub_graph(node);
    buffer_printf(out, "    g%zun%zu%s\"", number, node->index, sub ? "[[" : "[");
    draw_text(out, node->name);
    buffer_print(out, "<br/>");
    draw_text(out, node->kind->name);
    draw_notes(out, node);
    buffer_printf(out, "\"%s\n", sub ? "]]" : "]");
    if (node->join)
        buffer_printf(out, "    g%zuj%zu((\"all\")) --> g%zun%zu\n", number, node->index, number, node->index);
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static void draw_target(struct buffer *out, size_t number, const struct node *target)
{
    if (target)
        buffer_printf(out, " g%zu%c%zu\n", number, target->join ? 'j' : 'n', target->index);
    else
        buffer_printf(out, " g%zue\n", number);
}

/* `label` NULL: no label. `edge` is "-->" or "-.->". */
static void draw_stroke(struct buffer *out, size_t number, const struct node *from, const char *stroke,
                        const char *label, const struct node *to)
{
    buffer_printf(out, "    g%zun%zu %s", number, from->index, stroke);
    if (label) {
        buffer_print(out, "|\"");
        draw_text(out, label);
        buffer_print(out, "\"|");
    }
    draw_target(out, number, to);
}

static void draw_edge(struct buffer *out, size_t number, const struct node *from, const struct edge *edge,
                      const char *stroke, const char *label)
{
    for (size_t i = 0; i < edge->node_count; i++)
        draw_stroke(out, number, from, stroke, label, edge->nodes[i]);
    if (!edge->node_count)
        draw_stroke(out, number, from, stroke, label, NULL);
}

static void draw_edges_of_node(struct buffer *out, size_t number, const struct node *node)
{
    for (size_t i = 0; i < node->edge_count; i++)
        draw_edge(out, number, node, &node->edges[i], "-->", node->edge_count > 1 ? node->edges[i].outcome : NULL);
    if (node->visits_then)
        draw_edge(out, number, node, node->visits_then, "-.->", "visits used up");
    for (size_t i = 0; i < node->may_reach_count; i++)
        draw_stroke(out, number, node, "-.->", node_sub_graph(node) ? "jumps" : "sends", node->may_reach[i]);
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static void draw_graph(struct buffer *out, size_t number, const struct graph *graph)
{
    buffer_printf(out, "    g%zus((\"start\"))\n    g%zue((\"end\"))\n", number, number);
    for (size_t i = 0; i < graph->node_count; i++)
        draw_node(out, number, &graph->nodes[i]);
    for (size_t i = 0; i < graph->start.node_count; i++) {
        buffer_printf(out, "    g%zus -->", number);
        draw_target(out, number, graph->start.nodes[i]);
    }
    for (size_t i = 0; i < graph->node_count; i++)
        draw_edges_of_node(out, number, &graph->nodes[i]);
    if (graph->error_node)
        buffer_printf(out, "    g%zux((\"error\")) -.-> g%zun%zu\n", number, number, graph->error_node->index);
}

static void draw_blocks(const struct drawing *drawing)
{
    struct buffer *out = drawing->out;
    for (size_t i = 1; i < drawing->graph_count; i++) {
        buffer_printf(out, "    subgraph g%zu[\"", i);
        draw_text(out, drawing->graphs[i]->name);
        buffer_print(out, "\"]\n");
        draw_graph(out, i, drawing->graphs[i]);
        buffer_print(out, "    end\n");
    }
    for (size_t i = 0; i < drawing->graph_count; i++)
        for (size_t j = 0; j < drawing->graphs[i]->node_count; j++) {
            const struct graph *sub = node_sub_graph(&drawing->graphs[i]->nodes[j]);
            if (sub)
                buffer_printf(out, "    g%zun%zu -.- g%zu\n", i, j, mermaid_number_of(drawing, sub));
        }
}

/* Collects every graph that this graph runs, directly or not. */
static void mermaid_collect(struct drawing *drawing, const struct graph *graph)
{
    drawing->graphs[drawing->graph_count++] = graph;
    for (size_t i = 0; i < drawing->graph_count; i++)
        for (size_t j = 0; j < drawing->graphs[i]->node_count; j++) {
            const struct graph *sub = node_sub_graph(&drawing->graphs[i]->nodes[j]);
            if (sub && mermaid_number_of(drawing, sub) == drawing->graph_count)
                drawing->graphs[drawing->graph_count++] = sub;
        }
}

/* A drawing that is too large is drawn without its blocks. If it is still too large, it is left out. */
void graph_write_mermaid(const struct graph *graph, struct buffer *out)
{
    struct buffer text;
    struct drawing drawing = {.out = &text};
    buffer_init(&text, MERMAID_BYTES_MAX);
    mermaid_collect(&drawing, graph);
    for (unsigned tries = 0; tries < 2; tries++) {
        buffer_clear(&text);
        buffer_print(&text, "flowchart TD\n");
        draw_graph(&text, 0, graph);
        if (tries == 0)
            draw_blocks(&drawing);
        if (!text.failed)
            break;
    }
    if (text.failed)
        buffer_print(out, "flowchart TD\n    g0s[\"too large to be drawn\"]\n");
    else
        buffer_append(out, text.data, text.length);
    buffer_fini(&text);
}
