/* Activates the next nodes: edges, joins, sends, deferred nodes, visits. A node that several edges lead to
 * in the same step is activated once; two edges in different steps activate it twice, unless it joins. */
#include "route.h"
#include "branches.h"
#include "frame.h"
#include "graph/graph.h"
#include "memory.h"
#include "pause_points.h"
#include "run.h"

#include <stdlib.h>

#define ROUTE_CHAIN_MAX 1000 /* visits that lead on to others */

static bool is_activated_by_edge(const struct frame *frame, const struct node *node)
{
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if (activation->node == node && !activation->sent && activation->state == ACTIVATION_PENDING &&
            activation->step == frame->step + 1 && !activation->attempts)
            return true;
    return false;
}

static bool pauses_before(const struct frame *frame, const struct node *node)
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
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if (activation->node == node && (activation->sent || node_holds_graph(node)) && activation->branch >= count)
            count = activation->branch + 1;
    return count;
}

static bool is_sent_to(const struct frame *frame, const struct node *node)
{
    const struct activation *activation = frame->activations;
    while (activation && !(activation->sent && activation->node == node))
        activation = activation->next;
    return activation != NULL;
}

static void route_add(struct frame *frame, const struct node *node, bool overrun)
{
    uint32_t branch = node_holds_graph(node) && is_sent_to(frame, node) ? sent_before(frame, node) : 0;
    struct activation *activation = frame_activate(frame, node);
    activation->branch = branch;
    activation->pauses_before = pauses_before(frame, node);
    activation->overrun = overrun;
    branches_prepare_early(activation);
}

static void route_visit(struct frame *frame, const struct node *node, unsigned depth)
{
    if (is_activated_by_edge(frame, node))
        return;
    bool overrun = node->visits_max && frame->visits[node->index] >= node->visits_max;
    if (!overrun || !node->visits_then || depth == ROUTE_CHAIN_MAX) {
        frame->visits[node->index]++;
        route_add(frame, node, overrun);
        return;
    }
    for (size_t i = 0; i < node->visits_then->node_count; i++)
        route_visit(frame, node->visits_then->nodes[i], depth + 1);
}

void route_to(struct frame *frame, const struct node *node)
{
    if (node->defer)
        frame->deferred[node->index] = true;
    else
        route_visit(frame, node, 0);
}

static bool route_joins(const struct node *node, const struct node *from)
{
    for (size_t i = 0; i < node->join_count; i++)
        if (node->join[i] == from)
            return true;
    return false;
}

static void route_arrive(struct frame *frame, const struct node *node, const struct node *from)
{
    size_t count = frame->graph->node_count;
    if (!frame->arrived)
        frame->arrived = xnonnull(calloc(count, count * sizeof *frame->arrived));
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
        if (edge->nodes[i]->join && route_joins(edge->nodes[i], from))
            route_arrive(frame, edge->nodes[i], from);
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
        struct activation *activation = frame_activate(frame, node);
        const char *input = response->sends[i]->input_json;
        activation->sent = true;
        activation->branch = branch;
        activation->input = xnonnull(arena_strdup(frame->arena, *input ? input : "{}"));
        activation->pauses_before = pauses_before(frame, node);
        branches_prepare_early(activation);
    }
}

void route_outcome(struct frame *frame, const struct activation *activation)
{
    if (activation->state == ACTIVATION_FAILED) { /* goes on at the error node */
        route_to(frame, frame->graph->error_node);
        return;
    }
    if (activation->jump) {
        const struct node *target = graph_node(frame->graph, activation->jump->goto_parent);
        if (target)
            route_to(frame, target);
        return;
    }
    route_edge(frame, activation->node, node_edge(activation->node, activation->response->outcome));
    route_sends(frame, activation->response);
}

void route_deferred(struct frame *frame)
{
    if (frame->activations)
        return;
    for (size_t i = 0; i < frame->graph->node_count; i++) { /* all nodes that are deferred now are activated together */
        if (frame->deferred[i])
            route_visit(frame, &frame->graph->nodes[i], 0);
        frame->deferred[i] = false;
    }
}
