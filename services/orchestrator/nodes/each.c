/* Runs a sub-graph for each item of a list, side by side. The engine itself does it: this is the entry. */
#include "graph/node_kind.h"

#include "json/json.h"

#include <string.h>

enum { EACH_OF, EACH_AS, EACH_GRAPH, EACH_INTO, EACH_IN, EACH_NUMBER };

static const struct node_parameter parameters[] = {
    [EACH_OF] = {"of", PARAMETER_FIELD, REQUIRED, "The list: a field of this graph."},
    [EACH_AS] = {"as", PARAMETER_TEXT, REQUIRED, "The field of the sub-graph that gets the item; one of its input."},
    [EACH_GRAPH] = {"graph", PARAMETER_GRAPH, REQUIRED, "The sub-graph."},
    [EACH_INTO] = {"into", PARAMETER_FIELD, REQUIRED,
                   "The list that gets the output of each, an object of fields, in the order of the items."},
    [EACH_IN] = {"in", PARAMETER_JSON, OPTIONAL,
                 "What each gets beside its item: an object of fields of the sub-graph, each with the field here that "
                 "it gets."},
    [EACH_NUMBER] =
        {"number", PARAMETER_TEXT, OPTIONAL,
         "A field of the sub-graph, an integer of its input, that gets the item's place in the list, counted from 1."},
    {.name = NULL},
};
static const char *const outcomes[] = {"done", NULL};

static bool each_check_lists(const struct field *of, const struct field *into, struct status *st)
{
    if (!of->list)
        return fail_field(st, "of", "'%s' is %s; it must be a list", of->name, field_type_words(of->type, false));
    if (!into->list || (into->type != FIELD_OBJECT && into->type != FIELD_ANY))
        return fail_field(st, "into", "'%s' is %s; it must be object[] or any[]", into->name,
                          field_type_words(into->type, into->list));
    return true;
}

static bool each_is_input(const struct graph *graph, const struct field *field)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (graph->input[i] == field)
            return true;
    return false;
}

static bool each_check_pair(const struct node *node, const struct graph *sub, const cJSON *pair, struct status *st)
{
    struct status why = {0};
    const char *name = cJSON_GetStringValue(pair), *number = node_argument(node, EACH_NUMBER)->text;
    if (!name)
        return fail_field(st, "in", "'%s' must have the name of a field", pair->string);
    const struct field *to = graph_field_wanted(sub, pair->string, &why);
    const struct field *from = to ? graph_field_wanted(node->graph, name, &why) : NULL;
    if (!from)
        return fail_field(st, "in", "%s", why.text);
    if (!each_is_input(sub, to))
        return fail_field(st, "in", "'%s' is not in the \"input\" of the graph '%s'; add it there", to->name,
                          sub->name);
    if (strcmp(to->name, node_argument(node, EACH_AS)->text) == 0)
        return fail_field(st, "in", "'%s' gets the item; name it in \"as\" alone", to->name);
    if (number && strcmp(to->name, number) == 0)
        return fail_field(st, "in", "'%s' gets the item's place; name it in \"number\" alone", to->name);
    return to->type == FIELD_ANY || (to->type == from->type && to->list == from->list) ||
           fail_field(st, "in", "'%s' takes %s, '%s' is %s; give both the same type", to->name,
                      field_type_words(to->type, to->list), from->name, field_type_words(from->type, from->list));
}

static bool each_check_pairs(const struct node *node, const struct graph *sub, struct status *st)
{
    const char *text = node_argument(node, EACH_IN)->text;
    cJSON *pairs = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    bool good = !text || cJSON_IsObject(pairs) || fail_field(st, "in", "must be an object of fields");
    for (const cJSON *pair = text && good ? pairs->child : NULL; good && pair; pair = pair->next)
        good = each_check_pair(node, sub, pair, st);
    cJSON_Delete(pairs);
    return good;
}

static bool each_check_number(const struct node *node, const struct graph *sub, struct status *st)
{
    const char *name = node_argument(node, EACH_NUMBER)->text;
    struct status why = {0};
    const struct field *number = name ? graph_field_wanted(sub, name, &why) : NULL;
    if (!name)
        return true;
    if (!number)
        return fail_field(st, "number", "%s", why.text);
    if (!each_is_input(sub, number) || strcmp(name, node_argument(node, EACH_AS)->text) == 0)
        return fail_field(st, "number",
                          "'%s' must be in the \"input\" of the graph '%s', and another field than \"as\"", name,
                          sub->name);
    return (!number->list && (number->type == FIELD_INTEGER || number->type == FIELD_ANY)) ||
           fail_field(st, "number", "'%s' is %s; the place of an item is an integer", name,
                      field_type_words(number->type, number->list));
}

static bool each_check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, EACH_OF)->field;
    const struct graph *sub = node_argument(node, EACH_GRAPH)->graph;
    struct status why = {0};
    if (!each_check_lists(of, node_argument(node, EACH_INTO)->field, st))
        return false;
    const struct field *as = graph_field_wanted(sub, node_argument(node, EACH_AS)->text, &why);
    if (!as)
        return fail_field(st, "as", "%s", why.text);
    if (!each_is_input(sub, as))
        return fail_field(st, "as", "'%s' is not in the \"input\" of the graph '%s'; add it there", as->name,
                          sub->name);
    if (as->type != FIELD_ANY && (as->type != of->type || as->list))
        return fail_field(st, "as", "'%s' is %s, an item of '%s' is %s; give both the same type", as->name,
                          field_type_words(as->type, as->list), of->name, field_type_words(of->type, false));
    return each_check_number(node, sub, st) && each_check_pairs(node, sub, st);
}

extern const struct node_kind each_kind;
const struct node_kind each_kind = {
    .name = "each",
    .help = "Runs a sub-graph for each item of a list, side by side.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = each_check,
    .is_each = true,
};
