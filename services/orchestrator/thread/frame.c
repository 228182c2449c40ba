/* A graph at work: its state, its activations, and the counters of its nodes. */
#include "frame.h"
#include "branches.h"
#include "graph/node_kind.h"
#include "log/ids.h"
#include "memory.h"
#include "route.h"
#include "run.h"
#include "shard.h"
#include "state/state.h"
#include "state_release.h"
#include "thread.h"
#include "thread_hooks.h"

#include "base/buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- its place --------------------------------------------------------------------------------------------------- */

struct run *frame_run(const struct frame *frame)
{
    return frame->thread->run;
}

void frame_path(const struct frame *frame, struct buffer *out)
{
    const struct activation *activation = frame->parent;
    if (!activation)
        return;
    frame_path(activation->frame, out);
    if (activation->frame->parent)
        buffer_put(out, '/');
    buffer_print(out, activation->node->name);
    if (activation->sent || activation->branch)
        buffer_printf(out, "[%u]", activation->branch);
    if (activation->node->kind->is_each)
        buffer_printf(out, "[%u]", frame->item);
}

size_t frame_place(const struct frame *frame, uint32_t *place)
{
    if (!frame->parent)
        return 0;
    size_t count = frame_place(frame->parent->frame, place);
    place[count++] = (uint32_t)frame->parent->node->index;
    place[count++] = frame->parent->branch;
    place[count++] = frame->item;
    return count;
}

struct activation *activation_find(struct frame *frame, uint32_t node, uint32_t branch)
{
    struct activation *other = NULL; /* in older logs, sent nodes and nodes after an edge share a number */
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (activation->node->index != node || activation->state == ACTIVATION_FINISHED)
            continue;
        if (activation->branch == branch)
            return activation;
        other = other ? other : activation;
    }
    return other;
}

struct frame *frame_at(struct thread *thread, const uint32_t *place, size_t count, struct status *st)
{
    struct frame *frame = thread->root;
    for (size_t i = 0; frame && i + 2 < count; i += 3) {
        struct activation *activation = activation_find(frame, place[i], place[i + 1]);
        if (!activation || !node_holds_graph(activation->node) || !branches_prepare(activation, st) ||
            place[i + 2] >= activation->branch_count) {
            fail(st, DATA_LOSS, "thread '%s': a record is about node %u of '%s', which is not activated", thread->id,
                 place[i], frame->graph->name);
            return NULL;
        }
        struct branch *branch = &activation->branches[place[i + 2]];
        if (!branch->frame && !branch_may_move(branch, BRANCH_OPEN)) {
            fail(st, DATA_LOSS, "thread '%s': a record is about branch %u of '%s', which has ended", thread->id,
                 place[i + 2], activation->node->name);
            return NULL;
        }
        frame = branch->frame ? branch->frame : branch_open(activation, place[i + 2], st);
    }
    frame_logged(frame);
    return frame;
}

void frame_logged(struct frame *frame)
{
    for (; frame && !frame->in_log; frame = frame->parent ? frame->parent->frame : NULL)
        frame->in_log = true;
}

uint64_t frame_seed(const struct frame *frame)
{
    uint32_t place[3 * FRAME_DEPTH_MAX];
    size_t count = frame_place(frame, place);
    return id_hash(id_hash_text(frame->thread->place, frame_run(frame)->id), place, count * sizeof *place);
}

/* The seed of a sub-graph includes its node's visit. So in the next visit all seeds differ, even on the same paths. The
 * same step gets another seed, too, after a change by hand activated its nodes again. */
uint64_t frame_visit_seed(const struct frame *frame)
{
    const struct run *run = frame_run(frame);
    if (frame->parent)
        return id_hash_number(activation_seed(frame->parent), frame->item);
    return run->activated_by_hand ? id_hash_number(frame_seed(frame), run->activated_by_hand) : frame_seed(frame);
}

uint64_t activation_seed(const struct activation *activation)
{
    uint64_t numbers[] = {(uint64_t)activation->step, activation->node->index, activation->branch};
    return id_hash(frame_visit_seed(activation->frame), numbers, sizeof numbers);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static struct memory *find_memory(struct thread *thread, const struct graph *graph, const struct frame *frame)
{
    struct buffer path;
    struct memory *memory = thread->memories;
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    while (memory && strcmp(memory->path, buffer_text(&path)) != 0)
        memory = memory->next;
    if (!memory) {
        memory = xnonnull(calloc(1, sizeof *memory));
        memory->path = xnonnull(strdup(buffer_text(&path)));
        memory->state = state_create(graph);
        memory->next = thread->memories;
        thread->memories = memory;
    }
    buffer_fini(&path);
    return memory;
}

struct frame *frame_create(struct thread *thread, const struct graph *graph, struct activation *parent, uint32_t item)
{
    struct frame *frame = xnonnull(malloc(sizeof *frame));
    memset(frame, 0, offsetof(struct frame, storage));
    frame->thread = thread;
    frame->graph = graph;
    frame->parent = parent;
    frame->item = item;
    frame->depth = parent ? parent->frame->depth + 1 : 0;
    frame->arena = &frame->arenas[0];
    for (int i = 0; i < 2; i++)
        arena_init(&frame->arenas[i], frame->storage[i], FRAME_STORAGE, FRAME_MEMORY_MAX);
    frame->visits = xnonnull(calloc(graph->node_count, sizeof *frame->visits));
    frame->deferred = xnonnull(calloc(graph->node_count, sizeof *frame->deferred));
    if (parent && graph->persistent)
        frame->memory = find_memory(thread, graph, frame);
    frame->state = frame->memory ? frame->memory->state : state_create(graph);
    return frame;
}

void activation_close(struct activation *activation)
{
    for (size_t i = 0; i < activation->branch_count; i++) {
        frame_destroy(&activation->branches[i].frame);
        free(activation->branches[i].output);
    }
    free(activation->branches);
    free(activation->items);
    free(activation->item_ends);
    free(activation->beside);
    activation->branches = NULL;
    activation->items = activation->beside = NULL;
    activation->item_ends = NULL;
    activation->branch_count = 0;
}

void frame_clear_activations(struct frame *frame)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next)
        activation_close(activation);
    frame->activations = frame->last_activation = NULL;
}

