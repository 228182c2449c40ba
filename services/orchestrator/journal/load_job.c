/* The part of loading a thread that worker threads do: a long row is read, and the fields that it writes are made. */
#include "graph/agents.h"
#include "load.h"
#include "log/rows.h"
#include "state/state.h"
#include "thread/apply.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/status.h"
#include "loop/jobs.h"

#include <stdlib.h>

void load_drop_row(struct loader *loader)
{
    if (!loader->has_row)
        return;
    state_change_destroy(&loader->prepared.change);
    arena_fini(&loader->row_arena);
    loader->record = NULL;
    loader->has_row = loader->has_prepared = false;
}

void load_drop_reader(struct loader *loader)
{
    if (loader->reader)
        agent_release(loader->thread->shard->runner->options.agents, loader->reader);
    loader->reader = NULL;
}

static struct loader *load_of_job(struct job *job)
{
    return CONTAINER_OF(job, struct loader, job);
}

/* If no worker has room, the loop does the work. */
static void load_worked(struct job *job)
{
    struct loader *loader = load_of_job(job);
    if (loader->thread->shard->runner->closing) { /* the store may be gone */
        fail(&loader->status, UNAVAILABLE, "the server ends");
        load_end(loader);
        return;
    }
    if (job->status.code != OK)
        job->run(job);
    loader->worked(loader);
}

void load_work(struct loader *loader, void (*run)(struct job *job), void (*worked)(struct loader *loader))
{
    loader->worked = worked;
    loader->job = (struct job){.loop = loader->thread->shard->loop,
                               .run = run,
                               .ended = load_worked,
                               .owner = job_owner(loader->thread->tenant, NULL)};
    job_start(&loader->job, LOAD_INLINE_MAX);
}

void load_read_record(struct job *job)
{
    struct loader *loader = load_of_job(job);
    loader->record = row_read(&loader->row_arena, &renga__v1__log_record__descriptor, &loader->scan.rows[loader->row],
                              &loader->status);
}

void load_read_snapshot(struct job *job)
{
    struct loader *loader = load_of_job(job);
    loader->snapshot =
        row_read(&loader->arena, &renga__v1__thread_snapshot__descriptor, &loader->scan.rows[0], &loader->status);
}

void load_read_state(struct job *job)
{
    struct status ignored = {0}; /* the loop tells the damage */
    struct loader *loader = load_of_job(job);
    const Renga__V1__FrameSnapshot *root = loader->snapshot->root;
    loader->state = state_create(loader->reader->graph);
    if (!state_apply(loader->state, root->state.data, root->state.len, &ignored))
        state_destroy(&loader->state);
}

/* The rules for new changes may refuse a change of the log. Then the loop reads it, without these rules. */
void load_prepare(struct job *job)
{
    struct status ignored = {0};
    struct loader *loader = load_of_job(job);
    struct prepared_input *prepared = &loader->prepared;
    if (loader->input)
        apply_prepare_input(prepared, loader->input, &ignored);
    else
        prepared->change =
            apply_prepare_update(loader->thread->root, loader->record->update, prepared->record, &ignored);
}

/* The input of the run that goes to work with the record, and its graph; NULL: neither is known yet. */
static const char *load_find_input(struct loader *loader, const Record *record, const struct graph **graph)
{
    if (record->begun) {
        loader->reader = thread_agent_for(loader->thread, record->begun->graph_version);
        *graph = loader->reader ? loader->reader->graph : NULL;
        return *graph ? record->begun->request->input_json : NULL;
    }
    for (const struct run *run = loader->thread->queue; run; run = run->next)
        if (run->number == record->run && run->agent) {
            *graph = run->agent->graph;
            return run->request->input_json;
        }
    return NULL;
}

/* Whether a worker is to make the fields that the record writes. */
bool load_wants_prepared(struct loader *loader, const Record *record, uint64_t number)
{
    const struct frame *root = loader->thread->root;
    const struct graph *graph = NULL;
    loader->has_prepared = true;
    loader->input = NULL;
    if (record->parent || record->goes_back)
        return false;
    if (record->went_to_work) {
        load_drop_reader(loader);
        loader->input = load_find_input(loader, record, &graph);
        loader->prepared =
            (struct prepared_input){.run = record->run, .base = root ? root->state : NULL, .graph = graph};
        return loader->input && (!root || root->graph == graph) && strlen(loader->input) > LOAD_INLINE_MAX;
    }
    if (!record->update || !root || record->update->as_node > root->graph->node_count)
        return false;
    loader->prepared = (struct prepared_input){.record = number, .base = root->state, .graph = root->graph};
    return strlen(record->update->request->update_json) > LOAD_INLINE_MAX;
}

/* Whether a worker is to read the state of the snapshot. */
bool load_wants_state(struct loader *loader)
{
    const Renga__V1__ThreadSnapshot *snapshot = loader->snapshot;
    if (loader->has_state || !snapshot->root || snapshot->root->state.len <= LOAD_INLINE_MAX)
        return false;
    loader->has_state = true;
    loader->reader = thread_agent_for(loader->thread, snapshot->graph_version);
    return loader->reader;
}
