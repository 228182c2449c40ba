/* Applies records to runs: they begin, go to work, change their state. Applies changes by hand, too. */
#include "apply.h"
#include "branches.h"
#include "frame.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "memory.h"
#include "route.h"
#include "run.h"
#include "run_queues.h"
#include "shard.h"
#include "state/state.h"
#include "state_migration.h"
#include "thread.h"

#include "base/arena.h"

#include <stdlib.h>

#define SEED_OF_INPUT UINT64_C(0x696e707574) /* of ids that messages of an input get */

/* ---- the life of runs -------------------------------------------------------------------------------------------- */

/* Writes that do not go together are not kept: their nodes run again. */
static void drop_finished(struct frame *frame)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame)
                drop_finished(activation->branches[i].frame);
        if (activation->state != ACTIVATION_FINISHED)
            continue;
        activation_move(activation, ACTIVATION_PENDING);
        activation->recorded = activation->written = activation->fresh = false;
    }
    frame->fresh = frame->last_fresh = NULL;
}

void apply_changed_fields(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms)
{
    run->reason = changed->stop_reason;
    run->text = xnonnull(arena_strdup(&run->arena, changed->stop_text));
    run->status_code = changed->status_code;
    run->cause = xnonnull(arena_strdup(&run->arena, changed->reason));
    run->undone = changed->undone;
    run->updated_ms = now_ms;
    run->ended_ms = changed->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED ? now_ms : 0;
    run->failure_count = changed->n_failures;
    run->failures = xnonnull(arena_alloc(&run->arena, (changed->n_failures + 1) * sizeof(*run->failures)));
    for (size_t i = 0; i < changed->n_failures; i++)
        run->failures[i] = xnonnull(message_copy(&run->arena, &changed->failures[i]->base));
}

void apply_changed(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms)
{
    run_move(run, changed->state);
    apply_changed_fields(run, changed, now_ms);
    bool conflict = changed->stop_reason == RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT;
    if (conflict && changed->status_code == ABORTED && run->thread->root && run == run->thread->run)
        drop_finished(run->thread->root);
}

/* An input may have some MiB, so it is copied once. */
static Renga__V1__RunBegun *copy_begun(struct arena *arena, const Renga__V1__RunBegun *begun)
{
    Renga__V1__RunBegun brief = *begun;
    Renga__V1__StartRunRequest request = *begun->request;
    request.input_json = unconst("");
    brief.request = &request;
    Renga__V1__RunBegun *copy = xnonnull(message_copy(arena, &brief.base));
    copy->request->input_json = xnonnull(arena_strdup(arena, begun->request->input_json));
    return copy;
}

struct run *apply_begun(struct thread *thread, const Renga__V1__RunBegun *begun, uint32_t number, uint64_t record,
                        int64_t now_ms)
{
    struct run *run = xnonnull(calloc(1, sizeof *run)), **link = &thread->queue;
    run->thread = thread;
    run->number = number;
    arena_init(&run->arena, NULL, 0, RUN_MEMORY_MAX);
    arena_init(&run->pending_event_arena, run->pending_event_storage, sizeof run->pending_event_storage,
               RUN_MEMORY_MAX);
    run->begun = copy_begun(&run->arena, begun);
    run->request = run->begun->request;
    text_cut_copy(run->id, sizeof run->id, begun->run_id);
    run_move(run, RENGA__V1__RUN_STATE__RUN_STATE_QUEUED);
    run->text = run->owner = run->cause = "";
    renga__v1__usage__init(&run->usage);
    run->created_ms = run->updated_ms = now_ms;
    run->first_record = record;
    while (*link)
        link = &(*link)->next;
    *link = run;
    thread->runs_begun = number > thread->runs_begun ? number : thread->runs_begun;
    thread->exists = true;
    if (!thread->created_ms)
        thread->created_ms = now_ms;
    if (thread->listed)
        shard_add_run(thread->shard, run);
    if (run->request->retention)
        thread_set_retention(thread, run->request->retention);
    return run;
}

void thread_queue_first(struct thread *thread, struct run *run)
{
    struct run **link = &thread->queue;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    run->next = thread->queue;
    thread->queue = run;
}

static bool apply_run_read_input(const struct graph *graph, const char *input, uint32_t number, struct arena *arena,
                                 struct write *write, struct status *st)
{
    struct write_source source = {
        .node = "input", .update_json = input, .update_size = strlen(input), .seed = SEED_OF_INPUT ^ number};
    return write_parse(graph, &source, arena, write, st);
}

