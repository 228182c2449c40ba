/* Private to the orchestrator: the progress of a run, built anew in another version of its agent: state by fields,
 * activated nodes by their names with their progress, and likewise within each graph under way. The thread does not
 * change; the result belongs to the caller until it is dropped. The same log always gives the same result, so a record
 * with the new version of a run is enough. */
#ifndef RENGA_ORCHESTRATOR_STATE_MIGRATION_H
#define RENGA_ORCHESTRATOR_STATE_MIGRATION_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>

struct agent;
struct frame;
struct memory;
struct thread;

struct state_migration {
    /* Set by the caller. */
    struct thread *thread;
    struct agent *agent; /* the new version */
    const Renga__V1__RunMigrated *wish;
    void (*problem)(const char *text, void *data); /* a misfit, with its node and the path of it */
    void *data;

    /* The result. */
    struct frame *root;
    struct memory *memories;
    bool fits; /* no problem was told */

    const struct frame *at; /* private: whose state is being moved */
};

void state_migration_build(struct state_migration *migration);
/* Only the state and the memories of sub-graphs: it has no activations. */
void state_migration_move_fields(struct state_migration *migration);
void state_migration_drop(struct state_migration *migration);
void memories_drop(struct memory **memories);

#endif
