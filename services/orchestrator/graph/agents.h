/* The agents of this process: folders with a graph.json and prompts/, loaded, checked, reloaded, kept by version. A
 * process has a single set, shared by its loops; agents are counted, so that a run keeps its version however often
 * documents change. Documents that runs are pinned to are kept in the store by their hash (the caller's business:
 * agent_bundle).
 */
#ifndef RENGA_ORCHESTRATOR_AGENTS_H
#define RENGA_ORCHESTRATOR_AGENTS_H

#include "graph.h"

#include "base/arena.h"
#include "base/buffer.h"

#include <stdatomic.h>

#define AGENTS_MAX        1000                /* as ListAgents shows them */
#define AGENT_GRAPHS_MAX  64                  /* its own included, as DescribeAgent shows them */
#define AGENT_NESTING_MAX 12                  /* sub-graphs within each other: NodePosition.path has 1,024 bytes */
#define AGENT_FILE_MAX    ((size_t)1 << 20)   /* bytes of graph.json, and of a prompt */
#define AGENT_BUNDLE_MAX  ((size_t)3 << 20)   /* bytes of all together: it is kept as a single value */
#define AGENT_PROMPTS_MAX 1000                /* files */
#define AGENT_FAULTS_MAX  100                 /* shown of an agent */
#define MERMAID_BYTES_MAX ((size_t)256 << 10) /* as GraphDescription.mermaid */

struct agents;

struct prompt {
    const char *language, *name, *text;
    size_t size;
    bool added; /* by an operator, beside the agent's own */
};

struct agent {
    const char *name, *description;
    char version[65]; /* SHA-256 of its bundle, in hexadecimal */
    int64_t loaded_ms;
    const struct graph *graph;         /* its own */
    const struct graph *const *graphs; /* all, its own first */
    size_t graph_count;
    const char *bundle_json; /* graph.json and every prompt in a single JSON text; the version is its hash */
    size_t bundle_size;
    const struct prompt *prompts; /* by language, then by name */
    size_t prompt_count;

    /* Private to the room. */
    bool lenient; /* a prompt of a value may use an unknown name: filling it fails */
    struct arena arena;
    atomic_uint holders;
    struct agent *next;
};

/* A fault of a document: a line for each, as ListAgents shows it. */
struct agent_problem {
    const char *agent, *file; /* the folder's name; the file within it */
    int line, column;         /* 0: the whole file */
    const char *message;      /* without them */
    const struct agent_problem *next;
};

struct shipped_file; /* shipped.h */

/* `prompts`, which may be NULL, is a folder with AGENT/LANGUAGE/NAME.md: prompts that are added to those of an agent,
 * or take the place of one. They are part of its version. Loads every sub-folder of the folders that has a graph.json;
 * of two with the same name, the later folder's. Faulty agents become problems, and are logged; others still load.
 * Faulty prompts of `prompts` are problems, too: an agent that is loaded stays as it was, and another one does with the
 * good ones.
 * Fails only if memory is out. `shipped` is a table (shipped.h), or NULL: its agents are loaded if no folder has an
 * agent of the same name. */
struct agents *agents_create(const struct shipped_file *shipped, const char *const *folders, size_t count,
                             const char *prompts, struct status *st);
void agents_destroy(struct agents **agents);
/* Reads all agents again (SIGHUP). A faulty document leaves the agent as it was. Any thread. */
void agents_reload(struct agents *agents);

/* The current version of a name, or the version of a hash that is in memory; held. NULL with NOT_FOUND that suggests
 * the nearest name. Any thread. */
struct agent *agents_find(struct agents *agents, const char *name, const char *version, struct status *st);
/* A graph of the agent, by name; NULL if there is no graph of this name. */
const struct graph *agent_graph(const struct agent *agent, const char *name);
void agent_hold(struct agent *agent);
void agent_release(struct agents *agents, struct agent *agent);

/* An agent from a bundle that was kept; held. Its version is the hash of the bundle. */
struct agent *agents_of_bundle(struct agents *agents, const char *bundle, size_t size, struct status *st);

/* Calls `each` for all current agents by name, and `problem` for the problems. Both run under the lock and must not
 * wait; either may be NULL. */
void agents_each(struct agents *agents, void (*each)(const struct agent *agent, void *data),
                 void (*problem)(const struct agent_problem *problem, void *data), void *data);

/* ---- for DescribeAgent ------------------------------------------------------------------------------------------- */

void graph_write_mermaid(const struct graph *graph, struct buffer *out);
void graph_write_state_schema(const struct graph *graph, struct buffer *out);
void graph_write_input_schema(const struct graph *graph, struct buffer *out);
void graph_write_output_schema(const struct graph *graph, struct buffer *out);
/* The values that a field takes; {} if it takes any. */
void field_write_schema(const struct field *field, struct buffer *out);
/* JSON Schema of the document itself, from the table of node kinds. */
void graph_write_document_schema(struct buffer *out);

/* The text of the prompt NAME.VALUE, else of NAME.default, else of NAME: of the first two the text in this language, in
 * English, or in any; of the last as agent_prompt. A value is compared with names alone, so it never names a file. NULL
 * if it is missing. `chosen` gets the name of the prompt; it lives as long as the agent. */
const char *agent_prompt_of(const struct agent *agent, const char *name, const char *value, const char *language,
                            const char **chosen);

/* The text of a prompt of the agent ("answer", language "ja"), falling back to English; NULL if it is missing. */
const char *agent_prompt(const struct agent *agent, const char *name, const char *language);

#endif
