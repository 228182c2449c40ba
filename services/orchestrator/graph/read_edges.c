/* Edges: "start", "on", and lists of nodes. */
#include "reading.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#define OUTCOMES_MAX   100 /* of a node */
#define OUTCOMES_SHOWN 200 /* bytes of all outcomes of a kind */

/* ---- nodes by name ----------------------------------------------------------------------------------------------- */

static bool refuse_target(struct reading *in, const struct draft *draft, const cJSON *item)
{
    struct nearest nearest = nearest_to(item->valuestring);
    nearest_try(&nearest, "end");
    for (size_t i = 0; i < draft->graph->node_count; i++)
        nearest_try(&nearest, draft->graph->nodes[i].name);
    if (nearest.name)
        return fault(in, item, "there is no node '%.*s'; did you mean '%s'?", SHOWN, item->valuestring, nearest.name);
    return fault(in, item, "there is no node '%.*s' in '%s'; add it, or lead to \"end\"", SHOWN, item->valuestring,
                 draft->graph->name);
}

/* The nodes of a list that is being read; room for all of its items. */
struct node_list {
    const struct node **nodes;
    size_t count;
};

static bool read_edges_add_node(struct reading *in, const struct draft *draft, const cJSON *item,
                                struct node_list *list)
{
    if (!cJSON_IsString(item))
        return fault(in, item, "must be the name of a node");
    if (strcmp(item->valuestring, "end") == 0)
        return fault(in, item, "\"end\" cannot stand in a list; take it out");
    const struct node *node = graph_node(draft->graph, item->valuestring);
    if (!node)
        return refuse_target(in, draft, item);
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i] == node)
            return fault(in, item, "'%s' stands in the list twice; take one out", node->name);
    list->nodes[list->count++] = node;
    return true;
}

static bool read_edges_list(struct reading *in, const struct draft *draft, const cJSON *item, struct node_list *list)
{
    int count = cJSON_IsArray(item) ? cJSON_GetArraySize(item) : 1;
    const cJSON *one;
    bool good = true;
    if (count < 1 || count > GRAPH_NODES_MAX)
        return fault(in, item, "the list has %d nodes; 1 to %d are allowed", count, GRAPH_NODES_MAX);
    list->nodes = keep(in, (size_t)count, sizeof *list->nodes);
    if (!list->nodes)
        return false;
    if (!cJSON_IsArray(item))
        return read_edges_add_node(in, draft, item, list);
    cJSON_ArrayForEach(one, item) good = good && read_edges_add_node(in, draft, one, list);
    return good;
}

bool targets_read(struct reading *in, const struct draft *draft, const cJSON *item, struct edge *edge)
{
    struct node_list list = {0};
    if (cJSON_IsString(item) && strcmp(item->valuestring, "end") == 0)
        return true;
    if (!cJSON_IsString(item) && !cJSON_IsArray(item))
        return fault(in, item, "must be the name of a node, a list of them, or \"end\"");
    bool good = read_edges_list(in, draft, item, &list);
    edge->nodes = list.nodes;
    edge->node_count = list.count;
    return good;
}

bool nodes_list_read(struct reading *in, const struct draft *draft, const cJSON *item, const struct node ***list,
                     size_t *count)
{
    struct node_list read = {0};
    if (!cJSON_IsArray(item))
        return fault(in, item, "%s must be a list of names of nodes", item->string);
    bool good = read_edges_list(in, draft, item, &read);
    *list = read.nodes;
    *count = read.count;
    return good;
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static bool has_outcome(const struct node_kind *kind, const char *name)
{
    for (const char *const *outcome = kind->outcomes; outcome && *outcome; outcome++)
        if (strcmp(*outcome, name) == 0)
            return true;
    return !kind->outcomes || kind->names_outcomes;
}

static bool refuse_outcome(struct reading *in, const struct node *node, const cJSON *item)
{
    char known[OUTCOMES_SHOWN] = "";
    struct nearest nearest = nearest_to(item->string);
    for (const char *const *outcome = node->kind->outcomes; *outcome; outcome++) {
        size_t length = strlen(known);
        nearest_try(&nearest, *outcome);
        snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", *outcome);
    }
    if (nearest.name)
        return fault(in, item, "%s has no outcome '%.*s'; did you mean '%s'?", node->kind->name, SHOWN, item->string,
                     nearest.name);
    return fault(in, item, "%s has no outcome '%.*s'; it has %s", node->kind->name, SHOWN, item->string, known);
}

/* Without "on" the graph ends here with any outcome: refused if the kind has several outcomes. */
static bool end_here(struct reading *in, struct node *node, const cJSON *item)
{
    const char *const *outcomes = node->kind->outcomes;
    if (outcomes && outcomes[0] && outcomes[1])
        return fault(in, item, "the node '%s' needs \"on\": %s may end as %s or %s", node->name, node->kind->name,
                     outcomes[0], outcomes[1]);
    node->edges = keep(in, 1, sizeof *node->edges);
    if (!node->edges)
        return false;
    node->edges[0].outcome = outcomes && outcomes[0] ? outcomes[0] : "done";
    node->edge_count = 1;
    return true;
}

static bool read_edge(struct reading *in, const struct draft *draft, struct node *node, const cJSON *item)
{
    struct edge *edge = &node->edges[node->edge_count];
    if (!has_outcome(node->kind, item->string))
        return refuse_outcome(in, node, item);
    if (!name_check(in, item, "an outcome", item->string))
        return false;
    edge->outcome = keep_text(in, item->string);
    node->edge_count++;
    return targets_read(in, draft, item, edge) && edge->outcome;
}

static bool check_all_lead(struct reading *in, const struct node *node, const cJSON *on)
{
    bool good = true;
    for (const char *const *outcome = node->kind->outcomes; outcome && *outcome; outcome++)
        if (!part(on, *outcome))
            good = fault(in, on, "the node '%s' has no edge for the outcome '%s' of %s; add \"%s\": \"end\" or a node",
                         node->name, *outcome, node->kind->name, *outcome);
    return good;
}

bool edges_read(struct reading *in, const struct draft *draft, struct node *node, const cJSON *item)
{
    const cJSON *edge, *on = part(item, "on");
    if (!on)
        return end_here(in, node, item);
    if (node->kind->outcomes && !node->kind->outcomes[0])
        return fault(in, on, "a node of the kind '%s' leads nowhere; take \"on\" out", node->kind->name);
    int count = cJSON_IsObject(on) ? cJSON_GetArraySize(on) : 0;
    if (count < 1 || count > OUTCOMES_MAX)
        return fault(in, on, "\"on\" must be an object of 1 to %d outcomes, such as {\"done\": \"end\"}", OUTCOMES_MAX);
    node->edges = keep(in, (size_t)count, sizeof *node->edges);
    if (!node->edges)
        return false;
    bool good = true;
    cJSON_ArrayForEach(edge, on) good &= read_edge(in, draft, node, edge);
    return check_all_lead(in, node, on) && good;
}
