/* What is due next: arrows, joins, sends, deferred nodes, visits. A node that several arrows lead to in one step is due
 * once; two arrows in different steps make it due twice, unless it joins. */
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

static bool is_named(const char *name, char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0 || strcmp(names[i], "*") == 0)
            return true;
    return false;
}

static bool stands_before(const struct frame *frame, const struct node *node)
{
    const struct run *run = frame_run(frame);
    for (size_t i = 0; i < frame->graph->interrupt_before_count; i++)
        if (frame->graph->interrupt_before[i] == node)
            return true;
    return run && !frame->parent &&
           is_named(node->name, run->request->interrupt_before, run->request->n_interrupt_before);
}

static bool visit(struct frame *frame, const struct node *node, unsigned depth, struct status *st)
{
    if (node->visits_max && frame->visits[node->index] >= node->visits_max) {
        if (!node->visits_then || depth == ROUTE_CHAIN_MAX)
            return fail(st, RESOURCE_EXHAUSTED, "node '%s' of '%s' was due %u times and its \"visits\" allow no more",
                        node->name, frame->graph->name, node->visits_max);
        for (size_t i = 0; i < node->visits_then->node_count; i++)
            if (!visit(frame, node->visits_then->nodes[i], depth + 1, st))
                return false;
        return true;
    }
    if (is_due_by_arrow(frame, node))
        return true;
    frame->visits[node->index]++;
    frame_add_due(frame, node)->stands_before = stands_before(frame, node);
    return true;
}

bool route_to(struct frame *frame, const struct node *node, struct status *st)
{
    if (!node->defer)
        return visit(frame, node, 0, st);
    frame->deferred[node->index] = true;
    return true;
}

static bool joins(const struct node *node, const struct node *from)
{
    for (size_t i = 0; i < node->join_count; i++)
        if (node->join[i] == from)
            return true;
    return false;
}

static bool arrive(struct frame *frame, const struct node *node, const struct node *from, struct status *st)
{
    size_t count = frame->graph->node_count;
    if (!frame->arrived)
        frame->arrived = need(calloc(count, count * sizeof *frame->arrived));
    bool *arrived = frame->arrived + node->index * count;
    arrived[from->index] = true;
    for (size_t i = 0; i < node->join_count; i++)
        if (!arrived[node->join[i]->index])
            return true;
    for (size_t i = 0; i < node->join_count; i++)
        arrived[node->join[i]->index] = false;
    return route_to(frame, node, st);
}

bool route_edge(struct frame *frame, const struct node *from, const struct edge *edge, struct status *st)
{
    for (size_t i = 0; edge && i < edge->node_count; i++) {
        const struct node *node = edge->nodes[i];
        bool good = node->join && joins(node, from) ? arrive(frame, node, from, st) : route_to(frame, node, st);
        if (!good)
            return false;
    }
    return true;
}

static uint32_t sent_before(const struct frame *frame, const struct node *node)
{
    uint32_t count = 0;
    for (const struct due *due = frame->due; due; due = due->next)
        if (due->node == node && due->sent && due->branch >= count)
            count = due->branch + 1;
    return count;
}

static bool route_sends(struct frame *frame, const Response *response)
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
        frame->visits[node->index] += branch == 0;
    }
    return true;
}

bool route_outcome(struct frame *frame, const struct due *due, struct status *st)
{
    if (due->state == DUE_FAILED) /* goes on at the error node */
        return route_to(frame, frame->graph->error_node, st);
    const Response *response = due->response;
    if (due->node->kind->is_graph && due->branch_count && due->branches[0].frame && due->branches[0].frame->jump)
        return route_to(frame, graph_node(frame->graph, due->branches[0].frame->jump->goto_parent), st);
    return route_edge(frame, due->node, node_edge(due->node, response->outcome), st) && route_sends(frame, response);
}

bool route_deferred(struct frame *frame, struct status *st)
{
    for (size_t i = 0; !frame->due && i < frame->graph->node_count; i++) {
        /* All of them that were deferred at this time are due together. */
        bool any = false;
        for (size_t j = i; j < frame->graph->node_count; j++) {
            if (!frame->deferred[j])
                continue;
            frame->deferred[j] = false;
            any = true;
            if (!visit(frame, &frame->graph->nodes[j], 0, st))
                return false;
        }
        if (!any)
            break;
    }
    return true;
}
