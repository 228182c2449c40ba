/* The keys that a node of any kind may have. */
#include "reading.h"

#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_MS   (INT64_C(30) * 24 * 3600 * 1000) /* thirty days: for every wait */
#define VISITS_MAX   1000000
#define KINDS_SHOWN  320 /* bytes of the names of all kinds */
#define ATTEMPTS_MAX 100
#define RETRY_DEFAULT                                                                                                  \
    {                                                                                                                  \
        .attempts = 3, .base_ms = 500, .max_ms = 8000,                                                                 \
        .codes = 1U << UNAVAILABLE | 1U << RESOURCE_EXHAUSTED | 1U << DEADLINE_EXCEEDED,                               \
    }
#define NAMES(text) "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"" text "\"}"
#define TARGETS(text)                                                                                                  \
    "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}],\"description\":\"" text  \
    "\"}"

const struct key node_keys[] = {
    {.option = {.name = "kind"}, .kind = KEY_PART, .required = true},
    {.option = {.name = "on"},
     .kind = KEY_PART,
     .schema = "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\","
               "\"items\":{\"type\":\"string\"}}]},\"description\":\"Where each outcome leads: a node, several, or "
               "end. Without it the graph ends here.\"}"},
    {.option = {.name = "inputs"}, .kind = KEY_PART, .schema = NAMES("The fields it gets; all where it is not said.")},
    {.option = {.name = "join"},
     .kind = KEY_PART,
     .schema = NAMES("It is due once, when all of these have led to it.")},
    {.option = {.name = "may_reach"},
     .kind = KEY_PART,
     .schema = NAMES("Nodes that it may lead to beside its edges: by sending to them, or by a jump out of its "
                     "sub-graph.")},
    {.option = BOOLEAN_OPTION("defer", NULL, "It is due when nothing else is."), INTO(struct node, defer)},
    {.option = DURATION_OPTION("timeout", NULL, 1, LONGEST_MS, "The longest that one attempt may take."),
     INTO(struct node, timeout_ms)},
    {.option = DURATION_OPTION("idle_timeout", NULL, 1, LONGEST_MS,
                               "The longest that an attempt may be without a sign of life."),
     INTO(struct node, idle_timeout_ms)},
    {.option = {.name = "template_of"},
     .kind = KEY_PART,
     .schema = "{\"type\":\"string\",\"description\":\"An input, a string, whose VALUE chooses the node's prompts: "
               "NAME.VALUE, else NAME.default, else NAME.\"}"},
    {.option = {.name = "retry"}, .kind = KEY_PART},
    {.option = {.name = "visits"}, .kind = KEY_PART},
    {.option = {.name = "cache"}, .kind = KEY_PART},
    {.option = {.name = NULL}},
};

const struct key retry_keys[] = {
    {.option = INTEGER_OPTION("attempts", "3", 1, ATTEMPTS_MAX, NULL,
                              "How often it is tried, the first time included; 3 where it is not said."),
     INTO(struct node_retry, attempts)},
    {.option = DURATION_OPTION(
         "base", NULL, 1, LONGEST_MS,
         "The rest before the second attempt, 500ms where it is not said; then twice as long each time."),
     INTO(struct node_retry, base_ms)},
    {.option = DURATION_OPTION("max", NULL, 1, LONGEST_MS, "The longest rest; 8s where it is not said."),
     INTO(struct node_retry, max_ms)},
    {.option = DURATION_OPTION("longest_hint", NULL, 1, LONGEST_MS,
                               "A service that asks for a longer rest than this is not asked again: the node has "
                               "failed at once. Where it is not said, the node rests as long as it is asked to."),
     INTO(struct node_retry, longest_hint_ms)},
    {.option = {.name = "codes"},
     .kind = KEY_PART,
     .schema = NAMES("Which status codes are tried again; UNAVAILABLE, RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED where "
                     "it is not said.")},
    {.option = {.name = NULL}},
};

const struct key visits_keys[] = {
    {.option = INTEGER_OPTION("max", NULL, 1, VISITS_MAX, NULL, "How often a run may come here."),
     .required = true,
     INTO(struct node, visits_max)},
    {.option = {.name = "then"},
     .kind = KEY_PART,
     .schema = TARGETS("Where it leads from then on; without it the run fails.")},
    {.option = {.name = NULL}},
};

