/* Step evaluation: frames whose nodes have ended. Does a step end, does the graph stop, may the next step begin? */
#include "record.h"
#include "run_lifecycle.h"
#include "step.h"
#include "thread/branches.h"
#include "thread/frame.h"
#include "thread/run.h"
#include "thread/thread.h"

static void step_end_frame(struct frame *frame)
{
    if (frame->phase != FRAME_ENDED) {
        frame_await(frame);
        return;
    }
    if (!frame->parent) {
        run_root_stopped(frame_run(frame));
        return;
    }
    struct activation *activation = frame->parent;
    branch_ended(frame);
    branches_evaluate(activation);
}

static void step_evaluate_dataflow(struct frame *frame)
{
    for (struct activation *activation = frame->activations, *next; activation; activation = next) {
        next = activation->next;
        if (!activation_ended(activation))
            continue;
        int64_t step = frame->step;
        record_step(frame, activation);
        if (frame->step == step)
            return;
    }
    bool pending = false;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        pending |= activation->state == ACTIVATION_PENDING && !activation->attempts &&
                   (!activation->pauses_before || activation->released);
    if (frame->phase == FRAME_ENDED) {
        step_end_frame(frame);
        return;
    }
    record_results(frame);
    bool comes =
        frame->thread->last > frame->thread->committed; /* a batch; all frames that await it begin only after it */
    if (frame->phase == FRAME_TO_BEGIN && (pending || (!frame->busy && comes)))
        frame_await(frame);
    else if (!frame->busy)
        frame_stopped(frame);
}

static void step_evaluate(struct frame *frame)
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
    bool blocked = frame->phase == FRAME_TO_BEGIN && !frame->awaits && (frame_must_pause(frame) || run->stopping);
    if (frame->busy && !frame->graph->dataflow) { /* NOLINT(bugprone-branch-clone): it is the order that tells */
        record_results(frame);
    } else if (frame->phase == FRAME_ENDED) { /* NOLINT(bugprone-branch-clone) */
        step_end_frame(frame);
    } else if (blocked && !frame->busy) { /* NOLINT(bugprone-branch-clone) */
        record_results(frame);
        frame_stopped(frame);
    } else if (frame->graph->dataflow && (!run->stopping || frame_all_ended(frame))) {
        step_evaluate_dataflow(frame);
    } else if (frame->busy || frame->awaits) {
        record_results(frame);
    } else if (frame_all_ended(frame)) {
        int64_t step = frame->step;
        record_step(frame, NULL);
        if (frame->step != step)
            step_end_frame(frame);
    } else {
        record_results(frame);
        frame_stopped(frame);
    }
}

void thread_evaluate_frames(struct thread *thread)
{
    struct frame *frame;
    while (thread->run && (frame = thread->run->dirty)) {
        thread->run->dirty = frame->dirty_next;
        frame->is_dirty = false;
        step_evaluate(frame);
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
