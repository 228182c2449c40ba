/* A record that moves a run to another version of its agent. */
#include "apply.h"
#include "frame.h"
#include "graph/agents.h"
#include "memory.h"
#include "run.h"
#include "shard.h"
#include "state_migration.h"
#include "thread.h"

static void apply_note_problem(const char *text, void *data)
{
    struct status *st = data;
    if (st->code == OK)
        fail(st, FAILED_PRECONDITION, "%s", text);
}

static void apply_pin_version(struct run *run, struct agent *agent)
{
    if (run->agent)
        agent_release(run->thread->shard->runner->options.agents, run->agent);
    run->agent = agent;
    run->migrated = true;
    run->begun->graph_version = xnonnull(arena_strdup(&run->arena, agent->version));
}

/* No node of it is at work: activations that are left in its queues were taken back. */
static void apply_clear_queues(struct run *run)
{
    run->ready_first = run->ready_last = NULL;
    run->openers_first = run->openers_last = NULL;
}

static bool apply_migrated_thread(struct run *run, struct agent *agent, const Renga__V1__RunMigrated *migrated,
                                  struct status *st)
{
    struct thread *thread = run->thread;
    struct state_migration migration = {
        .thread = thread, .agent = agent, .wish = migrated, .problem = apply_note_problem, .data = st};
    state_migration_build(&migration);
    if (!migration.fits) {
        state_migration_drop(&migration);
        return false;
    }
    apply_clear_queues(run);
    frame_destroy(&thread->root);
    memories_drop(&thread->memories);
    thread->root = migration.root;
    thread->memories = migration.memories;
    thread_take_agent(thread, agent);
    return true;
}

bool apply_migrated(struct run *run, const Renga__V1__RunMigrated *migrated, uint64_t number, int64_t now_ms,
                    struct status *st)
{
    struct thread *thread = run ? run->thread : NULL;
    struct agent *agent = run ? thread_agent_for(thread, migrated->graph_version) : NULL;
    if (!agent)
        return fail(st, NOT_FOUND, "the version %s of an agent is not there any more", migrated->graph_version);
    if (!migrated->queued &&
        (run != thread->run || !thread->root || !apply_migrated_thread(run, agent, migrated, st))) {
        agent_release(thread->shard->runner->options.agents, agent);
        return st->code == OK ? fail(st, DATA_LOSS, "run %s was moved, and is not the last of its thread", run->id)
                              : false;
    }
    apply_pin_version(run, agent);
    if (!migrated->queued)
        thread->head = run->checkpoint = number;
    run->updated_ms = now_ms;
    return true;
}