/* `fresh`: the state was never written. */
static bool apply_run_write_input(const struct run *run, struct state *state, bool fresh, struct status *st)
{
    struct arena arena;
    struct write write;
    const struct prepared_input *prepared = run->thread->prepared;
    if (prepared && prepared->run == run->number && prepared->graph == state_graph(state) &&
        prepared->base == (fresh ? NULL : state)) {
        state_take(state, prepared->change);
        return true;
    }
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    bool good = apply_run_read_input(state_graph(state), run->request->input_json, run->number, &arena, &write, st) &&
                (run->thread->replays || state_takes(state, &write, 1, st)) &&
                (!write.count || state_reduce(state, &write, 1, NULL, NULL, st));
    arena_fini(&arena);
    return good;
}

bool apply_prepare_input(struct prepared_input *prepared, const char *input_json, struct status *st)
{
    struct arena arena;
    struct write write;
    struct state *fresh = prepared->base ? NULL : state_create(prepared->graph);
    const struct state *base = prepared->base ? prepared->base : fresh;
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    if (apply_run_read_input(prepared->graph, input_json, prepared->run, &arena, &write, st) &&
        state_takes(base, &write, 1, st))
        prepared->change = state_prepare(base, &write, 1, st);
    arena_fini(&arena);
    state_destroy(&fresh);
    return prepared->change != NULL;
}

bool run_input_fits(const struct graph *graph, const char *input_json, struct status *st)
{
    struct arena arena;
    struct write write;
    struct write_source source = {.node = "input", .update_json = input_json, .update_size = strlen(input_json)};
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    bool good = write_parse(graph, &source, &arena, &write, st);
    arena_fini(&arena);
    return good;
}

static void apply_run_note_misfit(const char *text, void *data)
{
    struct status *st = data;
    if (st->code == OK)
        fail(st, FAILED_PRECONDITION, "%s", text);
}

/* Moves the present state to the graph of the run, if that is another version, and takes the run's input. If a part
 * does not fit, all stays unchanged: the log has no record of a change. */
static bool apply_run_input_fits(struct run *run, struct thread *from, bool keeps_activations, struct status *st)
{
    Renga__V1__RunMigrated unchanged = RENGA__V1__RUN_MIGRATED__INIT;
    struct state_migration migration = {.thread = from,
                                        .agent = run->agent,
                                        .wish = &unchanged,
                                        .problem = apply_run_note_misfit,
                                        .data = st,
                                        .fits = true};
    if (from->root && from->root->graph == run->agent->graph)
        return apply_run_write_input(run, from->root->state, false, st);
    if (!from->root)
        migration.root = frame_create(from, run->agent->graph, NULL, 0);
    else if (keeps_activations)
        state_migration_build(&migration);
    else
        state_migration_move_fields(&migration);
    if (!migration.fits || !apply_run_write_input(run, migration.root->state, !from->root, st)) {
        state_migration_drop(&migration);
        return false;
    }
    frame_destroy(&from->root);
    memories_drop(&from->memories);
    from->root = migration.root;
    from->memories = migration.memories;
    return true;
}

static void apply_run_leave_queue(struct run *run)
{
    struct run **link = &run->thread->queue;
    while (*link && *link != run)
        link = &(*link)->next;
    if (*link)
        *link = run->next;
    run->next = NULL;
}

/* Firings of one node were activated in different steps, and are all of the first step now: results and keys
 * distinguish them by step numbers that never occur. */
static void activate_at_once(struct frame *root)
{
    for (struct activation *activation = root->activations; activation; activation = activation->next) {
        int64_t before = 0;
        bool differs = activation->sent && activation->branch; /* by its number, from all others */
        for (const struct activation *earlier = root->activations; !differs && earlier != activation;
             earlier = earlier->next)
            before += earlier->node == activation->node && earlier->branch == activation->branch;
        activation->step = before ? -before : 1;
    }
}