const struct key cache_keys[] = {
    {.option = DURATION_OPTION("ttl", NULL, 1, LONGEST_MS, "How long an answer to the same inputs is used again."),
     .required = true,
     INTO(struct node, cache_ttl_ms)},
    {.option = {.name = NULL}},
};

/* ---- names and places -------------------------------------------------------------------------------------------- */

static void refuse_kind(struct reading *in, const cJSON *kind)
{
    char known[KINDS_SHOWN] = "";
    struct nearest nearest = nearest_to(kind->valuestring);
    for (const struct node_kind *const *one = node_kinds; *one; one++) {
        size_t length = strlen(known);
        nearest_try(&nearest, (*one)->name);
        snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", (*one)->name);
    }
    if (nearest.name)
        fault(in, kind, "there is no kind '%.*s'; did you mean '%s'?", SHOWN, kind->valuestring, nearest.name);
    else
        fault(in, kind, "there is no kind '%.*s'; there are %s", SHOWN, kind->valuestring, known);
}

static const struct node_kind *read_kind(struct reading *in, const cJSON *item)
{
    const cJSON *kind = part(item, "kind");
    if (!cJSON_IsObject(item) || !kind || !cJSON_IsString(kind)) {
        fault(in, kind ? kind : item, "the node '%.*s' must be an object with a \"kind\", such as {\"kind\": \"noop\"}",
              SHOWN, item->string);
        return NULL;
    }
    const struct node_kind *found = node_kind_find(kind->valuestring);
    if (!found)
        refuse_kind(in, kind);
    return found;
}

static bool read_node_name_node(struct reading *in, struct draft *draft, size_t index, const cJSON *item)
{
    struct node *node = &draft->nodes_read[index];
    draft->node_items[index] = item;
    *node = (struct node){.index = index, .graph = draft->graph, .retry = {.attempts = 1}};
    if (!name_check(in, item, "a node", item->string))
        return false;
    if (strcmp(item->string, "end") == 0)
        return fault(in, item, "\"end\" ends the graph; give the node another name");
    node->name = keep_text(in, item->string);
    node->kind = read_kind(in, item);
    return node->name && node->kind;
}

static int read_node_by_name(const void *a, const void *b)
{
    const struct node *const *first = a, *const *second = b;
    return strcmp((*first)->name, (*second)->name);
}

static bool sort_nodes(struct reading *in, struct draft *draft, size_t count)
{
    const struct node **sorted = keep(in, count, sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &draft->nodes_read[i];
    qsort(sorted, count, sizeof *sorted, read_node_by_name);
    draft->graph->nodes = draft->nodes_read;
    draft->graph->nodes_by_name = sorted;
    draft->graph->node_count = count;
    return true;
}

static bool number_lines(struct draft *draft, size_t count, struct reading *in)
{
    size_t *lines = calloc(count + 1, sizeof *lines);
    in->no_memory |= !lines;
    if (!lines)
        return false;
    json_document_lines(in->document, draft->nodes, lines);
    for (size_t i = 0; i < count; i++)
        draft->nodes_read[i].line = (int)lines[i];
    free(lines);
    return true;
}

bool nodes_name(struct reading *in, struct draft *draft)
{
    int count = cJSON_IsObject(draft->nodes) ? cJSON_GetArraySize(draft->nodes) : 0;
    if (count < 1 || count > GRAPH_NODES_MAX)
        return !draft->nodes ||
               fault(in, draft->nodes, "\"nodes\" must be an object of 1 to %d nodes, not %d", GRAPH_NODES_MAX, count);
    const cJSON *item;
    size_t index = 0;
    bool good = true;
    size_t room = (size_t)count + (playbook_is_told(draft) ? 1 : 0);
    draft->nodes_read = keep(in, room, sizeof *draft->nodes_read);
    draft->node_items = keep(in, room, sizeof *draft->node_items);
    if (!draft->nodes_read || !draft->node_items)
        return false;
    cJSON_ArrayForEach(item, draft->nodes) good &= read_node_name_node(in, draft, index++, item);
    if (room > index)
        good &= playbook_add_node(in, draft, index);
    return good && number_lines(draft, index, in) && sort_nodes(in, draft, room);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static bool read_code(struct reading *in, const cJSON *item, const char *name, uint32_t *codes)
{
    int code = cJSON_IsString(item) ? status_code_parse(item->valuestring) : -1;
    if (code < 0)
        return fault(in, item, "%s: '%.*s' is no status code; write \"UNAVAILABLE\" and the like", name, SHOWN,
                     cJSON_IsString(item) ? item->valuestring : "…");
    if (code == OK || code == CANCELLED)
        return fault(in, item, "%s: a node that ends %s has not failed; take it out", name, item->valuestring);
    *codes |= 1U << code;
    return true;
}

bool codes_read(struct reading *in, const cJSON *items, const char *name, uint32_t *codes)
{
    const cJSON *item;
    bool good = true;
    if (!cJSON_IsArray(items))
        return fault(in, items, "%s must be a list of status codes, such as [\"UNAVAILABLE\"]", name);
    *codes = 0;
    cJSON_ArrayForEach(item, items) good = good && read_code(in, item, name, codes);
    return good;
}

static bool read_node_retry(struct reading *in, struct node *node, const cJSON *item)
{
    static const struct node_retry fallback = RETRY_DEFAULT;
    const cJSON *codes = part(item, "codes");
    node->retry = fallback;
    if (!keys_read(in, item, retry_keys, NULL, &node->retry))
        return false;
    if (node->retry.base_ms > node->retry.max_ms)
        return fault(in, item, "retry: base is %lldms and max %lldms; base must be the shorter one",
                     (long long)node->retry.base_ms, (long long)node->retry.max_ms);
    return !codes || codes_read(in, codes, "codes", &node->retry.codes);
}

static bool read_visits(struct reading *in, const struct draft *draft, struct node *node, const cJSON *item)
{
    const cJSON *then = part(item, "then");
    if (!keys_read(in, item, visits_keys, NULL, node))
        return false;
    if (!then)
        return true;
    struct edge *edge = keep(in, 1, sizeof *edge);
    if (!edge)
        return false;
    edge->outcome = "";
    node->visits_then = edge;
    return targets_read(in, draft, then, edge);
}

static bool read_node_is_input(const struct node *node, const struct field *field)
{
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] == field)
            return true;
    return false;
}

