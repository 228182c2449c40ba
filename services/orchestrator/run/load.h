/* Private to run/: a thread from its log, up to a record (0: all). In its owner, which is told once, later. */
#ifndef RENGA_ORCHESTRATOR_LOAD_H
#define RENGA_ORCHESTRATOR_LOAD_H

#include "base/arena.h"
#include "store/store.h"

#include "renga/v1/log.pb-c.h"

struct agent;
struct thread;

struct loader {
    struct thread *thread;
    uint64_t upto;
    void (*loaded)(struct loader *loader);
    void *owner;
    struct status status; /* OK, also where there is nothing: then the thread does not exist */

    /* Private. */
    struct store_scan scan, bundle;
    struct arena arena;
    uint64_t from;
    size_t row, wanted;
    uint64_t stands_for; /* the record whose parent the thread stands at */
    const Renga__V1__ThreadSnapshot *snapshot;
    char missing[72]; /* the version that was asked for last */
    struct agent *held[8];
    size_t held_count;
};
void loader_start(struct loader *loader);

#endif
