/* An agent on its way into memory: from its folder, or from the single text that is kept of it. */
#ifndef RENGA_ORCHESTRATOR_BUNDLE_H
#define RENGA_ORCHESTRATOR_BUNDLE_H

#include "problems.h"

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
/* The agent of path/graph.json and path/prompts/, with the prompts of added/FOLDER/; `added` may be NULL. */
struct agent *agent_of_folder(const char *path, const char *folder, const char *added, struct problems *problems);
/* The agent of its files in a table (shipped.h). */
struct shipped_file;
struct agent *agent_of_shipped(const struct shipped_file *files, const char *name, const char *added,
                               struct problems *problems);
/* The agent of a bundle; its version is the hash of the bundle. */
struct agent *agent_of_bundle(const char *bundle, size_t size, struct problems *problems);

/* SHA-256 in hexadecimal, with its NUL. */
void bundle_version(const char *bundle, size_t size, char version[65]);

#endif
