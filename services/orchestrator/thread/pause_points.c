#include "pause_points.h"
#include "branches.h"
#include "frame.h"
#include "graph/graph.h"

#include "base/nearest.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

/* A single name of a guard's path, without the number of a branch. */
struct segment {
    const char *text;
    size_t size;
    bool any;
    const char *rest; /* behind its slash; NULL: it is the last */
    const char *item; /* the number of a branch, behind its bracket; NULL: any branch */
};

static struct segment segment_of(const char *guard)
{
    size_t size = strcspn(guard, "/");
    struct segment segment = {.text = guard, .size = size, .rest = guard[size] ? guard + size + 1 : NULL};
    const char *bracket = memchr(guard, '[', size);
    if (bracket && guard[size - 1] == ']' && segment.rest) {
        segment.size = (size_t)(bracket - guard);
        segment.item = bracket + 1;
    }
    segment.any = segment.size == 1 && *guard == '*';
    return segment;
}

static bool segment_names_node(const struct segment *segment, const struct node *node)
{
    return segment->any || (strlen(node->name) == segment->size && !memcmp(node->name, segment->text, segment->size));
}

/* ---- when a run starts ------------------------------------------------------------------------------------------- */

static bool guards_refuse_name(const struct graph *graph, const struct segment *segment, struct status *st)
{
    char name[GRAPH_NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)segment->size, segment->text);
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < graph->node_count; i++)
        nearest_try(&nearest, graph->nodes[i].name);
    return fail(st, INVALID_ARGUMENT, "the graph '%s' has no node '%s'%s%s%s", graph->name, name,
                nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
}

static bool has_digits(const char *item)
{
    size_t digits = strspn(item, "0123456789");
    return digits && digits < 10 && item[digits] == ']' && item[digits + 1] == '/';
}

bool guard_check(const struct graph *graph, const char *guard, struct status *st)
{
    struct segment segment = segment_of(guard);
    struct status why = {0};
    bool named = false;
    if (segment.item && !has_digits(segment.item))
        return fail(st, INVALID_ARGUMENT, "'%.64s': the number of a branch is in brackets, as in \"NODE[2]/SUBNODE\"",
                    guard);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        if (!segment_names_node(&segment, node))
            continue;
        named = true;
        if (!segment.rest || (node_holds_graph(node) && guard_check(branch_graph(node), segment.rest, &why)))
            return true;
        if (!node_holds_graph(node) && !segment.any)
            fail(&why, INVALID_ARGUMENT, "node '%s' of the graph '%s' holds no graph, so there is no '%.64s' in it",
                 node->name, graph->name, segment.rest);
    }
    if (!named && !segment.any)
        return guards_refuse_name(graph, &segment, st);
    return fail(st, INVALID_ARGUMENT, "%s",
                why.code ? why.text : "no node of the graph holds a graph, so no path leads into one");
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

/* The paths of a guard and of a frame are as deep as each other, or it is another node's. */
static bool guard_names(const struct frame *frame, const struct node *node, const char *guard)
{
    const struct frame *chain[FRAME_DEPTH_MAX + 1];
    size_t depth = 0;
    for (const struct frame *at = frame; at->parent && depth < FRAME_DEPTH_MAX; at = at->parent->frame)
        chain[depth++] = at;
    struct segment segment = segment_of(guard);
    for (; depth; depth--, segment = segment_of(segment.rest)) {
        const struct frame *inner = chain[depth - 1];
        if (!segment.rest || !segment_names_node(&segment, inner->parent->node))
            return false;
        if (segment.item && strtoul(segment.item, NULL, 10) != inner->item)
            return false;
    }
    return !segment.rest && segment_names_node(&segment, node);
}

bool guards_name(const struct frame *frame, const struct node *node, char *const *guards, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (guard_names(frame, node, guards[i]))
            return true;
    return false;
}
