/* A graph at work: its state, the nodes that are due, and their counters. */
#include "run_priv.h"
#include "trace.h"

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
    const struct due *due = frame->parent;
    if (!due)
        return;
    frame_path(due->frame, out);
    if (due->frame->parent)
        buffer_put(out, '/');
    buffer_print(out, due->node->name);
    if (due->sent || due->branch)
        buffer_printf(out, "[%u]", due->branch);
    if (due->node->kind->is_each)
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

struct due *due_find(struct frame *frame, uint32_t node, uint32_t branch)
{
    struct due *other = NULL; /* in older logs, sent nodes and nodes after an arrow share a number */
    for (struct due *due = frame->due; due; due = due->next) {
        if (due->node->index != node || due->state == DUE_FINISHED)
            continue;
        if (due->branch == branch)
            return due;
        other = other ? other : due;
    }
    return other;
}

struct frame *frame_at(struct thread *thread, const uint32_t *place, size_t count, struct status *st)
{
    struct frame *frame = thread->root;
    for (size_t i = 0; frame && i + 2 < count; i += 3) {
        struct due *due = due_find(frame, place[i], place[i + 1]);
        if (!due || !node_holds_graph(due->node) || !branches_prepare(due, st) || place[i + 2] >= due->branch_count) {
            fail(st, DATA_LOSS, "thread '%s': a record is about node %u of '%s', which is not due", thread->id,
                 place[i], frame->graph->name);
            return NULL;
        }
        struct branch *branch = &due->branches[place[i + 2]];
        frame = branch->frame ? branch->frame : branch_open(due, place[i + 2], st);
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
 * same step gets another seed, too, after a change by hand made its nodes due again. */
uint64_t frame_visit_seed(const struct frame *frame)
{
    const struct run *run = frame_run(frame);
    if (frame->parent)
        return id_hash_number(due_seed(frame->parent), frame->item);
    return run->due_by_hand ? id_hash_number(frame_seed(frame), run->due_by_hand) : frame_seed(frame);
}

uint64_t due_seed(const struct due *due)
{
    uint64_t numbers[] = {(uint64_t)due->step, due->node->index, due->branch};
    return id_hash(frame_visit_seed(due->frame), numbers, sizeof numbers);
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
        memory = need(calloc(1, sizeof *memory));
        memory->path = need(strdup(buffer_text(&path)));
        memory->state = state_create(graph);
        memory->next = thread->memories;
        thread->memories = memory;
    }
    buffer_fini(&path);
    return memory;
}

struct frame *frame_create(struct thread *thread, const struct graph *graph, struct due *parent, uint32_t item)
{
    struct frame *frame = need(malloc(sizeof *frame));
    memset(frame, 0, offsetof(struct frame, storage));
    frame->thread = thread;
    frame->graph = graph;
    frame->parent = parent;
    frame->item = item;
    frame->depth = parent ? parent->frame->depth + 1 : 0;
    frame->arena = &frame->arenas[0];
    for (int i = 0; i < 2; i++)
        arena_init(&frame->arenas[i], frame->storage[i], FRAME_STORAGE, FRAME_MEMORY_MAX);
    frame->visits = need(calloc(graph->node_count, sizeof *frame->visits));
    frame->deferred = need(calloc(graph->node_count, sizeof *frame->deferred));
    if (parent && graph->persistent)
        frame->memory = find_memory(thread, graph, frame);
    frame->state = frame->memory ? frame->memory->state : state_create(graph);
    return frame;
}

void due_close(struct due *due)
{
    for (size_t i = 0; i < due->branch_count; i++) {
        frame_destroy(&due->branches[i].frame);
        free(due->branches[i].output);
    }
    free(due->branches);
    free(due->items);
    free(due->item_ends);
    free(due->beside);
    due->branches = NULL;
    due->items = due->beside = NULL;
    due->item_ends = NULL;
    due->branch_count = 0;
}

void frame_clear_due(struct frame *frame)
{
    for (struct due *due = frame->due; due; due = due->next)
        due_close(due);
    frame->due = frame->last_due = NULL;
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
    trace_branch_ended(frame);
    frame_clear_due(frame);
    if (!frame->memory)
        state_destroy(&frame->state);
    arena_fini(&frame->arenas[0]);
    arena_fini(&frame->arenas[1]);
    free(frame->visits);
    free(frame->deferred);
    free(frame->arrived);
    free(frame->after);
    free(frame);
}

/* ---- due nodes --------------------------------------------------------------------------------------------------- */

struct due *frame_add_due(struct frame *frame, const struct node *node)
{
    struct due *due = need(arena_zalloc(frame->arena, sizeof *due));
    due->frame = frame;
    due->node = node;
    due->step = frame->step + 1;
    if (frame->last_due)
        frame->last_due->next = due;
    else
        frame->due = due;
    frame->last_due = due;
    return due;
}

void frame_start(struct frame *frame)
{
    frame_clear_due(frame);
    memset(frame->visits, 0, frame->graph->node_count * sizeof *frame->visits);
    memset(frame->deferred, 0, frame->graph->node_count * sizeof *frame->deferred);
    free(frame->arrived);
    frame->arrived = NULL;
    frame->after_count = 0;
    frame->phase = FRAME_RESTS;
    for (size_t i = 0; i < frame->graph->start.node_count; i++)
        route_to(frame, frame->graph->start.nodes[i]);
    route_deferred(frame);
}

void frame_due_anew(struct frame *frame)
{
    for (struct due *due = frame ? frame->due : NULL; due; due = due->next) {
        due_close(due);
        *due = (struct due){.frame = frame,
                            .node = due->node,
                            .branch = due->branch,
                            .sent = due->sent,
                            .input = due->input,
                            .step = due->step,
                            .has_leave = due->has_leave,
                            .stands_before = due->stands_before,
                            .overrun = due->overrun,
                            .next = due->next};
    }
}

uint32_t *frame_due_nodes(const struct frame *frame, size_t *count)
{
    size_t room = 0;
    *count = 0;
    for (const struct due *due = frame->due; due; due = due->next)
        room++;
    uint32_t *nodes = need(calloc(room + 1, sizeof *nodes));
    for (const struct due *due = frame->due; due; due = due->next)
        if (!*count || nodes[*count - 1] != due->node->index)
            nodes[(*count)++] = (uint32_t)due->node->index;
    return nodes;
}
