/* A document that is being read, shared by the files of this folder. Reading goes on behind a fault, so that a single
 * pass shows most faults. A part that depends on a faulty part is not checked. */
#ifndef RENGA_ORCHESTRATOR_READING_H
#define RENGA_ORCHESTRATOR_READING_H

#include "agents.h"
#include "problems.h"

#include "node_kind.h"

#include "config/config.h"
#include "json/json.h"

#define SHOWN 64 /* bytes of a name or value in a fault */

#define RECURSION_LIMIT_DEFAULT 100 /* supersteps; a document with cycles sets more */
#define CONCURRENCY_DEFAULT     64  /* nodes at work at once */

/* A graph on its way from the document. */
struct draft {
    struct graph *graph;
    const cJSON *item, *state, *nodes; /* of the document; the last two may be NULL */
    struct field *fields;
    struct node *nodes_read;
    const cJSON **node_items;
    bool own; /* the agent's own; else a sub-graph */

    /* read_playbook.c: the option "playbook". */
    const char *playbook_dataset, *playbook_query;
    unsigned playbook_top_k;
    cJSON *playbook_node; /* the node `playbook`, as if it stood in the document; NULL: not used */
};

struct reading {
    struct agent *agent;
    const struct json_document *document;
    const cJSON *root; /* of graph.json: in a bundle not that of the document */
    const char *folder, *file;
    struct config *values; /* without options: reads numbers and durations */
    struct problems *problems;
    struct draft *drafts; /* the agent's own first */
    size_t draft_count;
    size_t faults; /* of this agent */
    bool no_memory;
};

/* Notes a fault of `item`, NULL for the file. Returns false. */
bool fault(struct reading *in, const cJSON *item, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Zeroed, of the agent's arena; NULL sets no_memory. */
void *keep(struct reading *in, size_t count, size_t size);
const char *keep_text(struct reading *in, const char *text);
const char *keep_json(struct reading *in, const cJSON *tree);

/* The agent of a document: a name that does not fit and every other fault goes to `problems`. Its prompts are already
 * there, and it has no version yet. */
bool agent_read(struct agent *agent, const struct json_document *document, const cJSON *root, const char *folder,
                const char *file, struct problems *problems);

/* ---- keys.c: objects whose keys stand in a table ----------------------------------------------------------------- */

enum key_kind {
    KEY_OPTION, /* as config/config.h reads it */
    KEY_TEXT,   /* at most option.max bytes */
    KEY_CHOICE, /* the index within option.choices, into an int */
    KEY_PART,   /* read by a function of its own */
};

struct key {
    struct option option;
    enum key_kind kind;
    bool required, own_only, sub_only;
    const char *schema; /* of a part: JSON Schema */
    size_t at, size;    /* offset and size of its member */
};

/* struct key {.option = …, INTO(struct node, defer)} */
#define INTO(type, member) .at = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* Reads an object into a struct that holds the defaults. `more`, which may be NULL, are other keys that may stand
 * there. The table ends with an entry without a name. */
bool keys_read(struct reading *in, const cJSON *object, const struct key *table, const struct node_parameter *more,
               void *into);

/* The index of a choice, "a|b|c"; -1: not a choice. choice_refuse notes the fault of a wrong word. */
int choice_index(const char *choices, const char *word);
bool choice_refuse(struct reading *in, const cJSON *item, const char *name, const char *choices, const char *word);

/* Names are of letters, digits, '_', '-' and '.'; 1 to GRAPH_NAME_MAX bytes. `what`: "a field". */
bool name_check(struct reading *in, const cJSON *item, const char *what, const char *name);

static inline const cJSON *part(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* The tables, for the schema of the document. */
extern const struct key graph_keys[], field_keys[], node_keys[], retry_keys[], visits_keys[], cache_keys[],
    budget_keys[];

/* ---- the parts --------------------------------------------------------------------------------------------------- */

/* read_state.c */
bool state_read(struct reading *in, struct draft *draft);
bool fields_list_read(struct reading *in, const struct graph *graph, const cJSON *item, const char *what,
                      const struct field ***list, size_t *count);

/* read_node.c: names and places first, so that nodes may name each other; then all the rest. */
bool nodes_name(struct reading *in, struct draft *draft);
bool nodes_read(struct reading *in, struct draft *draft);
/* A list of status codes as bits; `name` is the key that has it. */
bool codes_read(struct reading *in, const cJSON *items, const char *name, uint32_t *codes);

/* read_edges.c. A list of nodes: a name or an array of them. */
bool targets_read(struct reading *in, const struct draft *draft, const cJSON *item, struct edge *edge);
bool nodes_list_read(struct reading *in, const struct draft *draft, const cJSON *item, const struct node ***list,
                     size_t *count);
bool edges_read(struct reading *in, const struct draft *draft, struct node *node, const cJSON *item);

/* read_playbook.c: the option "playbook" of the agent's own graph. It adds PLAYBOOK_FIELDS fields and a node that goes
 * before the start. Without the option, the graph stays unchanged. */
#define PLAYBOOK_FIELDS 2
bool playbook_is_told(const struct draft *draft);
bool playbook_add_fields(struct reading *in, struct draft *draft, size_t index);
bool playbook_add_node(struct reading *in, struct draft *draft, size_t index);
bool playbook_goes_first(struct reading *in, struct draft *draft);

/* collection_fields.c: `collections` and `sources` of all graphs, once their nodes are read. */
void collection_fields_find(struct reading *in);

/* read_log.c: "log" and "log_near" of a graph. */
bool log_read(struct reading *in, struct draft *draft);

/* read_parameters.c */
bool parameters_read(struct reading *in, struct node *node, const cJSON *item);
/* Have the fields that the parameters name the types that the kind takes? */
bool parameters_check(const struct node *node, struct status *st);
const char *prompt_find(const struct agent *agent, const char *language, const char *name);

/* check_prompts.c: each name in a prompt is an input of its node. */
bool prompts_check(struct reading *in, const struct node *node, const cJSON *item);

/* check_ways.c: reached nodes, cycles, joins. */
bool ways_check(struct reading *in, const struct draft *draft);
/* Every node that this node may lead to: next gives NULL at the end. */
struct ways {
    const struct node *node;
    size_t edge, at;
    bool beyond; /* only its targets when its visits are used up */
};
struct ways ways_of(const struct node *node);
const struct node *ways_next(struct ways *ways);
/* Checks that no graph contains itself or too many levels, and that each is used. */
bool nesting_check(struct reading *in);
/* The sub-graph that a node runs; NULL: no sub-graph. */
const struct graph *node_sub_graph(const struct node *node);

#endif
