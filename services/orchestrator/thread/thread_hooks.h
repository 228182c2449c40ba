/* Private to the orchestrator: the calls from lower rooms to higher ones. runtime/runner.c has the only table, and each
 * row of it names the function that is called. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_THREAD_HOOKS_H
#define RENGA_ORCHESTRATOR_THREAD_HOOKS_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct request;
struct run;
struct status;
struct thread;
struct work;

struct thread_hooks {
    void (*go)(struct work *work);              /* the turn of a thread in its loop: thread->go */
    void (*thread_left)(struct thread *thread); /* its content is about to leave memory */
    void (*frame_left)(struct frame *frame);    /* likewise a graph within, whose span is open */

    /* The journal. `run` of the record; NULL: the record is about no run. */
    void (*recorded)(struct thread *thread, struct run *run, const Renga__V1__LogRecord *record, uint64_t number);
    void (*committed)(struct thread *thread); /* the records up to thread->committed are on disk */

    void (*broken)(struct thread *thread, const struct status *why); /* its rows cannot be read or written */
    void (*lost)(struct thread *thread);                             /* another orchestrator has it */

    /* Before a request is served. True: the thread has expired, and the request is ended, or is served later. */
    bool (*expired)(struct request *request, struct thread *thread);
};

#endif
