/* The option "playbook" of an agent: {"dataset": "helpdesk", "query": "question", "top_k": 8}. A node of the kind
 * `playbook` goes before the start, and writes two fields:
 *
 *     playbook_text    the lessons that fit, fenced; "" if no lesson fits. The value of {playbook} in every prompt
 *     playbook_used    {"dataset", "revision", "bullet_ids"} for feedback; the ids are empty if no lesson fits */
#include "reading.h"

#include "dataset.h"

#include <stdlib.h>
#include <string.h>

#define NODE_NAME   "recall_playbook"
#define TEXT_FIELD  "playbook_text"
#define USED_FIELD  "playbook_used"
#define TOP_K       8
#define TOP_K_MAX   100
#define LESSONS_MAX 32768 /* bytes: they stand in every prompt that names them */

/* The retries outlast a restart of the tool-runner. If it stays unreachable, they cost a run less than 2 s. */
#define RECALL_RETRY                                                                                                   \
    {                                                                                                                  \
        .attempts = 4, .base_ms = 250, .max_ms = 1000, .codes = 1U << UNAVAILABLE                                      \
    }

static const struct key playbook_keys[] = {
    {.option = {.name = "dataset", .max = DATASET_NAME_MAX}, .kind = KEY_TEXT, INTO(struct draft, playbook_dataset)},
    {.option = {.name = "query", .max = GRAPH_NAME_MAX},
     .kind = KEY_TEXT,
     .required = true,
     INTO(struct draft, playbook_query)},
    {.option = {.name = "top_k", .type = OPTION_INTEGER, .min = 1, .max = TOP_K_MAX},
     INTO(struct draft, playbook_top_k)},
    {.option = {.name = NULL}},
};

bool playbook_is_told(const struct draft *draft)
{
    return draft->own && part(draft->item, "playbook");
}

bool playbook_add_fields(struct reading *in, struct draft *draft, size_t index)
{
    const cJSON *option = part(draft->item, "playbook");
    struct field *fields = draft->fields;
    struct status why = {0};
    draft->playbook_top_k = TOP_K;
    if (!keys_read(in, option, playbook_keys, NULL, draft))
        return false;
    if (!draft->playbook_dataset)
        draft->playbook_dataset = in->folder;
    if (!dataset_check("dataset", draft->playbook_dataset, &why))
        return fault(in, option, "playbook: %s", why.text);
    for (size_t i = 0; i < index; i++)
        if (fields[i].name && (strcmp(fields[i].name, TEXT_FIELD) == 0 || strcmp(fields[i].name, USED_FIELD) == 0))
            return fault(in, option, "playbook: '%s' is a field of its own; give yours another name", fields[i].name);
    fields[index] = (struct field){
        .name = TEXT_FIELD, .index = index, .type = FIELD_STRING, .description = "Lessons of the playbook that fit."};
    fields[index + 1] = (struct field){.name = USED_FIELD,
                                       .index = index + 1,
                                       .type = FIELD_OBJECT,
                                       .description = "What was used of the playbook: dataset, revision, bullet_ids."};
    draft->graph->playbook = &fields[index];
    return true;
}

static bool playbook_check_query(struct reading *in, const struct draft *draft)
{
    const cJSON *option = part(draft->item, "playbook");
    struct status why = {0};
    const struct field *query = graph_field_wanted(draft->graph, draft->playbook_query, &why);
    if (!query)
        return fault(in, option, "playbook: query: %s", why.text);
    return (!query->list && query->type == FIELD_STRING) ||
           fault(in, option, "playbook: query: '%s' is %s; it must be a string", query->name,
                 field_type_words(query->type, query->list));
}

static cJSON *playbook_make_node(const struct draft *draft)
{
    cJSON *node = cJSON_CreateObject(), *on = cJSON_AddObjectToObject(node, "on"); /* until the start is known */
    const char *inputs[] = {draft->playbook_query};
    cJSON_AddStringToObject(on, "found", "end");
    cJSON_AddStringToObject(on, "nothing", "end");
    cJSON_AddStringToObject(node, "kind", "playbook");
    cJSON_AddStringToObject(node, "dataset_name", draft->playbook_dataset);
    cJSON_AddStringToObject(node, "query", draft->playbook_query);
    cJSON_AddNumberToObject(node, "limit", draft->playbook_top_k);
    cJSON_AddNumberToObject(node, "bytes", LESSONS_MAX);
    cJSON_AddStringToObject(node, "block", TEXT_FIELD);
    cJSON_AddStringToObject(node, "used", USED_FIELD);
    cJSON_AddTrueToObject(node, "optional");
    cJSON_AddItemToObject(node, "inputs", cJSON_CreateStringArray(inputs, 1));
    return node;
}

bool playbook_add_node(struct reading *in, struct draft *draft, size_t index)
{
    if (!draft->graph->playbook || !playbook_check_query(in, draft))
        return false;
    if (part(draft->nodes, NODE_NAME))
        return fault(in, part(draft->nodes, NODE_NAME),
                     "the option \"playbook\" has a node of this name; take another");
    draft->playbook_node = playbook_make_node(draft);
    draft->node_items[index] = draft->playbook_node;
    draft->nodes_read[index] = (struct node){.name = NODE_NAME,
                                             .index = index,
                                             .graph = draft->graph,
                                             .kind = node_kind_find("playbook"),
                                             .retry = RECALL_RETRY};
    return draft->nodes_read[index].kind ||
           fault(in, part(draft->item, "playbook"), "playbook: this program has no nodes of the kind 'playbook'");
}

/* "All fields" are those of the document: the option changes no input and no output, of the agent or of a node. */
static void playbook_hide_fields(struct draft *draft)
{
    struct graph *graph = draft->graph;
    if (graph->input == graph->all_fields)
        graph->input_count -= PLAYBOOK_FIELDS;
    if (graph->output == graph->all_fields)
        graph->output_count -= PLAYBOOK_FIELDS;
    for (size_t i = 0; i < graph->node_count; i++)
        if (draft->nodes_read[i].inputs == graph->all_fields)
            draft->nodes_read[i].input_count -= PLAYBOOK_FIELDS;
}

bool playbook_goes_first(struct reading *in, struct draft *draft)
{
    static const char *const outcomes[] = {"found", "nothing"};
    struct graph *graph = draft->graph;
    if (!graph->playbook)
        return true;
    struct node *node = &draft->nodes_read[graph->node_count - 1];
    struct edge *edges = keep(in, 2, sizeof *edges);
    const struct node **first = keep(in, 1, sizeof *first);
    if (!edges || !first)
        return false;
    for (size_t i = 0; i < 2; i++) {
        edges[i] = graph->start;
        edges[i].outcome = outcomes[i];
    }
    node->edges = edges;
    node->edge_count = 2;
    *first = node;
    graph->start.nodes = first;
    graph->start.node_count = 1;
    playbook_hide_fields(draft);
    return true;
}
