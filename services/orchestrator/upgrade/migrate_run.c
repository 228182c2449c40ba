/* MigrateRun: a run that is not at work goes over to another version of its agent. One that has begun is built
 * anew there (state_migration.h); one that waits for its turn is only pinned to the other version, once that takes its
 * input and the state as it is. */
#include "migrate_run.h"
#include "agent_versions.h"
#include "graph/agents.h"
#include "journal/journal_writer.h"
#include "journal/run_rows.h"
#include "lifecycle/request_queue.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/run_message.h"
#include "thread/shard.h"
#include "thread/state_migration.h"
#include "thread/thread.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

#define PROBLEMS_MAX 100
#define QUEUED       RENGA__V1__RUN_STATE__RUN_STATE_QUEUED

typedef Renga__V1__RunMigrated Migrated; /* generated from a proto */

/* ---- the request ------------------------------------------------------------------------------------------------- */

struct preview {
    struct request *request;
    Renga__V1__MigrateRunResponse *response;
};

static void list_problem(const char *text, void *data)
{
    struct preview *preview = data;
    Renga__V1__MigrateRunResponse *response = preview->response;
    struct arena *arena = preview->request->arena;
    if (!response->problems)
        response->problems = xnonnull(arena_alloc(arena, PROBLEMS_MAX * sizeof(*response->problems)));
    if (response->n_problems < PROBLEMS_MAX)
        response->problems[response->n_problems++] = xnonnull(arena_strdup(arena, text));
}

static void migrate_run_answer(struct request *request, struct run *run, Renga__V1__MigrateRunResponse *response)
{
    response->run = answer_run(request->arena, run, ANSWER_WHOLE);
    request_answer_on_commit(request, run->thread, response);
}

static void try_to_migrate(struct run *run, struct agent *agent, const Migrated *migrated, struct preview *preview)
{
    struct state_migration migration = {
        .thread = run->thread, .agent = agent, .wish = migrated, .problem = list_problem, .data = preview};
    state_migration_build(&migration);
    state_migration_drop(&migration);
}

/* The state may be another when its turn comes; then it is checked again. */
static void try_to_begin(struct run *run, struct agent *agent, const Migrated *migrated, struct preview *preview)
{
    struct status st = {0};
    char text[STATUS_TEXT_MAX + 16];
    const struct thread *thread = run->thread;
    if (!run_input_fits(agent->graph, run->request->input_json, &st)) {
        snprintf(text, sizeof text, "input_json: %s", st.text);
        list_problem(text, preview);
    }
    if (!thread->root || *run->request->checkpoint_id || thread_rolls_back(thread))
        return;
    struct state_migration migration = {
        .thread = run->thread, .agent = agent, .wish = migrated, .problem = list_problem, .data = preview};
    state_migration_move_fields(&migration);
    state_migration_drop(&migration);
}

static void migrate_run_move(struct request *request, struct run *run, Migrated *migrated,
                             Renga__V1__MigrateRunResponse *response)
{
    struct status st = {0};
    struct thread *thread = run->thread;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    if (!apply_migrated(run, migrated, thread->last + 1, wall_ms(), &st)) {
        request_fail(request, &st, NULL);
        return;
    }
    if (!migrated->queued)
        migrated->due = frame_activated_nodes(thread->root, &migrated->n_due);
    record.migrated = migrated;
    log_append(thread, run, &record);
    free(migrated->due);
    log_write_name(run);
    log_write_rows(run);
    migrate_run_answer(request, run, response);
}

static void migrate_run_migrate(struct request *request, struct run *run, struct agent *agent)
{
    const Renga__V1__MigrateRunRequest *message = (const void *)request->message;
    Renga__V1__MigrateRunResponse *response = xnonnull(arena_alloc(request->arena, sizeof *response));
    Migrated migrated = RENGA__V1__RUN_MIGRATED__INIT;
    struct preview preview = {request, response};
    renga__v1__migrate_run_response__init(response);
    migrated.from_version = xnonnull(arena_strdup(request->arena, run->begun->graph_version));
    migrated.graph_version = agent->version;
    migrated.renamed_nodes = (Renga__V1__RunMigrated__RenamedNodesEntry **)message->renamed_nodes; /* of one form */
    migrated.n_renamed_nodes = message->n_renamed_nodes;
    migrated.queued = run->state == QUEUED;
    if (migrated.queued)
        try_to_begin(run, agent, &migrated, &preview);
    else
        try_to_migrate(run, agent, &migrated, &preview);
    if (message->dry_run)
        migrate_run_answer(request, run, response);
    else if (response->n_problems)
        request_refuse(request, "DOES_NOT_FIT", FAILED_PRECONDITION, "%s", response->problems[0]);
    else
        migrate_run_move(request, run, &migrated, response);
}

static struct run *find_run(struct request *request, struct thread *thread)
{
    struct run *run = thread_find_run(thread, request->run_id);
    if (run && run->state == QUEUED)
        return run;
    if (run && run_is_open(run)) {
        request_refuse(request, "RUN_BUSY", ABORTED, "the run is at work; cancel it, or wait until it stops");
        return NULL;
    }
    if (run && run == thread->run && thread->root && run->started_ms && !thread->queue)
        return run;
    if (run && !run->started_ms)
        request_refuse(request, "DOES_NOT_FIT", FAILED_PRECONDITION,
                       "the run ended before it began; start another one");
    else if (run || request->place)
        request_refuse(request, "DOES_NOT_FIT", FAILED_PRECONDITION, "the thread has gone on without the run");
    else
        request_refuse(request, NULL, NOT_FOUND, "there is no run '%.64s'", request->run_id);
    return NULL;
}

void history_migrate(struct request *request, struct thread *thread)
{
    const Renga__V1__MigrateRunRequest *message = (const void *)request->message;
    struct run *run = find_run(request, thread);
    struct agent *agent = run ? request_find_agent(request, thread, run->request->agent, message->graph_version) : NULL;
    if (!agent)
        return;
    if (strcmp(agent->version, run->begun->graph_version) == 0 && !message->dry_run) {
        Renga__V1__MigrateRunResponse *response = xnonnull(arena_alloc(request->arena, sizeof *response));
        renga__v1__migrate_run_response__init(response);
        migrate_run_answer(request, run, response); /* it is there already */
    } else {
        migrate_run_migrate(request, run, agent);
    }
    agent_release(thread->shard->runner->options.agents, agent);
}
