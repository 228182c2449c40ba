/* The ways through a graph: every node is reached, every cycle has an end, joins are led to, and no graph is within
 * itself. */
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_SHOWN 200 /* bytes of a way that goes round */

struct ways ways_of(const struct node *node)
{
    return (struct ways){.node = node};
}

/* Only the targets after its visits are used up. */
static struct ways ways_beyond(const struct node *node)
{
    return (struct ways){.node = node, .edge = node->edge_count, .beyond = true};
}

const struct node *ways_next(struct ways *ways)
{
    const struct node *node = ways->node;
    for (; ways->edge <= node->edge_count; ways->edge++, ways->at = 0) {
        const struct edge *edge = ways->edge < node->edge_count ? &node->edges[ways->edge] : node->visits_then;
        if (edge && ways->at < edge->node_count)
            return edge->nodes[ways->at++];
    }
    return ways->at < node->may_reach_count && !ways->beyond ? node->may_reach[ways->at++] : NULL;
}

const struct graph *node_sub_graph(const struct node *node)
{
    const struct node_parameter *rows = node->kind->parameters;
    for (size_t i = 0; rows[i].name; i++)
        if (rows[i].type == PARAMETER_GRAPH && node->parameters)
            return node_argument(node, i)->graph;
    return NULL;
}

/* ---- reached nodes ----------------------------------------------------------------------------------------------- */

struct seen {
    unsigned char *mark;
    const struct node **list; /* in the order in which they were reached */
    size_t count;
};

static void see(struct seen *seen, const struct node *node)
{
    if (node && !seen->mark[node->index]) {
        seen->mark[node->index] = 1;
        seen->list[seen->count++] = node;
    }
}

