/* The highest cost of a check, known before the check.
 *
 * A value is held against a schema, against those that it leads on to ($ref, anyOf), and its parts against theirs. No
 * value is held twice against the same one (json_schema_check.c remembers), so there are never more than the document
 * has. Mostly there are far fewer: counted from the leaves of a value up, once for each level that JSON may have. */
#include "schema_private.h"

#define LEVELS    JSON_DEPTH_DEFAULT /* of a value */
#define DEEP_COST JSON_DEPTH_DEFAULT /* a constant with parts: a part may be compared once for each level above it */

static unsigned cost_sum(unsigned a, unsigned b)
{
    return a + b < JSON_SCHEMA_NODES_MAX * DEEP_COST ? a + b : JSON_SCHEMA_NODES_MAX * DEEP_COST;
}

static unsigned cost_larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned own_cost(const struct schema_node *node)
{
    bool deep = (node->constant && node->constant->child) || (node->table && schema_choices_are_deep(node->table));
    return deep ? 1 + DEEP_COST : 1;
}

/* While it is compiled, a node is its compiler's. */
static struct schema_cost *cost_of(const struct schema_node *node)
{
    return &((struct schema_node *)(uintptr_t)node)->cost;
}

/* No way leads in a circle, or through more than JSON_SCHEMA_CHAIN_MAX (json_schema_refs.c). */
static unsigned same_cost(const struct schema_node *node)
{
    struct schema_cost *cost = cost_of(node);
    if (cost->same)
        return cost->same;
    unsigned all = own_cost(node);
    if (node->ref)
        all = cost_sum(all, same_cost(node->ref->real));
    for (size_t i = 0; i < node->any_count; i++)
        all = cost_sum(all, same_cost(node->any_of[i]->real));
    cost->own = own_cost(node);
    cost->most = all;
    return cost->same = all;
}

static unsigned cost_below(const struct schema_node *node, unsigned round)
{
    struct schema_cost *cost = cost_of(node);
    if (cost->round == round)
        return cost->below;
    /* One part of the value at a time: the costliest of those that this schema knows. */
    unsigned all = node->items ? node->items->real->cost.before : 0;
    if (node->additional)
        all = cost_larger(all, node->additional->real->cost.before);
    for (size_t i = 0; i < node->property_count; i++)
        if (node->properties[i].node)
            all = cost_larger(all, node->properties[i].node->real->cost.before);
    if (node->ref)
        all = cost_sum(all, cost_below(node->ref->real, round));
    for (size_t i = 0; i < node->any_count; i++)
        all = cost_sum(all, cost_below(node->any_of[i]->real, round));
    cost->round = round;
    return cost->below = all;
}

static bool cost_rise(const struct schema_nodes *nodes, unsigned round, unsigned all)
{
    bool changed = false;
    for (struct schema_node *node = nodes->newest; node; node = node->older)
        node->cost.before = node->cost.most < all ? node->cost.most : all;
    for (struct schema_node *node = nodes->newest; node; node = node->older) {
        unsigned most = cost_larger(node->cost.same, cost_below(node, round));
        changed |= most > node->cost.most && node->cost.most < all;
        node->cost.most = cost_larger(node->cost.most, most);
    }
    return changed;
}

bool schema_cost_find(const struct schema_nodes *nodes, const struct schema_node *root, unsigned *factor,
                      struct status *st)
{
    unsigned all = 0;
    for (struct schema_node *node = nodes->newest; node; node = node->older) {
        same_cost(node);
        all = cost_sum(all, node->cost.own);
    }
    for (unsigned round = 1; round <= LEVELS && cost_rise(nodes, round, all); round++)
        continue;
    *factor = root->cost.most < all ? root->cost.most : all;
    return *factor <= JSON_SCHEMA_FACTOR_MAX ||
           fail(st, INVALID_ARGUMENT,
                "(the whole): one value may have to be held against %u schemas, and at most %d are checked; give anyOf "
                "fewer alternatives, and list constants as enum",
                *factor, JSON_SCHEMA_FACTOR_MAX);
}
