/* The agents that come with the product stand in the binary, file by file, so that every installation has them. An
 * agent of the same name in the user's folders takes their place. */
#ifndef RENGA_ORCHESTRATOR_SHIPPED_H
#define RENGA_ORCHESTRATOR_SHIPPED_H

#include <stddef.h>

struct shipped_file {
    const char *agent; /* NULL ends the table */
    const char *path;  /* within the agent's folder */
    const char *text;
    size_t size;
};
extern const struct shipped_file shipped_files[];

#endif