static bool has_prompts(const struct node_kind *kind)
{
    for (const struct node_parameter *row = kind->parameters; row->name; row++)
        if (row->type == PARAMETER_PROMPT)
            return true;
    return false;
}

static bool read_template_of(struct reading *in, struct node *node, const cJSON *item)
{
    struct status why = {0};
    const struct field *field = cJSON_IsString(item) ? graph_field_wanted(node->graph, item->valuestring, &why) : NULL;
    if (!field)
        return fault(in, item, "template_of: %s", why.code ? why.text : "must be the name of a field");
    if (field->list || field->type != FIELD_STRING)
        return fault(in, item, "template_of: '%s' is %s; it must be a string", field->name,
                     field_type_words(field->type, field->list));
    if (!read_node_is_input(node, field))
        return fault(in, item, "template_of: '%s' is not among the node's \"inputs\"; add it there", field->name);
    if (!has_prompts(node->kind))
        return fault(in, item, "template_of: a node of the kind '%s' has no prompts; take it out", node->kind->name);
    node->template_of = field;
    return true;
}

static bool read_node(struct reading *in, const struct draft *draft, struct node *node, const cJSON *item)
{
    const cJSON *template = part(item, "template_of");
    const cJSON *join = part(item, "join"), *reach = part(item, "may_reach"), *retry = part(item, "retry");
    const cJSON *visits = part(item, "visits"), *cache = part(item, "cache");
    bool good = keys_read(in, item, node_keys, node->kind->parameters, node);
    good &= edges_read(in, draft, node, item);
    good &= fields_list_read(in, draft->graph, part(item, "inputs"), "inputs", &node->inputs, &node->input_count);
    good &= !template || read_template_of(in, node, template);
    good &= !join || nodes_list_read(in, draft, join, &node->join, &node->join_count);
    good &= !reach || nodes_list_read(in, draft, reach, &node->may_reach, &node->may_reach_count);
    good &= !retry || read_node_retry(in, node, retry);
    good &= !visits || read_visits(in, draft, node, visits);
    good &= !cache || keys_read(in, cache, cache_keys, NULL, node);
    if (cache && (node->kind->is_each || node->kind->is_graph))
        good = fault(in, cache, "cache: a node of the kind '%s' is a graph of its own; give a cache to nodes within",
                     node->kind->name);
    return parameters_read(in, node, item) && good;
}

bool nodes_read(struct reading *in, struct draft *draft)
{
    bool good = true;
    for (size_t i = 0; i < draft->graph->node_count; i++)
        good &= read_node(in, draft, &draft->nodes_read[i], draft->node_items[i]);
    return good;
}