static bool check_reached(struct reading *in, const struct draft *draft, struct seen *seen)
{
    const struct graph *graph = draft->graph;
    bool good = true;
    for (size_t i = 0; i < graph->start.node_count; i++)
        see(seen, graph->start.nodes[i]);
    see(seen, graph->error_node);
    for (size_t i = 0; i < seen->count; i++) {
        struct ways ways = ways_of(seen->list[i]);
        for (const struct node *node = ways_next(&ways); node; node = ways_next(&ways))
            see(seen, node);
    }
    for (size_t i = 0; i < graph->node_count; i++)
        if (!seen->mark[i])
            good = fault(in, draft->node_items[i],
                         "the node '%s' is never reached; lead an edge to it, name it in the \"may_reach\" of a node "
                         "that sends to it, or take it out",
                         graph->nodes[i].name);
    return good;
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

enum { NEW, ON_THE_WAY, DONE };

static bool refuse_round(struct reading *in, const struct draft *draft, const struct seen *way,
                         const struct node *again)
{
    char shown[ROUND_SHOWN] = "";
    size_t at = way->count, length = 0;
    while (at > 0 && way->list[at - 1] != again)
        at--;
    for (size_t i = at ? at - 1 : 0; i < way->count && length < sizeof shown; i++)
        length += (size_t)snprintf(shown + length, sizeof shown - length, "%s -> ", way->list[i]->name);
    return fault(in, draft->node_items[again->index],
                 "%s%s%s goes round without an end; give one of them \"visits\", or the graph a \"recursion_limit\"",
                 shown, length < sizeof shown ? "" : "… -> ", again->name);
}

/* At most GRAPH_NODES_MAX deep. A node with `visits` can be part of an endless cycle only by its targets after the last
 * visit. */
static bool check_ways_walk(struct reading *in, const struct draft *draft, struct seen *way, const struct node *node)
{
    struct ways ways = node->visits_max ? ways_beyond(node) : ways_of(node);
    bool good = true;
    way->mark[node->index] = ON_THE_WAY;
    way->list[way->count++] = node;
    for (const struct node *next = ways_next(&ways); good && next; next = ways_next(&ways)) {
        if (way->mark[next->index] == ON_THE_WAY)
            good = refuse_round(in, draft, way, next);
        else if (way->mark[next->index] == NEW)
            good = check_ways_walk(in, draft, way, next);
    }
    way->count--;
    way->mark[node->index] = DONE;
    return good;
}

static bool check_rounds(struct reading *in, const struct draft *draft, struct seen *way)
{
    for (size_t i = 0; i < draft->graph->node_count; i++)
        if (way->mark[i] == NEW && !check_ways_walk(in, draft, way, &draft->graph->nodes[i]))
            return false;
    return true;
}

/* ---- joins ------------------------------------------------------------------------------------------------------- */

static bool leads_to(const struct node *from, const struct node *to)
{
    struct ways ways = ways_of(from);
    for (const struct node *node = ways_next(&ways); node; node = ways_next(&ways))
        if (node == to)
            return true;
    return false;
}

static bool is_joined(const struct node *node, const struct node *from)
{
    for (size_t i = 0; i < node->join_count; i++)
        if (node->join[i] == from)
            return true;
    return false;
}

static bool check_join(struct reading *in, const struct draft *draft, const struct node *node)
{
    const struct graph *graph = draft->graph;
    const cJSON *item = part(draft->node_items[node->index], "join");
    for (size_t i = 0; i < node->join_count; i++)
        if (!leads_to(node->join[i], node))
            return fault(in, item, "'%s' waits for '%s', which does not lead to it; add an edge, or take it out",
                         node->name, node->join[i]->name);
    for (size_t i = 0; i < graph->node_count; i++)
        if (!is_joined(node, &graph->nodes[i]) && leads_to(&graph->nodes[i], node))
            return fault(in, item,
                         "'%s' leads to '%s', which does not wait for it; add it to \"join\", or lead it "
                         "elsewhere",
                         graph->nodes[i].name, node->name);
    for (size_t i = 0; i < graph->start.node_count; i++)
        if (graph->start.nodes[i] == node)
            return fault(in, item, "the graph starts at '%s', which waits for others; start before it", node->name);
    return true;
}

static bool check_joins(struct reading *in, const struct draft *draft)
{
    bool good = true;
    for (size_t i = 0; i < draft->graph->node_count; i++)
        if (draft->graph->nodes[i].join)
            good &= check_join(in, draft, &draft->graph->nodes[i]);
    return good;
}

bool ways_check(struct reading *in, const struct draft *draft)
{
    size_t count = draft->graph->node_count;
    struct seen seen = {.mark = calloc(count, 1), .list = calloc(count, sizeof *seen.list)};
    bool good = seen.mark && seen.list;
    in->no_memory |= !good;
    if (good) {
        good = check_reached(in, draft, &seen);
        memset(seen.mark, NEW, count);
        seen.count = 0;
        good &= draft->graph->recursion_limited || check_rounds(in, draft, &seen);
        good &= check_joins(in, draft);
    }
    free(seen.mark);
    free(seen.list);
    return good;
}

/* ---- graphs within graphs ---------------------------------------------------------------------------------------- */

struct nesting {
    struct reading *in;
    const struct graph *way[AGENT_NESTING_MAX + 1];
    unsigned char used[AGENT_GRAPHS_MAX];
};

static const struct draft *draft_of(const struct reading *in, const struct graph *graph)
{
    size_t i = 0;
    while (in->drafts[i].graph != graph)
        i++;
    return &in->drafts[i];
}

/* The height of the graphs that a graph runs, itself included; 0: a fault was found. `used` keeps it, so that each
 * graph is looked at once. */
static unsigned measure(struct nesting *nesting, const struct draft *draft, unsigned depth)
{
    unsigned height = 1;
    unsigned char *known = &nesting->used[draft - nesting->in->drafts];
    nesting->way[depth] = draft->graph;
    if (*known)
        return *known;
    for (size_t i = 0; i < draft->graph->node_count; i++) {
        const struct graph *sub = node_sub_graph(&draft->graph->nodes[i]);
        const cJSON *item = draft->node_items[i];
        for (unsigned level = 0; sub && level <= depth; level++)
            if (nesting->way[level] == sub)
                return fault(nesting->in, item, "the graph '%s' would be within itself: '%s' runs it; run another one",
                             sub->name, draft->graph->name);
        if (sub && depth == AGENT_NESTING_MAX)
            return fault(nesting->in, item, "'%s' would be more than %d graphs deep; nest less", sub->name,
                         AGENT_NESTING_MAX);
        unsigned inner = sub ? measure(nesting, draft_of(nesting->in, sub), depth + 1) : 0;
        if (sub && !inner)
            return 0;
        if (inner + 1 > height)
            height = inner + 1;
    }
    *known = (unsigned char)height;
    return height;
}

bool nesting_check(struct reading *in)
{
    struct nesting nesting = {.in = in};
    unsigned height = measure(&nesting, &in->drafts[0], 0);
    if (!height)
        return false;
    if (height > AGENT_NESTING_MAX + 1)
        return fault(in, in->drafts[0].item, "graphs are nested %u deep; at most %d are allowed", height - 1,
                     AGENT_NESTING_MAX);
    bool good = true;
    for (size_t i = 1; i < in->draft_count; i++)
        if (!nesting.used[i])
            good = fault(in, in->drafts[i].item, "no node runs the graph '%s'; use it, or take it out",
                         in->drafts[i].graph->name);
    return good;
}
