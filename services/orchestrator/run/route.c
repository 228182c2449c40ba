/* Finds the nodes that are due next: arrows, joins, sends, deferred nodes, visits. A node that several arrows lead to
 * in the same step is due once; two arrows in different steps make it due twice, unless it joins. */
#include "guards.h"
#include "run_priv.h"

#include <stdlib.h>

#define ROUTE_CHAIN_MAX 1000 /* visits that lead on to others */

static bool is_due_by_arrow(const struct frame *frame, const struct node *node)
{
    for (const struct due *due = frame->due; due; due = due->next)
        if (due->node == node && !due->sent && due->state == DUE_PENDING && due->step == frame->step + 1 &&
            !due->attempts)
            return true;
    return false;
}

static bool stands_before(const struct frame *frame, const struct node *node)
{
    const struct run *run = frame_run(frame);
    for (size_t i = 0; i < frame->graph->interrupt_before_count; i++)
        if (frame->graph->interrupt_before[i] == node)
            return true;
    return run && guards_name(frame, node, run->request->interrupt_before, run->request->n_interrupt_before);
}

/* The next number of a branch. A graph is known by its node and that number, however it is led to. */
static uint32_t sent_before(const struct frame *frame, const struct node *node)
{
    uint32_t count = 0;
    for (const struct due *due = frame->due; due; due = due->next)
        if (due->node == node && (due->sent || node_holds_graph(node)) && due->branch >= count)
            count = due->branch + 1;
    return count;
}

static bool is_sent_to(const struct frame *frame, const struct node *node)
{
    const struct due *due = frame->due;
    while (due && !(due->sent && due->node == node))
        due = due->next;
    return due != NULL;
}

static void add(struct frame *frame, const struct node *node, bool overrun)
{
    uint32_t branch = node_holds_graph(node) && is_sent_to(frame, node) ? sent_before(frame, node) : 0;
    struct due *due = frame_add_due(frame, node);
    due->branch = branch;
    due->stands_before = stands_before(frame, node);
    due->overrun = overrun;
    branches_prepare_early(due);
}

static void visit(struct frame *frame, const struct node *node, unsigned depth)
{
    if (is_due_by_arrow(frame, node))
        return;
    bool overrun = node->visits_max && frame->visits[node->index] >= node->visits_max;
    if (!overrun || !node->visits_then || depth == ROUTE_CHAIN_MAX) {
        frame->visits[node->index]++;
        add(frame, node, overrun);
        return;
    }
    for (size_t i = 0; i < node->visits_then->node_count; i++)
        visit(frame, node->visits_then->nodes[i], depth + 1);
}

void route_to(struct frame *frame, const struct node *node)
{
    if (node->defer)
        frame->deferred[node->index] = true;
    else
        visit(frame, node, 0);
}

static bool joins(const struct node *node, const struct node *from)
{
    for (size_t i = 0; i < node->join_count; i++)
        if (node->join[i] == from)
            return true;
    return false;
}

static void arrive(struct frame *frame, const struct node *node, const struct node *from)
{
    size_t count = frame->graph->node_count;
    if (!frame->arrived)
        frame->arrived = need(calloc(count, count * sizeof *frame->arrived));
    bool *arrived = frame->arrived + node->index * count;
    arrived[from->index] = true;
    for (size_t i = 0; i < node->join_count; i++)
        if (!arrived[node->join[i]->index])
            return;
    for (size_t i = 0; i < node->join_count; i++)
        arrived[node->join[i]->index] = false;
    route_to(frame, node);
}

void route_edge(struct frame *frame, const struct node *from, const struct edge *edge)
{
    for (size_t i = 0; edge && i < edge->node_count; i++)
        if (edge->nodes[i]->join && joins(edge->nodes[i], from))
            arrive(frame, edge->nodes[i], from);
        else
            route_to(frame, edge->nodes[i]);
}

static void route_sends(struct frame *frame, const Response *response)
{
    const struct node *last = NULL;
    uint32_t branch = 0;
    for (size_t i = 0; i < response->n_sends; i++) {
        const struct node *node = graph_node(frame->graph, response->sends[i]->node);
        if (!node)
            continue; /* was checked when the node answered */
        branch = node == last ? branch + 1 : sent_before(frame, node);
        last = node;
        struct due *due = frame_add_due(frame, node);
        const char *input = response->sends[i]->input_json;
        due->sent = true;
        due->branch = branch;
        due->input = need(arena_strdup(frame->arena, *input ? input : "{}"));
        due->stands_before = stands_before(frame, node);
        branches_prepare_early(due);
    }
}

void route_outcome(struct frame *frame, const struct due *due)
{
    if (due->state == DUE_FAILED) { /* goes on at the error node */
        route_to(frame, frame->graph->error_node);
        return;
    }
    if (due->jump) {
        const struct node *target = graph_node(frame->graph, due->jump->goto_parent);
        if (target)
            route_to(frame, target);
        return;
    }
    route_edge(frame, due->node, node_edge(due->node, due->response->outcome));
    route_sends(frame, due->response);
}

void route_deferred(struct frame *frame)
{
    if (frame->due)
        return;
    for (size_t i = 0; i < frame->graph->node_count; i++) { /* all that are deferred now are due together */
        if (frame->deferred[i])
            visit(frame, &frame->graph->nodes[i], 0);
        frame->deferred[i] = false;
    }
}
