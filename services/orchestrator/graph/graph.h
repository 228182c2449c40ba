/* A graph as it was loaded and checked: fields, nodes, edges. Constant, and shared by the loops of the process. It
 * belongs to its agent (agents.h), which is counted: a run of the graph holds the agent.
 *
 * The document, by example (graph/README.md has every key):
 *
 *   { "agent": "helpdesk", "description": "…",
 *     "state": { "question": {"type": "string"},
 *                "plan": {"type": "string[]"},
 *                "results": {"type": "object[]", "reduce": "append"},
 *                "tries": {"type": "integer", "reduce": "sum", "initial": 0},
 *                "mood": {"type": "string", "values": ["good", "bad"]} },
 *     "input": ["question"], "output": ["answer"],          // which fields; all by default
 *     "start": "create_plan",                               // or a list
 *     "nodes": {
 *       "create_plan": {"kind": "remote", "address": "127.0.0.1:9000", "inputs": ["question"], "on": {"done": "work"}},
 *       "work": {"kind": "each", "of": "plan", "as": "subtask", "graph": "sub", "into": "results",
 *                "on": {"done": ["a", "b"]}},
 *       "both": {"kind": "noop", "join": ["a", "b"], "on": {"done": "end"}},  // once, when all of them have come
 *       "last": {"kind": "noop", "defer": true} },                            // when no other node is due
 *     "mode": "supersteps" | "dataflow", "recursion_limit": 100, "max_concurrency": 16, "timeout": "10m",
 *     "idle_timeout": "60s", "budget": {…}, "fail_fast": true, "error_node": "sorry", "error_into": "failures",
 * "error_codes": ["UNAVAILABLE"], "atomic": true, "memory": "fresh" | "thread", "interrupt_before": ["…"],
 * "interrupt_after": ["…"], "graphs": { "sub": {… the same …} } }
 *
 * On a node: "inputs" (fields it gets; all by default), "retry" {"attempts", "base", "max", "codes"}, "timeout",
 * "idle_timeout", "visits" {"max", "then"}, "cache" {"ttl"}, "defer", "join", "may_reach" (nodes that it sends to).
 * "end" ends the graph, as does a node without "on". */
#ifndef RENGA_ORCHESTRATOR_GRAPH_H
#define RENGA_ORCHESTRATOR_GRAPH_H

#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_FIELDS_MAX 1000
#define GRAPH_NODES_MAX  1000
#define GRAPH_NAME_MAX   64 /* bytes of a name */

struct node_kind;
struct json_schema;

enum field_type { FIELD_STRING, FIELD_INTEGER, FIELD_NUMBER, FIELD_BOOLEAN, FIELD_OBJECT, FIELD_ANY };
enum reducer { REDUCE_REPLACE, REDUCE_APPEND, REDUCE_MERGE, REDUCE_MESSAGES, REDUCE_SUM, REDUCE_MAX };

struct field {
    const char *name;
    size_t index;
    enum field_type type;
    bool list; /* of them: "string[]" */
    enum reducer reducer;
    const char *initial_json;  /* NULL: it is not there at first (lists begin empty, sums with 0) */
    const char *const *values; /* that a string may have; NULL: any */
    size_t value_count;
    uint32_t keep;           /* of a list that appends: only so many of its newest items stay; 0: all */
    uint32_t keep_bytes;     /* only so many bytes of them, and the newest in any case; 0: all */
    const char *description; /* NULL: no description */
};

/* The targets of an outcome. `node_count` 0 is the end of the graph. */
struct edge {
    const char *outcome;
    const struct node **nodes;
    size_t node_count;
};

struct node_retry {
    unsigned attempts; /* the first included */
    int64_t base_ms, max_ms;
    int64_t longest_hint_ms; /* a service that asks for a longer rest ends the attempts; 0: no limit */
    uint32_t codes;          /* a bit for each status code that is retried */
};