bool apply_went_to_work(struct run *run, struct thread *from, bool keeps_activations, uint64_t number, int64_t now_ms,
                        struct status *st)
{
    struct thread *thread = run->thread;
    if (!run->agent)
        return fail(st, NOT_FOUND, "the version %s of agent '%s' is not there any more", run->begun->graph_version,
                    run->request->agent);
    bool fresh = !from->root;
    if (from != thread)
        frame_reset_activations(from->root);
    if (!apply_run_input_fits(run, from, keeps_activations,
                              st)) /* with its input: activated nodes may take it at once */
        return false;
    apply_run_leave_queue(run);
    if (thread->run)
        run_leave_frames(thread->run);
    thread->run = run;
    run->began_on = from->head;
    run->active_period = number;
    run->active_period_ms = now_ms;
    if (from != thread)
        thread_adopt(thread, from);
    thread_take_agent(thread, run->agent);
    thread->root->step = thread->root->steps_before = 0;
    activate_at_once(thread->root);
    if (!keeps_activations || fresh)
        frame_start(thread->root);
    frame_move(thread->root, thread->root->activations ? FRAME_TO_BEGIN : FRAME_ENDED);
    run_move(run, RENGA__V1__RUN_STATE__RUN_STATE_RUNNING);
    run->started_ms = run->updated_ms = now_ms;
    thread->head = run->checkpoint = number;
    return true;
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

static bool update_fits(const struct thread *thread, const struct frame *root, const Renga__V1__HandUpdate *update,
                        struct status *st)
{
    return update->as_node <= root->graph->node_count ||
           fail(st, DATA_LOSS, "thread '%s': a change is made as node %u, but '%s' has %zu", thread->id,
                update->as_node, root->graph->name, root->graph->node_count);
}

/* `write` lies in `arena`, and in the request. */
static bool apply_run_read_update(const struct frame *frame, const Renga__V1__HandUpdate *update, uint64_t number,
                                  struct arena *arena, struct write *write, struct status *st)
{
    const Renga__V1__UpdateStateRequest *request = update->request;
    const struct node *node = update->as_node ? &frame->graph->nodes[update->as_node - 1] : NULL;
    struct write_source source = {
        .node = node ? node->name : "update",
        .update_json = request->update_json,
        .update_size = strlen(request->update_json),
        .overwrite_fields = request->overwrite_fields,
        .overwrite_count = request->n_overwrite_fields,
        .clear_fields = request->clear_fields,
        .clear_count = request->n_clear_fields,
        .seed = SEED_OF_INPUT ^ number,
    };
    return write_parse(frame->graph, &source, arena, write, st);
}

static bool write_update(const struct thread *thread, struct frame *frame, const Renga__V1__HandUpdate *update,
                         uint64_t number, struct status *st)
{
    struct arena arena;
    struct write write;
    const struct prepared_input *prepared = thread->prepared;
    if (prepared && prepared->record == number && prepared->base == frame->state) {
        state_take(frame->state, prepared->change);
        return true;
    }
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    bool good = apply_run_read_update(frame, update, number, &arena, &write, st) &&
                (thread->replays || state_takes(frame->state, &write, 1, st)) &&
                (!write.count || state_reduce(frame->state, &write, 1, NULL, NULL, st));
    arena_fini(&arena);
    return good;
}

struct state_change *apply_prepare_update(const struct frame *root, const Renga__V1__HandUpdate *update,
                                          uint64_t number, struct status *st)
{
    struct arena arena;
    struct write write;
    struct state_change *change = NULL;
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    if (apply_run_read_update(root, update, number, &arena, &write, st) && state_takes(root->state, &write, 1, st))
        change = state_prepare(root->state, &write, 1, st);
    arena_fini(&arena);
    return change;
}

/* Only the nodes after its outcome are activated. */
static void go_after(struct frame *frame, const struct node *node, const char *outcome)
{
    frame_clear_activations(frame);
    frame->after_count = 0;
    const struct edge *edge = node_edge(node, *outcome                ? outcome
                                              : node->edge_count == 1 ? node->edges[0].outcome
                                                                      : "done");
    route_edge(frame, node, edge);
    route_deferred(frame);
}

static void follow_update(struct thread *thread, struct thread *from, const Renga__V1__HandUpdate *update,
                          uint64_t number, int64_t now_ms)
{
    if (from != thread) {
        frame_reset_activations(from->root);
        thread_adopt(thread, from);
    }
    if (thread->run) {
        run_purge_queues(thread->run);
        branches_discard_unlogged(thread->root);
    }
    if (thread->run && (update->as_node || from != thread))
        thread->run->activated_by_hand = number;
    if (update->as_node)
        go_after(thread->root, &thread->root->graph->nodes[update->as_node - 1], update->request->outcome);
    thread->head = number;
    thread->updated_ms = now_ms;
}

bool apply_update(struct thread *thread, struct thread *from, const Renga__V1__HandUpdate *update, uint64_t number,
                  int64_t now_ms, struct status *st)
{
    if (!update_fits(thread, from->root, update, st) || !write_update(thread, from->root, update, number, st))
        return false;
    follow_update(thread, from, update, number, now_ms);
    return true;
}

void apply_prepared_update(struct thread *thread, struct state_change *change, const Renga__V1__HandUpdate *update,
                           uint64_t number, int64_t now_ms)
{
    state_take(thread->root->state, change);
    follow_update(thread, thread, update, number, now_ms);
}
