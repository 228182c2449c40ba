/* MigrateRun: a run that is not at work goes over to another version of its agent. One that stands somewhere is built
 * anew there (transplant.h); one that waits for its turn is only pinned to the other version, once that takes its input
 * and the state as it is. */
#include "migrate.h"
#include "errand.h"
#include "run_priv.h"
#include "transplant.h"

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
        agent_release(run->thread->home->runner->options.agents, run->agent);
    run->agent = agent;
    run->migrated = true;
    run->begun->graph_version = need(arena_strdup(&run->arena, agent->version));
}

/* Nothing of it is at work: what is left in its queues came to nothing. */
static void leave_queues(struct run *run)
{
    run->ready_first = run->ready_last = NULL;
    run->openers_first = run->openers_last = NULL;
}

static bool stand_anew(struct run *run, struct agent *agent, const Migrated *migrated, struct status *st)
{
    struct thread *thread = run->thread;
    struct transplant transplant = {
        .thread = thread, .agent = agent, .wish = migrated, .problem = note_first, .data = st};
    transplant_build(&transplant);
    if (!transplant.fits) {
        transplant_drop(&transplant);
        return false;
    }
    leave_queues(run);
    frame_destroy(&thread->root);
    memories_drop(&thread->memories);
    thread->root = transplant.root;
    thread->memories = transplant.memories;
    thread_take_agent(thread, agent);
    return true;
}

bool fold_migrated(struct run *run, const Migrated *migrated, uint64_t number, int64_t now_ms, struct status *st)
{
    struct thread *thread = run ? run->thread : NULL;
    struct agent *agent = run ? thread_agent_for(thread, migrated->graph_version) : NULL;
    if (!agent)
        return fail(st, NOT_FOUND, "the version %s of an agent is not there any more", migrated->graph_version);
    if (!migrated->queued && (run != thread->run || !thread->root || !stand_anew(run, agent, migrated, st))) {
        agent_release(thread->home->runner->options.agents, agent);
        return st->code == OK ? fail(st, DATA_LOSS, "run %s was moved, and stands nowhere", run->id) : false;
    }
    pin(run, agent);
    if (!migrated->queued)
        thread->head = run->checkpoint = number;
    run->updated_ms = now_ms;
    return true;
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

struct trial {
    struct errand *errand;
    Renga__V1__MigrateRunResponse *response;
};

static void list_problem(const char *text, void *data)
{
    struct trial *trial = data;
    Renga__V1__MigrateRunResponse *response = trial->response;
    struct arena *arena = trial->errand->arena;
    if (!response->problems)
        response->problems = need(arena_alloc(arena, PROBLEMS_MAX * sizeof(*response->problems)));
    if (response->n_problems < PROBLEMS_MAX)
        response->problems[response->n_problems++] = need(arena_strdup(arena, text));
}

static void answer(struct errand *errand, struct run *run, Renga__V1__MigrateRunResponse *response)
{
    response->run = answer_run(errand->arena, run, ANSWER_WHOLE);
    errand_done(errand, run->thread, response);
}

static void try_to_stand(struct run *run, struct agent *agent, const Migrated *migrated, struct trial *trial)
{
    struct transplant transplant = {
        .thread = run->thread, .agent = agent, .wish = migrated, .problem = list_problem, .data = trial};
    transplant_build(&transplant);
    transplant_drop(&transplant);
}

/* The state may be another when its turn comes; then it is looked at again. */
static void try_to_begin(struct run *run, struct agent *agent, const Migrated *migrated, struct trial *trial)
{
    struct status st = {0};
    char text[STATUS_TEXT_MAX + 16];
    const struct thread *thread = run->thread;
    if (!run_input_fits(agent->graph, run->request->input_json, &st)) {
        snprintf(text, sizeof text, "input_json: %s", st.text);
        list_problem(text, trial);
    }
    if (!thread->root || *run->request->checkpoint_id || thread_rolls_back(thread))
        return;
    struct transplant transplant = {
        .thread = run->thread, .agent = agent, .wish = migrated, .problem = list_problem, .data = trial};
    transplant_state(&transplant);
    transplant_drop(&transplant);
}

static void move(struct errand *errand, struct run *run, Migrated *migrated, Renga__V1__MigrateRunResponse *response)
{
    struct status st = {0};
    struct thread *thread = run->thread;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    if (!fold_migrated(run, migrated, thread->last + 1, wall_ms(), &st)) {
        errand_fail(errand, &st, NULL);
        return;
    }
    if (!migrated->queued)
        migrated->due = frame_due_nodes(thread->root, &migrated->n_due);
    record.migrated = migrated;
    log_append(thread, run, &record);
    free(migrated->due);
    log_write_name(run);
    log_write_rows(run);
    answer(errand, run, response);
}

static void migrate(struct errand *errand, struct run *run, struct agent *agent)
{
    const Renga__V1__MigrateRunRequest *request = (const void *)errand->request;
    Renga__V1__MigrateRunResponse *response = need(arena_alloc(errand->arena, sizeof *response));
    Migrated migrated = RENGA__V1__RUN_MIGRATED__INIT;
    struct trial trial = {errand, response};
    renga__v1__migrate_run_response__init(response);
    migrated.from_version = need(arena_strdup(errand->arena, run->begun->graph_version));
    migrated.graph_version = agent->version;
    migrated.renamed_nodes = (Renga__V1__RunMigrated__RenamedNodesEntry **)request->renamed_nodes; /* of one form */
    migrated.n_renamed_nodes = request->n_renamed_nodes;
    migrated.queued = run->state == QUEUED;
    if (migrated.queued)
        try_to_begin(run, agent, &migrated, &trial);
    else
        try_to_stand(run, agent, &migrated, &trial);
    if (request->dry_run)
        answer(errand, run, response);
    else if (response->n_problems)
        errand_refuse(errand, "DOES_NOT_FIT", FAILED_PRECONDITION, "%s", response->problems[0]);
    else
        move(errand, run, &migrated, response);
}

static struct run *find_run(struct errand *errand, struct thread *thread)
{
    struct run *run = errand_run(errand, thread, errand->run_id);
    if (run && run->state == QUEUED)
        return run;
    if (run && run_is_open(run)) {
        errand_refuse(errand, "RUN_BUSY", ABORTED, "the run is at work; cancel it, or wait until it stops");
        return NULL;
    }
    if (run && run == thread->run && thread->root && run->started_ms && !thread->queue)
        return run;
    if (run && !run->started_ms)
        errand_refuse(errand, "DOES_NOT_FIT", FAILED_PRECONDITION, "the run ended before it began; start another one");
    else if (run || errand->place)
        errand_refuse(errand, "DOES_NOT_FIT", FAILED_PRECONDITION, "the thread has gone on without the run");
    else
        errand_refuse(errand, NULL, NOT_FOUND, "there is no run '%.64s'", errand->run_id);
    return NULL;
}

void history_migrate(struct errand *errand, struct thread *thread)
{
    const Renga__V1__MigrateRunRequest *request = (const void *)errand->request;
    struct run *run = find_run(errand, thread);
    struct agent *agent = run ? errand_agent(errand, thread, run->request->agent, request->graph_version) : NULL;
    if (!agent)
        return;
    if (strcmp(agent->version, run->begun->graph_version) == 0 && !request->dry_run) {
        Renga__V1__MigrateRunResponse *response = need(arena_alloc(errand->arena, sizeof *response));
        renga__v1__migrate_run_response__init(response);
        answer(errand, run, response); /* it is there already */
    } else {
        migrate(errand, run, agent);
    }
    agent_release(thread->home->runner->options.agents, agent);
}
