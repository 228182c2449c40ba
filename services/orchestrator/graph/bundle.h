/* An agent on its way into memory: from its folder, or from the single text that is kept of it. */
#ifndef RENGA_ORCHESTRATOR_BUNDLE_H
#define RENGA_ORCHESTRATOR_BUNDLE_H

#include "problems.h"

struct shipped_file;

/* NULL if memory is out. Held once. */
struct agent *agent_create(void);
void agent_destroy(struct agent **agent);

/* A prompt for the agent that is being made, from prompts/LANGUAGE/NAME.md; `file` for problems. Not sorted. */
struct prompt_source {
    const char *language, *name, *file;
    const char *text;
    size_t size;
    bool added; /* by an operator: it may take the place of one of the agent's own */
};
bool prompt_add(struct agent *agent, const struct prompt_source *source, const char *folder, struct problems *problems);

/* The agent of a text of graph.json, with the prompts that were added: its bundle and version too. Takes the agent.
 * NULL if it is faulty, with its faults in `problems`. */
struct agent *agent_of_text(struct agent *agent, const char *text, size_t size, const char *folder,
                            struct problems *problems);
/* The files of an agent: path/graph.json, path/prompts/, and the prompts of added/NAME/. */
struct agent_place {
    const char *path;                   /* NULL: it is in the table (shipped.h) */
    const struct shipped_file *shipped; /* may be NULL with a path */
    const char *name, *added;           /* added: NULL without added prompts */
    bool is_loaded;
};
/* A faulty prompt of added/NAME/ refuses an agent that is loaded. Another agent is read without the prompts that cannot
 * be read; a prompt of a value with a faulty name in braces stays, and filling it fails with that name. */
struct agent *agent_of_place(const struct agent_place *place, struct problems *problems);
/* The agent of a bundle; its version is the hash of the bundle. */
struct agent *agent_of_bundle(const char *bundle, size_t size, struct problems *problems);

/* SHA-256 in hexadecimal, with its NUL. */
void bundle_version(const char *bundle, size_t size, char version[65]);

#endif
