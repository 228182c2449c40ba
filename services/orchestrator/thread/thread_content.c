/* A thread and its content: its runs and states, the agent's version, how long it is kept. */
#include "frame.h"
#include "graph/agents.h"
#include "live_event.h"
#include "log/ids.h"
#include "memory.h"
#include "run.h"
#include "shard.h"
#include "state_migration.h"
#include "thread.h"
#include "thread_hooks.h"

#include "base/status.h"

#include <assert.h>
#include <stdlib.h>

struct thread *thread_new(struct shard *shard, const char *tenant, const char *id)
{
    struct thread *thread = xnonnull(calloc(1, sizeof *thread));
    atomic_fetch_add(&shard->runner->holders, 1);
    thread->shard = shard;
    thread->tenant = xnonnull(strdup(tenant));
    thread->id = xnonnull(strdup(id));
    thread->place = id_of_place(tenant, id);
    thread->go.run = shard->runner->hooks->go;
    return thread;
}

void thread_drop_content(struct thread *thread)
{
    struct agents *agents = thread->shard->runner->options.agents;
    thread->shard->runner->hooks->thread_left(thread);
    if (thread->run)
        thread->run->dirty = thread->run->to_begin = NULL;
    frame_destroy(&thread->root);
    live_drop(thread);
    if (thread->run)
        run_free(thread->run);
    for (struct run *run = thread->queue, *next; run; run = next) {
        next = run->next;
        run_free(run);
    }
    memories_drop(&thread->memories);
    if (thread->agent)
        agent_release(agents, thread->agent);
    if (thread->retention)
        renga__v1__retention__free_unpacked(thread->retention, NULL);
    thread->run = thread->queue = NULL;
    thread->agent = NULL;
    thread->retention = NULL;
}

void thread_free(struct thread *thread)
{
    loop_undefer(thread->shard->loop, &thread->go);
    owner_clear(thread);
    thread_drop_content(thread);
    free(thread->crashes.record);
    free(thread->tenant);
    free(thread->id);
    runner_release(thread->shard->runner);
    free(thread);
}

void thread_set_retention(struct thread *thread, const Renga__V1__Retention *retention)
{
    size_t size = renga__v1__retention__get_packed_size(retention);
    uint8_t *bytes = xnonnull(malloc(size + 1));
    renga__v1__retention__pack(retention, bytes);
    if (thread->retention)
        renga__v1__retention__free_unpacked(thread->retention, NULL);
    thread->retention = renga__v1__retention__unpack(NULL, size, bytes);
    free(bytes);
}

void thread_take_agent(struct thread *thread, struct agent *agent)
{
    if (thread->agent == agent)
        return;
    agent_hold(agent);
    if (thread->agent)
        agent_release(thread->shard->runner->options.agents, thread->agent);
    thread->agent = agent;
}

struct agent *thread_agent_for(struct thread *thread, const char *version)
{
    struct status ignored = {0};
    return agents_find(thread->shard->runner->options.agents, NULL, version, &ignored);
}

void thread_unqueue(struct thread *thread, struct run *run)
{
    struct run **link = &thread->queue;
    while (*link && *link != run)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = run->next;
    run_free(run);
}

struct run *thread_find_run(const struct thread *thread, const char *run_id)
{
    assert(run_id);
    if (thread->run && strcmp(thread->run->id, run_id) == 0)
        return thread->run;
    for (struct run *run = thread->queue; run; run = run->next)
        if (strcmp(run->id, run_id) == 0)
            return run;
    return NULL;
}

bool thread_busy(const struct thread *thread)
{
    return run_is_open(thread->run) || thread->queue;
}

void thread_adopt(struct thread *thread, struct thread *from)
{
    frame_destroy(&thread->root);
    memories_drop(&thread->memories);
    thread->root = from->root;
    thread->memories = from->memories;
    from->root = NULL;
    from->memories = NULL;
    if (thread->root)
        thread->root->thread = thread;
    if (from->agent)
        thread_take_agent(thread, from->agent);
    thread_free(from);
}

bool thread_rolls_back(const struct thread *thread)
{
    const struct run *last = thread->run;
    return last && thread->head == last->checkpoint &&
           (last->undone || (last->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED &&
                             last->reason == RENGA__V1__STOP_REASON__STOP_REASON_ROLLED_BACK));
}

uint64_t thread_state_checkpoint(const struct thread *thread)
{
    return thread_rolls_back(thread) && thread->run->undone ? thread->run->began_on : thread->head;
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

static bool thread_is_quiet(const struct thread *thread)
{
    return !thread->holds && !thread->first_request && !thread->held && !thread->filling && !thread->flying &&
           !thread->loader && !thread->subscriptions && !thread->go.queued && !run_is_open(thread->run) &&
           !thread->queue && !(thread->run && (thread->run->waiters || thread->run->quiet_waiters));
}

void thread_settle(struct thread *thread)
{
    if (thread->phase == THREAD_BROKEN && !thread->holds && !thread->filling && !thread->flying && !thread->loader &&
        !thread->subscriptions) {
        thread_free(thread);
        return;
    }
    if (thread->phase != THREAD_READY || thread->idle || !thread_is_quiet(thread))
        return;
    if (thread->exists) {
        shard_idle_thread(thread);
        return;
    }
    shard_remove_thread(thread);
    thread_free(thread);
}
