/* A task in the loop in which its node runs; node_kind.h has the functions for kinds. The owner of a task gets its
 * events and its end: the engine (engine/attempt_end.c) for an attempt in the run's loop, the fan-out (fanout/worker.c)
 * for an attempt in another loop. Kinds see no difference.
 *
 *      task_init, the owner's fields ---> task_start ---> kind->start ... task_finish or task_fail ---> finished or
 * failed
 *
 * It ends once, perhaps within task_start; the owner frees it after task_fini. All from inside its loop. */
#ifndef RENGA_ORCHESTRATOR_TASK_H
#define RENGA_ORCHESTRATOR_TASK_H

#include "graph/node_kind.h"

#include "base/trace.h"

#define TASK_STORAGE    1024 /* bytes of its arena that need no heap */
#define TASK_MEMORY_MAX ((size_t)64 << 20)

struct task_owner {
    const Renga__V1__RunNodeRequest *(*request)(struct task *task); /* made when it is first asked for */
    void (*finished)(struct task *task, const Renga__V1__RunNodeResponse *response);
    void (*failed)(struct task *task, const struct status *status); /* task->spent is its usage */
    void (*progress)(struct task *task, const char *json);
    void (*token)(struct task *task, const char *text, const char *channel);
    void (*alive)(struct task *task);
};

struct task {
    /* The owner's. */
    const struct task_owner *owner;
    const struct node *node;
    struct loop *loop;
    const struct node_services *services; /* NULL in tests */
    const char *tenant, *client;          /* of the run: its tenant, and the client that asked for it */
    int64_t deadline_ns;                  /* TIME_NEVER: no deadline */
    struct trace_context trace;

    /* The task's own. */
    const Renga__V1__RunNodeRequest *request; /* NULL: not asked for yet */
    void *data;
    Renga__V1__Usage spent; /* by an attempt that fails */
    const char *reason;     /* of an attempt that fails: the cause as a constant; "": no cause */
    struct arena arena;
    _Alignas(16) char storage[TASK_STORAGE];
};

/* Zeroes it; `data` is kind->size bytes, aligned for any type, and may also be set later, until task_start. */
void task_init(struct task *task, const struct task_owner *owner, void *data);
void task_fini(struct task *task);

void task_start(struct task *task);
void task_cancel(struct task *task); /* its result is ignored; it must still end */

#endif
