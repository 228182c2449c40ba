/* MigrateRun: a run that is not at work goes over to another version of its agent. The agent's own graph is built anew
 * where it stands: state by fields, due nodes by their names, with what they have come to. A node whose sub-graph is
 * under way cannot be moved: it has to end first. */
#include "migrate.h"
#include "run_priv.h"

#include <stdlib.h>

#define PROBLEMS_MAX 100

typedef Renga__V1__RunMigrated Migrated; /* generated from a proto */

struct migration {
    struct thread *thread;
    struct agent *agent; /* the new version */
    const Migrated *wish;
    struct frame *frame; /* what is built */
    struct memory *memories;
    void (*problem)(const char *text, void *data);
    void *data;
    bool fits;
};

static void add_problem(const char *text, void *data)
{
    struct migration *migration = data;
    migration->fits = false;
    migration->problem(text, migration->data);
}

static void misfit(struct migration *migration, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void misfit(struct migration *migration, const char *format, ...)
{
    va_list arguments;
    struct status st = {0};
    va_start(arguments, format);
    status_set(&st, FAILED_PRECONDITION, format, arguments);
    va_end(arguments);
    add_problem(st.text, migration);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static const struct node *new_node(const struct migration *migration, const struct node *old)
{
    const char *name = old->name;
    for (size_t i = 0; i < migration->wish->n_renamed_nodes; i++)
        if (strcmp(migration->wish->renamed_nodes[i]->key, old->name) == 0)
            name = migration->wish->renamed_nodes[i]->value;
    return graph_node(migration->agent->graph, name);
}

static void copy_questions(struct due *to, const struct due *from)
{
    struct question **link = &to->questions;
    for (const struct question *old = from->questions; old; old = old->next) {
        struct question *question = need(arena_copy(to->frame->arena, old, sizeof *old)); /* its id stays */
        question->asked = need(message_copy(to->frame->arena, &old->asked->base));
        question->next = NULL;
        *link = question;
        link = &question->next;
    }
}

/* What a node has come to must be something that the new one could have come to. */
static void move_result(struct migration *migration, struct due *to, const struct due *from)
{
    struct status st = {0};
    if (!from->response)
        return;
    to->response = need(message_copy(to->frame->arena, &from->response->base));
    if (from->state == DUE_FINISHED && (!response_check(to, to->response, &st) || !due_read_write(to, &st)))
        misfit(migration, "what the node '%s' has come to: %s", from->node->name, st.text);
}

static void move_due(struct migration *migration, const struct due *from)
{
    const struct node *node = new_node(migration, from->node);
    if (!node) {
        misfit(migration, "the node '%s' is due, and the new version has no such node; renamed_nodes can name another",
               from->node->name);
        return;
    }
    if (from->branches) {
        misfit(migration, "the run stands within the sub-graph of '%s'; it can be moved when that has ended",
               from->node->name);
        return;
    }
    struct due *to = frame_add_due(migration->frame, node);
    struct arena *arena = migration->frame->arena;
    to->branch = from->branch;
    to->sent = from->sent;
    to->input = from->input ? need(arena_strdup(arena, from->input)) : NULL;
    to->step = from->step;
    to->state = from->state;
    to->recorded = from->recorded;
    to->has_leave = from->has_leave;
    to->stands_before = from->stands_before;
    to->attempts = from->attempts;
    to->tries = from->tries;
    to->duration_ms = from->duration_ms;
    to->conflict = from->conflict;
    to->code = from->code;
    to->message = from->message ? need(arena_strdup(arena, from->message)) : NULL;
    to->overrun = from->overrun;
    copy_questions(to, from);
    move_result(migration, to, from);
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

/* Counts, and what waits to be joined, of the nodes that there still are. */
static void move_marks(struct migration *migration, const struct frame *old)
{
    struct frame *frame = migration->frame;
    size_t count = old->graph->node_count, new_count = frame->graph->node_count;
    for (size_t i = 0; i < count; i++) {
        const struct node *node = new_node(migration, &old->graph->nodes[i]);
        if (!node && old->deferred[i])
            misfit(migration, "the node '%s' is deferred, and the new version has no such node",
                   old->graph->nodes[i].name);
        if (!node)
            continue;
        frame->visits[node->index] = old->visits[i];
        frame->deferred[node->index] = old->deferred[i];
        for (size_t j = 0; old->arrived && j < count; j++) {
            const struct node *from = old->arrived[i * count + j] ? new_node(migration, &old->graph->nodes[j]) : NULL;
            if (!from)
                continue;
            if (!frame->arrived)
                frame->arrived = need(calloc(new_count, new_count * sizeof *frame->arrived));
            frame->arrived[node->index * new_count + from->index] = true;
        }
    }
}

static void move_after(struct migration *migration, const struct frame *old)
{
    struct frame *frame = migration->frame;
    frame->after = need(calloc(frame->graph->node_count + old->after_count, sizeof(*frame->after)));
    for (size_t i = 0; i < old->after_count; i++) {
        const struct node *node = new_node(migration, old->after[i]);
        if (node)
            frame->after[frame->after_count++] = node;
        else
            misfit(migration, "the run stands after '%s', and the new version has no such node", old->after[i]->name);
    }
}

static void move_memory(struct migration *migration, const struct memory *old)
{
    const struct graph *graph = agent_graph(migration->agent, state_graph(old->state)->name);
    if (!graph) {
        misfit(migration, "the sub-graph '%s' remembers something, and the new version has no such graph",
               state_graph(old->state)->name);
        return;
    }
    struct memory *memory = need(calloc(1, sizeof *memory));
    memory->path = need(strdup(old->path));
    memory->state = state_create(graph);
    memory->next = migration->memories;
    migration->memories = memory;
    state_move(old->state, memory->state, add_problem, migration);
}

static void build(struct migration *migration)
{
    const struct frame *old = migration->thread->root;
    struct frame *frame = migration->frame = frame_create(migration->thread, migration->agent->graph, NULL, 0);
    migration->fits = true;
    frame->step = old->step;
    frame->steps_before = old->steps_before;
    frame->phase = old->phase;
    state_move(old->state, frame->state, add_problem, migration);
    for (const struct due *due = old->due; due; due = due->next)
        move_due(migration, due);
    move_marks(migration, old);
    move_after(migration, old);
    for (const struct memory *memory = migration->thread->memories; memory; memory = memory->next)
        move_memory(migration, memory);
}

static void drop_memories(struct memory **memories)
{
    while (*memories) {
        struct memory *memory = *memories;
        *memories = memory->next;
        state_destroy(&memory->state);
        free(memory->path);
        free(memory);
    }
}

/* ---- what lasts -------------------------------------------------------------------------------------------------- */

static void note_first(const char *text, void *data)
{
    struct status *st = data;
    if (st->code == OK)
        fail(st, FAILED_PRECONDITION, "%s", text);
}

bool fold_migrated(struct thread *thread, const Migrated *migrated, uint64_t number, int64_t now_ms, struct status *st)
{
    struct run *run = thread->run;
    struct agents *agents = thread->home->runner->options.agents;
    struct agent *agent = thread_agent_for(thread, migrated->graph_version);
    if (!agent || !run || !thread->root) {
        if (agent)
            agent_release(agents, agent);
        return fail(st, NOT_FOUND, "the version %s of an agent is not there any more", migrated->graph_version);
    }
    struct migration migration = {
        .thread = thread, .agent = agent, .wish = migrated, .problem = note_first, .data = st};
    build(&migration);
    if (!migration.fits) {
        frame_destroy(&migration.frame);
        drop_memories(&migration.memories);
        agent_release(agents, agent);
        return false;
    }
    frame_destroy(&thread->root);
    drop_memories(&thread->memories);
    thread->root = migration.frame;
    thread->memories = migration.memories;
    thread_take_agent(thread, agent);
    if (run->agent)
        agent_release(agents, run->agent);
    run->agent = agent;
    run->migrated = true;
    run->begun->graph_version = need(arena_strdup(&run->arena, migrated->graph_version));
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
    response->run = answer_run(errand->arena, run, false);
    errand_done(errand, run->thread, response);
}

static void migrate(struct errand *errand, struct run *run, struct agent *agent)
{
    struct thread *thread = run->thread;
    const Renga__V1__MigrateRunRequest *request = (const void *)errand->request;
    Renga__V1__MigrateRunResponse *response = need(arena_alloc(errand->arena, sizeof *response));
    Migrated migrated = RENGA__V1__RUN_MIGRATED__INIT;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    struct trial trial = {errand, response};
    renga__v1__migrate_run_response__init(response);
    migrated.from_version = need(arena_strdup(errand->arena, run->begun->graph_version));
    migrated.graph_version = agent->version;
    migrated.renamed_nodes = (Renga__V1__RunMigrated__RenamedNodesEntry **)request->renamed_nodes; /* of one form */
    migrated.n_renamed_nodes = request->n_renamed_nodes;
    struct migration migration = {
        .thread = thread, .agent = agent, .wish = &migrated, .problem = list_problem, .data = &trial};
    build(&migration);
    frame_destroy(&migration.frame);
    drop_memories(&migration.memories);
    if (request->dry_run) {
        answer(errand, run, response);
        return;
    }
    if (response->n_problems) {
        errand_refuse(errand, "DOES_NOT_FIT", FAILED_PRECONDITION, "%s", response->problems[0]);
        return;
    }
    struct status st = {0};
    if (!fold_migrated(thread, &migrated, thread->last + 1, wall_ms(), &st)) {
        errand_fail(errand, &st, NULL);
        return;
    }
    migrated.due = frame_due_nodes(thread->root, &migrated.n_due);
    record.migrated = &migrated;
    log_append(thread, run, &record);
    free(migrated.due);
    log_write_name(run);
    log_write_rows(run);
    answer(errand, run, response);
}

static struct run *find_run(struct errand *errand, struct thread *thread)
{
    struct run *run = errand_run(errand, thread, errand->run_id);
    if (run && run_is_open(run)) {
        errand_refuse(errand, "RUN_BUSY", ABORTED, "the run is %s; cancel it, or wait until it stops",
                      run->state == RENGA__V1__RUN_STATE__RUN_STATE_QUEUED ? "queued" : "at work");
        return NULL;
    }
    if (run && run == thread->run && thread->root && run->started_ms && !thread->queue)
        return run;
    if (run || errand->place)
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
