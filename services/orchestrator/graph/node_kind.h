/* A kind of node: the meaning of "kind" in a graph document. Each kind is a file with a const entry, and a row in
 * kinds.c.
 *
 *      the engine: task_start ---> kind->start ---> work, in the task's loop ---> task_finish or task_fail
 *                                                   '--- task_progress, task_token, on the way
 *
 * A task is a single attempt at a node (for a single branch, if several were sent there). It ends exactly once. After
 * kind->cancel its result is ignored, but it must still end, soon. All calls come from the task's loop: the loop of the
 * run, or another loop for a kind that travels. */
#ifndef RENGA_ORCHESTRATOR_NODE_KIND_H
#define RENGA_ORCHESTRATOR_NODE_KIND_H

#include "graph.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "config/config.h"

#include "renga/v1/node.pb-c.h"

struct loop;
struct node_services;
struct task;
struct trace_context;

/* The type of a parameter. The first ones name a field of the state, and the loader checks the field: one that the kind
 * reads must be among the node's inputs, and each must have the type in the name (a plural is a list of them). */
enum parameter_type {
    PARAMETER_FIELD, /* any field */
    READS_FIELD,     /* of any type */
    READS_STRING,
    READS_STRINGS,
    READS_OBJECT,
    READS_OBJECTS,
    READS_INTEGER,
    READS_BOOLEAN,
    WRITES_STRING,
    WRITES_STRINGS,
    WRITES_OBJECT,
    WRITES_OBJECTS,
    WRITES_INTEGER,
    WRITES_BOOLEAN,    /* the last one that names a field */
    PARAMETER_TEXT,    /* a string */
    PARAMETER_GRAPH,   /* the name of a sub-graph */
    PARAMETER_PROMPT,  /* the name of a prompt */
    PARAMETER_ADDRESS, /* "host:port" */
    PARAMETER_INTEGER,
    PARAMETER_DURATION,
    PARAMETER_BOOLEAN,
    PARAMETER_JSON, /* any value */
};

/* A key of a node of this kind, beside the keys that all nodes have. */
struct node_parameter {
    const char *name;
    enum parameter_type type;
    enum { OPTIONAL, REQUIRED } need;
    const char *help;
};

/* A parameter as it was read, by the kind's row; a parameter that is not given is zero. */
union node_argument {
    const char *text; /* TEXT, PROMPT, ADDRESS; of JSON the text */
    const struct field *field;
    const struct graph *graph;
    int64_t number; /* INTEGER; milliseconds */
    bool flag;
};

struct node_kind {
    const char *name, *help;
    const struct node_parameter *parameters; /* ends with a NULL name; node->parameters is an array of node_argument */
    const char *const *outcomes;             /* ends with NULL; NULL: all that the document has edges for */
    bool names_outcomes;                     /* edges for others may stand beside them; `prepare` checks their names */
    /* Checks beyond the table; may be NULL. Runs when all graphs of the document are read. A fault in a parameter fails
     * with fail_field and the parameter's name: the loader adds its place in the document. */
    bool (*check)(const struct node *node, struct status *st);
    /* Reads the node's parameters for all its tasks: node->prepared, in memory that lives as long as the
     * agent. Runs after `check` has passed; may be NULL. NULL fails as `check` does. */
    const void *(*prepare)(const struct node *node, struct arena *arena, struct status *st);

    /* Its prompts know its inputs, `pick` and {language} alone: the loader refuses other names. */
    bool names_inputs;

    size_t size; /* of the data of a task of this kind: task_data */
    void (*start)(struct task *task);
    void (*cancel)(struct task *task); /* may be NULL: it ends within start */
    /* Its attempts may run in another loop than their run does: useful if they wait for another process. */
    bool travels;
    bool unbilled; /* it asks neither a model nor a tool, so a spent budget does not refuse it */

    /* Bytes of the inputs that it can be sent; 0: it gets no inputs. An attempt with more fails before it begins. */
    size_t inputs_max;

    /* It asks the gateway, the planner or the reviewer once in an attempt: its requests to models count for the run's
     * budget of failed requests. */
    bool asks_models;
    /* The service that it asks has a fallback without a model, and a degradation says that it was used. */
    bool has_fallback;

    /* It has no effect outside of the process and no cost: it may begin before its run is on disk. */
    bool is_pure;

    /* It fails by the document's will: no error node of its graph takes over. */
    bool ends_graph;

    /* The engine itself runs these, since they are runs within the run: their start is NULL. */
    bool is_each, is_graph;
};

extern const struct node_kind *const node_kinds[]; /* NULL at the end (kinds.c) */
const struct node_kind *node_kind_find(const char *name);

/* The value that the document gives for a row of the kind's table. */
static inline const union node_argument *node_argument(const struct node *node, size_t row)
{
    return (const union node_argument *)node->parameters + row;
}

/* For `check` of a kind whose parameter takes fields of several types: is this one of the type? A row without a field
 * passes. */
bool field_type_check(const struct node *node, size_t row, enum field_type type, bool list, struct status *st);

/* ---- parts of a task --------------------------------------------------------------------------------------------- */

const struct node *task_node(const struct task *task);
struct loop *task_loop(const struct task *task);
struct arena *task_arena(struct task *task); /* of this attempt */
void *task_data(struct task *task);          /* zeroed, of kind->size */

/* The request that a remote node would get; its strings live as long as the task. state_json has the declared inputs,
 * or the value that was sent to the branch. */
const Renga__V1__RunNodeRequest *task_request(struct task *task);
/* On clock_now_ns; TIME_NEVER: no deadline. */
int64_t task_deadline_ns(const struct task *task);
const struct trace_context *task_trace(const struct task *task);
/* The tenant of the run; "" if there are no tenants. */
const char *task_tenant(const struct task *task);
/* The client that asked for the run, by the name of its key; "" if calls need no key. */
const char *task_client(const struct task *task);
/* The services of this process for nodes (peers, addresses); NULL in tests. */
const struct node_services *task_services(const struct task *task);

/* ---- how it ends ------------------------------------------------------------------------------------------------- */

/* Checked and copied: outcome, update, sends, interrupts, goto_parent, usage. A response that breaks the contract fails
 * the node with INVALID_ARGUMENT, and is not tried again. */
void task_finish(struct task *task, const Renga__V1__RunNodeResponse *response);
void task_fail(struct task *task, const struct status *status);
/* The same with the cause as a constant ("LOOP_LIMIT"), for programs; the text lives as long as the agent. For a kind
 * that does not travel. */
void task_fail_with(struct task *task, const struct status *status, const char *reason);
/* Adds to the usage of an attempt that is to fail: it counts against the budget, too. An attempt that finishes tells
 * its usage in its response. */
void task_spend(struct task *task, const Renga__V1__Usage *usage);

void task_progress(struct task *task, const char *json);
void task_token(struct task *task, const char *text, const char *channel);
void task_alive(struct task *task); /* a sign of life, for the idle timeout */

#endif
