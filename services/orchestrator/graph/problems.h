/* Faults of documents, collected while they are read: a single arena for a whole load. */
#ifndef RENGA_ORCHESTRATOR_PROBLEMS_H
#define RENGA_ORCHESTRATOR_PROBLEMS_H

#include "agents.h"

#define PROBLEMS_MAX 1000 /* as ListAgents shows them */

struct problems {
    struct arena arena;
    struct agent_problem *first, *last;
    size_t count;
};

/* NULL if memory is out. */
struct problems *problems_create(void);
void problems_destroy(struct problems **problems);

/* Copies the problem; a problem that is there already is dropped, and so is one beyond PROBLEMS_MAX. */
void problems_add(struct problems *problems, const struct agent_problem *problem);

/* A line each, with the agent's folder. */
void problems_log(const struct problems *problems);

#endif
