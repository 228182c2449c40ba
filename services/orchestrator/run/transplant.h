/* Private to run/: where a run stands, built anew in another version of its agent: state by fields, due nodes by their
 * names with what they have come to, and so within each graph that is under way. Nothing of the thread changes; what
 * is built belongs to the caller until it is dropped. The same log always gives the same, so a record that says to
 * what version a run was moved is enough. */
#ifndef RENGA_ORCHESTRATOR_TRANSPLANT_H
#define RENGA_ORCHESTRATOR_TRANSPLANT_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>

struct agent;
struct frame;
struct memory;
struct thread;

struct transplant {
    /* Set by the caller. */
    struct thread *thread;
    struct agent *agent; /* the new version */
    const Renga__V1__RunMigrated *wish;
    void (*problem)(const char *text, void *data); /* what does not fit, each with its node and where that is */
    void *data;

    /* What was built. */
    struct frame *root;
    struct memory *memories;
    bool fits; /* no problem was told */

    const struct frame *at; /* private: whose state is being moved */
};

void transplant_build(struct transplant *transplant);
/* Only the state and what sub-graphs remember: nothing is due in it. */
void transplant_state(struct transplant *transplant);
void transplant_drop(struct transplant *transplant);
void memories_drop(struct memory **memories);

#endif
