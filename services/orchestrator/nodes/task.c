#include "task.h"

#include "base/clock.h"
#include "proto/usage.h"

#include <assert.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

void task_init(struct task *task, const struct task_owner *owner, void *data)
{
    memset(task, 0, offsetof(struct task, storage));
    task->owner = owner;
    task->data = data;
    task->tenant = task->client = task->reason = "";
    renga__v1__usage__init(&task->spent);
    task->deadline_ns = TIME_NEVER;
    arena_init(&task->arena, task->storage, sizeof task->storage, TASK_MEMORY_MAX);
}

void task_fini(struct task *task)
{
    arena_fini(&task->arena);
}

void task_start(struct task *task)
{
    memset(task->data, 0, task->node->kind->size);
    task->node->kind->start(task);
}

void task_cancel(struct task *task)
{
    if (task->node->kind->cancel)
        task->node->kind->cancel(task);
}

/* ---- parts of a task --------------------------------------------------------------------------------------------- */

const struct node *task_node(const struct task *task)
{
    return task->node;
}

struct loop *task_loop(const struct task *task)
{
    return task->loop;
}

struct arena *task_arena(struct task *task)
{
    return &task->arena;
}

void *task_data(struct task *task)
{
    return task->data;
}

const Renga__V1__RunNodeRequest *task_request(struct task *task)
{
    if (!task->request)
        task->request = task->owner->request(task);
    return task->request;
}

int64_t task_deadline_ns(const struct task *task)
{
    return task->deadline_ns;
}

const struct trace_context *task_trace(const struct task *task)
{
    return &task->trace;
}

const char *task_tenant(const struct task *task)
{
    return task->tenant;
}

const char *task_client(const struct task *task)
{
    return task->client;
}

const struct node_services *task_services(const struct task *task)
{
    return task->services;
}

/* ---- events of a task -------------------------------------------------------------------------------------------- */

void task_finish(struct task *task, const Renga__V1__RunNodeResponse *response)
{
    task->owner->finished(task, response);
}

void task_fail(struct task *task, const struct status *status)
{
    task->owner->failed(task, status);
}

void task_fail_with(struct task *task, const struct status *status, const char *reason)
{
    assert(!task->node->kind->travels);
    task->reason = reason;
    task_fail(task, status);
}

void task_spend(struct task *task, const Renga__V1__Usage *usage)
{
    usage_add(&task->spent, usage);
}

void task_progress(struct task *task, const char *json)
{
    task->owner->progress(task, json);
}

void task_token(struct task *task, const char *text, const char *channel)
{
    task->owner->token(task, text, channel);
}

void task_alive(struct task *task)
{
    task->owner->alive(task);
}