static void leave_lists(struct frame *frame)
{
    struct run *run = frame_run(frame);
    if (!run)
        return;
    for (struct frame **link = &run->dirty; *link; link = &(*link)->dirty_next)
        if (*link == frame) {
            *link = frame->dirty_next;
            break;
        }
    struct frame *last = NULL;
    for (struct frame **link = &run->to_begin; *link;) {
        if (*link == frame) {
            *link = frame->begin_next;
            continue;
        }
        last = *link;
        link = &(*link)->begin_next;
    }
    run->last_to_begin = last;
}

void frame_destroy(struct frame **frame_pointer)
{
    struct frame *frame = *frame_pointer;
    if (!frame)
        return;
    *frame_pointer = NULL;
    if (frame->is_dirty || frame->awaits)
        leave_lists(frame);
    if (frame->span)
        frame->thread->shard->runner->hooks->frame_left(frame);
    frame_clear_activations(frame);
    if (!frame->memory)
        state_release(frame->thread->shard, &frame->state);
    arena_fini(&frame->arenas[0]);
    arena_fini(&frame->arenas[1]);
    free(frame->visits);
    free(frame->deferred);
    free(frame->arrived);
    free(frame->after);
    free(frame);
}

/* ---- activations ------------------------------------------------------------------------------------------------- */

struct activation *frame_activate(struct frame *frame, const struct node *node)
{
    struct activation *activation = xnonnull(arena_zalloc(frame->arena, sizeof *activation));
    activation->frame = frame;
    activation->node = node;
    activation->step = frame->step + 1;
    if (frame->last_activation)
        frame->last_activation->next = activation;
    else
        frame->activations = activation;
    frame->last_activation = activation;
    return activation;
}

void frame_start(struct frame *frame)
{
    frame_clear_activations(frame);
    memset(frame->visits, 0, frame->graph->node_count * sizeof *frame->visits);
    memset(frame->deferred, 0, frame->graph->node_count * sizeof *frame->deferred);
    free(frame->arrived);
    frame->arrived = NULL;
    frame->after_count = 0;
    frame_move(frame, FRAME_RESTS);
    for (size_t i = 0; i < frame->graph->start.node_count; i++)
        route_to(frame, frame->graph->start.nodes[i]);
    route_deferred(frame);
}

void frame_reset_activations(struct frame *frame)
{
    for (struct activation *activation = frame ? frame->activations : NULL; activation; activation = activation->next) {
        activation_close(activation);
        *activation = (struct activation){.frame = frame,
                                          .node = activation->node,
                                          .branch = activation->branch,
                                          .sent = activation->sent,
                                          .input = activation->input,
                                          .step = activation->step,
                                          .released = activation->released,
                                          .pauses_before = activation->pauses_before,
                                          .overrun = activation->overrun,
                                          .next = activation->next};
    }
}

uint32_t *frame_activated_nodes(const struct frame *frame, size_t *count)
{
    size_t room = 0;
    *count = 0;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        room++;
    uint32_t *nodes = xnonnull(calloc(room + 1, sizeof *nodes));
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if (!*count || nodes[*count - 1] != activation->node->index)
            nodes[(*count)++] = (uint32_t)activation->node->index;
    return nodes;
}

bool activation_has_error_node(const struct activation *activation)
{
    const struct graph *graph = activation->frame->graph;
    return graph->error_node && graph->error_node != activation->node && !activation->node->kind->ends_graph &&
           graph->error_codes >> activation->code & 1;
}

bool activation_ended(const struct activation *activation)
{
    return activation->state == ACTIVATION_FINISHED ||
           (activation->state == ACTIVATION_FAILED && activation_has_error_node(activation));
}

bool frame_all_ended(const struct frame *frame)
{
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if (!activation_ended(activation))
            return false;
    return frame->activations != NULL;
}

bool frame_must_pause(const struct frame *frame)
{
    if (frame->after_count)
        return true;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if (activation->pauses_before && !activation->released && activation->state == ACTIVATION_PENDING)
            return true;
    return false;
}
