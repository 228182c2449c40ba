/* Private to the orchestrator: the calls from lower rooms to higher ones. runtime/runner.c has the only table, and each
 * row of it names the function that is called. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_THREAD_HOOKS_H
#define RENGA_ORCHESTRATOR_THREAD_HOOKS_H

struct frame;
struct thread;
struct work;

struct thread_hooks {
    void (*go)(struct work *work);              /* the turn of a thread in its loop: thread->go */
    void (*thread_left)(struct thread *thread); /* its content is about to leave memory */
    void (*frame_left)(struct frame *frame);    /* likewise a graph within, whose span is open */
};

#endif
