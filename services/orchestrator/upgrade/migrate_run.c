/* MigrateRun: a run that is not at work goes over to another version of its agent. One that has begun is built
 * anew there (state_migration.h); one that waits for its turn is only pinned to the other version, once that takes its
 * input and the state as it is. */
#include "migrate_run.h"
#include "runtime/request.h"
#include "thread/run_priv.h"
#include "thread/state_migration.h"

#include <stdio.h>
#include <stdlib.h>

#define PROBLEMS_MAX 100
#define QUEUED       RENGA__V1__RUN_STATE__RUN_STATE_QUEUED

typedef Renga__V1__RunMigrated Migrated; /* generated from a proto */

/* ---- what lasts -------------------------------------------------------------------------------------------------- */

static void note_first(const char *text, void *data)
{
    struct status *st = data;
    if (st->code == OK)
        fail(st, FAILED_PRECONDITION, "%s", text);
}

static void pin(struct run *run, struct agent *agent)
{
    if (run->agent)
        agent_release(run->thread->shard->runner->options.agents, run->agent);
    run->agent = agent;
    run->migrated = true;
    run->begun->graph_version = xnonnull(arena_strdup(&run->arena, agent->version));
}

/* Nothing of it is at work: what is left in its queues came to nothing. */
static void leave_queues(struct run *run)
{
    run->ready_first = run->ready_last = NULL;
    run->openers_first = run->openers_last = NULL;
}

static bool migrate_thread(struct run *run, struct agent *agent, const Migrated *migrated, struct status *st)
{
    struct thread *thread = run->thread;
    struct state_migration migration = {
        .thread = thread, .agent = agent, .wish = migrated, .problem = note_first, .data = st};
    state_migration_build(&migration);
    if (!migration.fits) {
        state_migration_drop(&migration);
        return false;
    }
    leave_queues(run);
    frame_destroy(&thread->root);
    memories_drop(&thread->memories);
    thread->root = migration.root;
    thread->memories = migration.memories;
    thread_take_agent(thread, agent);
    return true;
}

bool apply_migrated(struct run *run, const Migrated *migrated, uint64_t number, int64_t now_ms, struct status *st)
{
    struct thread *thread = run ? run->thread : NULL;
    struct agent *agent = run ? thread_agent_for(thread, migrated->graph_version) : NULL;
    if (!agent)
        return fail(st, NOT_FOUND, "the version %s of an agent is not there any more", migrated->graph_version);
    if (!migrated->queued && (run != thread->run || !thread->root || !migrate_thread(run, agent, migrated, st))) {
        agent_release(thread->shard->runner->options.agents, agent);
        return st->code == OK ? fail(st, DATA_LOSS, "run %s was moved, and is not the last of its thread", run->id)
                              : false;
    }
    pin(run, agent);
    if (!migrated->queued)
        thread->head = run->checkpoint = number;
    run->updated_ms = now_ms;
    return true;
}

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
    struct run *run = request_find_run(request, thread, request->run_id);
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