struct node {
    const char *name;
    size_t index;
    const struct graph *graph;
    const struct node_kind *kind; /* node_kind.h */
    const void *parameters;       /* as the kind has read them */
    const void *prepared;         /* that the kind has made of them; or NULL */
    const struct field **inputs;
    size_t input_count;
    struct edge *edges;
    size_t edge_count;
    const struct node **join; /* it is due once, when all of these have led to it; NULL: with each edge */
    size_t join_count;
    const struct node **may_reach; /* beside its edges: by a send, or, of a sub-graph, by a jump out of it */
    size_t may_reach_count;
    bool defer;
    struct node_retry retry;
    int64_t timeout_ms, idle_timeout_ms; /* 0: no timeout */
    unsigned visits_max;                 /* 0: no limit */
    const struct field *template_of;     /* the input that selects the prompt; NULL: fixed */
    const struct edge *visits_then;      /* its targets beyond them; NULL: the run fails */
    int64_t cache_ttl_ms;                /* 0: no cache */
    int line;                            /* of the document */
};

struct graph_budget {
    int64_t model_calls, tokens, tool_calls, duration_ms, cost_micros; /* -1: no limit */
    int then;                                                          /* enum graph_budget_then */
};
/* When the budget is spent: the run ends, or nodes that call other services fail and the graph goes on without them. */
enum graph_budget_then { BUDGET_THEN_END, BUDGET_THEN_FAIL };

/* A count that comes near its limit: a warning is logged when it is 1 below. */
struct graph_near {
    const struct field *value, *limit; /* integers; limit NULL: `most` */
    int64_t most;
};

struct graph {
    const char *name; /* of a sub-graph; the agent's own has the agent's */
    struct agent *agent;
    const struct field *fields;
    size_t field_count;
    const struct node *nodes;
    size_t node_count;
    struct edge start;
    const struct field **input, **output;
    size_t input_count, output_count;
    bool atomic; /* a run that fails or is cancelled leaves the thread as it was; only of the agent's own graph */
    bool dataflow, fail_fast, persistent; /* persistent: a sub-graph that remembers, per thread */
    bool recursion_limited;               /* the document itself gives recursion_limit */
    const struct node *error_node;        /* NULL: no error node */
    const struct field *error_into;       /* gets the failures before the error node runs; NULL: no field */
    uint32_t error_codes;                 /* a bit for each status code that the error node takes over */
    const struct node **interrupt_before, **interrupt_after;
    size_t interrupt_before_count, interrupt_after_count;
    unsigned recursion_limit, max_concurrency;
    int64_t timeout_ms, idle_timeout_ms;
    struct graph_budget budget;
    bool is_logged;              /* the document has "log": its nodes are logged at INFO */
    const struct field **logged; /* shown in the line of each node */
    size_t logged_count;
    const struct graph_near *near; /* fields that are logged when they come near a limit */
    size_t near_count;
    const struct field *playbook; /* of an agent with the option "playbook": the lessons that {playbook} stands for */
    const struct field *collections; /* the names of collections that its searches look in, and of the sources that */
    const struct field *sources;     /* these ask; NULL: none */
    const char *document_json;       /* as it was read, without comments */

    /* Private to the room. */
    const struct field **all_fields;
    const struct field **fields_by_name; /* sorted */
    const struct node **nodes_by_name;
};

/* NULL if the graph does not have it. */
const struct field *graph_field(const struct graph *graph, const char *name);
const struct node *graph_node(const struct graph *graph, const char *name);
/* The edge of an outcome ("" is "done"); NULL if the node has no edge of that name. */
const struct edge *node_edge(const struct node *node, const char *outcome);

/* The name that was perhaps meant; NULL: no name is near. */
const char *graph_field_nearest(const struct graph *graph, const char *name);
/* The same as graph_field, but NULL fails with NOT_FOUND that suggests the nearest name. */
const struct field *graph_field_wanted(const struct graph *graph, const char *name, struct status *st);

/* Whether the field may have this value. INVALID_ARGUMENT tells the given and the right value, without the field's
 * name: "must be a list of strings, not a number". */
bool field_fits(const struct field *field, const cJSON *value, struct status *st);
/* The same for an item of a list field. */
bool field_item_fits(const struct field *field, const cJSON *item, struct status *st);
/* Whether the field's "values" have the string; true for a field without "values". */
bool field_allows(const struct field *field, const char *text);
/* "a list of strings" */
const char *field_type_words(enum field_type type, bool list);

#endif
