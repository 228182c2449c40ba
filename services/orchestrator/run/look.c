/* A look at frames whose nodes have ended: does a step end, does the graph stop, may the next step begin? */
#include "run_priv.h"

bool due_has_error_node(const struct due *due)
{
    const struct node *error_node = due->frame->graph->error_node;
    return error_node && error_node != due->node && !due->node->kind->ends_graph;
}

bool due_ended(const struct due *due)
{
    return due->state == DUE_FINISHED || (due->state == DUE_FAILED && due_has_error_node(due));
}

bool frame_all_ended(const struct frame *frame)
{
    for (const struct due *due = frame->due; due; due = due->next)
        if (!due_ended(due))
            return false;
    return frame->due != NULL;
}

static void step_ended(struct frame *frame)
{
    if (frame->phase != FRAME_ENDED) {
        frame_await(frame);
        return;
    }
    if (!frame->parent) {
        run_root_stopped(frame_run(frame));
        return;
    }
    struct due *due = frame->parent;
    branch_ended(frame);
    branches_look(due);
}

static void look_dataflow(struct frame *frame)
{
    for (struct due *due = frame->due, *next; due; due = next) {
        next = due->next;
        if (!due_ended(due))
            continue;
        int64_t step = frame->step;
        record_step(frame, due);
        if (frame->step == step)
            return;
    }
    bool pending = false;
    for (const struct due *due = frame->due; due; due = due->next)
        pending |= due->state == DUE_PENDING && !due->attempts && (!due->stands_before || due->has_leave);
    if (frame->phase == FRAME_ENDED) {
        step_ended(frame);
        return;
    }
    record_kept(frame);
    bool comes =
        frame->thread->last > frame->thread->committed; /* a batch; all frames that await it begin only after it */
    if (frame->phase == FRAME_TO_BEGIN && (pending || (!frame->busy && comes)))
        frame_await(frame);
    else if (!frame->busy)
        frame_stopped(frame);
}

static void look(struct frame *frame)
{
    struct run *run = frame_run(frame);
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING)
        return;
    if (run->stopping == RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT) {
        if (!frame->parent && !frame->busy)
            run_root_stopped(run);
        return;
    }
    if (frame->phase == FRAME_STOPPED && frame->parent)
        return;
    bool blocked = frame->phase == FRAME_TO_BEGIN && !frame->awaits && (frame_must_stand(frame) || run->stopping);
    if (frame->busy && !frame->graph->dataflow) { /* NOLINT(bugprone-branch-clone): it is the order that tells */
        record_kept(frame);
    } else if (frame->phase == FRAME_ENDED) { /* NOLINT(bugprone-branch-clone) */
        step_ended(frame);
    } else if (blocked && !frame->busy) { /* NOLINT(bugprone-branch-clone) */
        record_kept(frame);
        frame_stopped(frame);
    } else if (frame->graph->dataflow && (!run->stopping || frame_all_ended(frame))) {
        look_dataflow(frame);
    } else if (frame->busy || frame->awaits) {
        record_kept(frame);
    } else if (frame_all_ended(frame)) {
        int64_t step = frame->step;
        record_step(frame, NULL);
        if (frame->step != step)
            step_ended(frame);
    } else {
        record_kept(frame);
        frame_stopped(frame);
    }
}

void thread_tidy(struct thread *thread)
{
    struct frame *frame;
    while (thread->run && (frame = thread->run->dirty)) {
        thread->run->dirty = frame->dirty_next;
        frame->is_dirty = false;
        look(frame);
        if (thread->run && !thread->run->dirty)
            run_pump(thread->run);
    }
}

void thread_begin_steps(struct thread *thread)
{
    struct frame *frame;
    struct run *run = thread->run;
    while (run && (frame = run->to_begin) && frame->record <= thread->committed) {
        run->to_begin = frame->begin_next;
        if (!run->to_begin)
            run->last_to_begin = NULL;
        frame->awaits = false;
        frame_begin(frame);
    }
    if (run)
        run_pump(run);
}
