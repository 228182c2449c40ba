/* Decides the next actions. Frames with ended nodes are evaluated after the callback that ended them has returned
 * (thread_evaluate_frames): results go into the log, steps end, runs stop. A step begins when the record of the
 * previous step is on disk. Nodes wait in the run's queue while the limit of nodes at work is reached. */
#include "step.h"
#include "attempt.h"
#include "cluster/ownership.h"
#include "graph/graph.h"
#include "journal/journal_writer.h"
#include "monitor/run_trace.h"
#include "node_cache.h"
#include "record.h"
#include "run_lifecycle.h"
#include "state/state.h"
#include "thread/branches.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/run_queues.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "watch/pending_events.h"
#include "watch/subscribers.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define BRANCH_TEXT_MAX 2048 /* bytes of a failure within, in the message of its node */

/* ---- beginnings -------------------------------------------------------------------------------------------------- */

void frame_touch(struct frame *frame)
{
    struct run *run = frame_run(frame);
    if (frame->is_dirty)
        return;
    frame->is_dirty = true;
    frame->dirty_next = run->dirty;
    run->dirty = frame;
    loop_defer(frame->thread->shard->loop, &frame->thread->go);
}

/* Its step may begin when everything appended so far is on disk. */
void frame_await(struct frame *frame)
{
    struct run *run = frame_run(frame);
    frame->record = log_gathers(frame->thread) ? frame->thread->committed : frame->thread->last;
    if (frame->awaits)
        return;
    frame->awaits = true;
    frame->begin_next = NULL;
    if (run->last_to_begin)
        run->last_to_begin->begin_next = frame;
    else
        run->to_begin = frame;
    run->last_to_begin = frame;
}

void activation_retry(struct activation *activation)
{
    run_push_ready(activation);
    run_pump(frame_run(activation->frame));
}

static void activation_fail(struct activation *activation, const struct status *st)
{
    activation->attempts++;
    activation->code = (int)st->code;
    activation->message = xnonnull(arena_strdup(activation->frame->arena, st->text));
    activation_move(activation, ACTIVATION_FAILED);
    trace_node_failed(activation);
    activation_finished(activation);
}

static void begin_inner(struct activation *activation)
{
    struct status st = {0};
    activation_move(activation, ACTIVATION_AT_WORK);
    activation->began_ns = activation->began_ns ? activation->began_ns : clock_now_ns();
    if (!branches_prepare(activation, &st)) {
        activation_fail(activation, &st);
        return;
    }
    run_pending_started(activation);
    for (size_t i = 0; i < activation->branch_count; i++)
        if (activation->branches[i].state == BRANCH_OPEN)
            frame_begin(activation->branches[i].frame);
    if (activation->opened < activation->branch_count)
        run_push_opener(activation);
    else
        branches_evaluate(activation);
}

void frame_enqueue(struct frame *frame)
{
    for (struct activation *activation = frame->activations, *next; activation; activation = next) {
        next = activation->next;
        if (activation->state != ACTIVATION_PENDING || branches_wait(activation))
            continue;
        frame->busy++;
        if (activation->overrun) {
            struct status st = {0};
            fail(&st, RESOURCE_EXHAUSTED, "node '%s' of '%s' was activated %u times, and its \"visits\" allow no more",
                 activation->node->name, frame->graph->name, activation->node->visits_max);
            activation_fail(activation, &st);
        } else if (node_holds_graph(activation->node)) {
            begin_inner(activation);
        } else {
            run_push_ready(activation);
        }
    }
    if (!frame->busy)
        frame_touch(frame);
}

static int64_t steps_left(const struct frame *frame)
{
    const struct run *run = frame_run(frame);
    return frame->parent ? (int64_t)frame->graph->recursion_limit + frame->steps_before - frame->step
                         : (int64_t)run_recursion_limit(run) + run->steps_before - run->step;
}

void frame_begin(struct frame *frame)
{
    struct run *run = frame_run(frame);
    if (frame->thread->shard->runner->draining && !run->waiters && !subscribers_await_end(run))
        return; /* it begins when the runs that were left behind are taken up */
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING || run->stopping ||
        (frame->parent && frame->parent->state != ACTIVATION_AT_WORK)) {
        frame_touch(frame);
        return;
    }
    if (frame->phase == FRAME_ENDED || frame_must_pause(frame)) {
        frame_touch(frame);
        return;
    }
    if (steps_left(frame) <= 0) {
        run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_RECURSION_LIMIT;
        snprintf(run->stopping_text, sizeof run->stopping_text,
                 "the graph '%s' took %lld supersteps, its recursion_limit, and is not at its end", frame->graph->name,
                 (long long)(frame->parent ? frame->step - frame->steps_before : run->step - run->steps_before));
        frame_stop(frame->thread->root);
        return;
    }
    frame_move(frame, FRAME_AT_WORK);
    frame->began_ns = clock_now_ns();
    frame_enqueue(frame);
}

/* The next branch to be opened; branch_count: there is no such branch. */
static size_t next_unopened(struct activation *activation)
{
    if (activation->opened == activation->branch_count)
        return activation->branch_count;
    while (activation->branches[activation->hint].state != BRANCH_UNOPENED)
        activation->hint = (activation->hint + 1) % activation->branch_count;
    return activation->hint;
}

static bool open_next(struct run *run)
{
    struct status st = {0};
    struct activation *activation = run->openers_first;
    if (!activation)
        return false;
    size_t item = activation->state == ACTIVATION_AT_WORK ? next_unopened(activation) : activation->branch_count;
    if (item == activation->branch_count) {
        run_pop_opener(run);
        return true;
    }
    struct frame *frame = branch_open(activation, item, &st);
    if (activation->opened == activation->branch_count || !frame)
        run_pop_opener(run);
    if (frame) {
        trace_branch_began(frame);
        if (frame->memory)
            record_opened(frame); /* its input is recorded, for every later outcome */
        frame_begin(frame);
        return true;
    }
    activation_stop(activation);
    activation->frame->busy++;
    activation_fail(activation, &st);
    return true;
}

/* It fails here, with facts that a size limit of gRPC would not tell: which fields are too large, and how to send less.
 */
static bool inputs_fit(const struct activation *activation, struct status *st)
{
    const struct node *node = activation->node;
    const struct state *state = activation->frame->state;
    char largest[3 * (GRAPH_NAME_MAX + 48)];
    size_t most = node->kind->inputs_max;
    size_t bytes = most && !activation->sent ? state_size(state, node->inputs, node->input_count) : 0;
    if (bytes <= most)
        return true;
    state_tell_largest(state, node->inputs, node->input_count, largest, sizeof largest);
    return fail(st, RESOURCE_EXHAUSTED,
                "the inputs of node '%s' have %zu bytes, and a call takes at most %zu: %s; name the fields that it "
                "needs in its \"inputs\"",
                node->name, bytes, most, largest);
}

/* False if no node may begin, or no node is left. */
static bool begin_one(struct run *run)
{
    struct activation *activation;
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING || run->stopping ||
        run->working + run->orphaned >= run->working_max)
        return false;
    if ((run->ready_first || run->openers_first) && !owner_may_begin(run->thread))
        return false;
    if (!run_pop_ready(run, &activation))
        return open_next(run);
    if (!run_budget_left(run))
        return false;
    struct status st = {0};
    if (run_budget_refuses(run, activation->node, &st)) {
        activation->reason = RUN_BUDGET_SPENT;
        activation_fail(activation, &st);
    } else if (!inputs_fit(activation, &st))
        activation_fail(activation, &st);
    else if (!cache_ask(activation))
        task_begin(activation);
    return true;
}

/* Nodes that end as they begin come back here: they are begun by the outermost call, however many they are. */
void run_pump(struct run *run)
{
    if (run->pumping)
        return;
    run->pumping = true;
    while (begin_one(run))
        ;
    run->pumping = false;
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

void activation_finished(struct activation *activation)
{
    struct frame *frame = activation->frame;
    frame->busy--;
    if (!activation->fresh) {
        activation->fresh = true;
        activation->fresh_next = NULL;
        if (frame->last_fresh)
            frame->last_fresh->fresh_next = activation;
        else
            frame->fresh = activation;
        frame->last_fresh = activation;
    }
    if (activation->state == ACTIVATION_FAILED && !activation_has_error_node(activation))
        for (struct frame *at = frame; at; at = at->parent ? at->parent->frame : NULL)
            if (at->graph->fail_fast)
                frame_stop(at);
    frame_touch(frame);
}

void activation_stop(struct activation *activation)
{
    if (activation->state == ACTIVATION_AT_WORK || activation->state == ACTIVATION_RESTS ||
        activation->state == ACTIVATION_READY) {
        bool inner = activation->branches != NULL;
        task_drop(activation);
        cache_drop(activation);
        activation_move(activation, ACTIVATION_PENDING);
        activation->frame->busy--;
        for (size_t i = 0; inner && i < activation->branch_count; i++)
            if (activation->branches[i].state == BRANCH_OPEN)
                frame_stop(activation->branches[i].frame);
    }
}

void frame_stop(struct frame *frame)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next)
        activation_stop(activation);
    run_purge_queues(frame_run(frame));
    frame_touch(frame);
}

/* Nodes that have not begun are taken back; nodes at work may end. */
void frame_drain(struct frame *frame)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (activation->state == ACTIVATION_READY || activation->state == ACTIVATION_RESTS)
            activation_stop(activation);
        for (size_t i = 0; activation->state == ACTIVATION_AT_WORK && i < activation->branch_count; i++)
            if (activation->branches[i].state == BRANCH_OPEN)
                frame_drain(activation->branches[i].frame);
        if (activation->branches)
            branches_evaluate(activation);
    }
    run_purge_queues(frame_run(frame));
    frame_touch(frame);
}

static const struct activation *first_failed(const struct activation *activation)
{
    for (size_t i = 0; i < activation->branch_count; i++) {
        const struct frame *frame =
            activation->branches[i].state == BRANCH_STOPPED ? activation->branches[i].frame : NULL;
        for (const struct activation *inner = frame ? frame->activations : NULL; inner; inner = inner->next)
            if (inner->state == ACTIVATION_FAILED)
                return inner;
    }
    return NULL;
}

/* Which of its nodes, and why: for the error node of the graph around it. */
static const char *branch_failure(const struct activation *activation)
{
    const struct activation *failed = first_failed(activation);
    if (!failed)
        return BRANCH_FAILED;
    return xnonnull(arena_printf(activation->frame->arena, BRANCH_FAILED ": node '%s' of branch %u: %s: %.*s",
                                 failed->node->name, failed->frame->item, status_code_name(failed->code),
                                 (int)text_cut(failed->message, strlen(failed->message), BRANCH_TEXT_MAX),
                                 failed->message));
}

void branches_evaluate(struct activation *activation)
{
    struct status st = {0};
    size_t wanted = frame_run(activation->frame)->stopping ? activation->opened : activation->branch_count;
    if (activation->state != ACTIVATION_AT_WORK || !activation->branches || activation->settled < wanted)
        return;
    bool failed = false, waits = false, stopped = activation->opened < activation->branch_count;
    for (size_t i = 0; i < activation->branch_count; i++) {
        const struct branch *branch = &activation->branches[i];
        if (branch->state != BRANCH_STOPPED)
            continue;
        stopped = true;
        for (const struct activation *inner = branch->frame->activations; inner; inner = inner->next) {
            failed |= inner->state == ACTIVATION_FAILED;
            waits |= inner->state == ACTIVATION_WAITING;
        }
        waits |= frame_must_pause(branch->frame);
    }
    if (!stopped) {
        activation->attempts++;
        if (!branches_gather(activation, &st)) {
            activation->attempts--;
            activation_fail(activation, &st);
            return;
        }
        activation_move(activation, ACTIVATION_FINISHED);
    } else {
        activation_move(activation, failed ? ACTIVATION_FAILED : waits ? ACTIVATION_WAITING : ACTIVATION_PENDING);
        activation->code = failed ? ABORTED : 0;
        activation->message = failed ? branch_failure(activation) : "";
    }
    if (stopped && !failed) {
        activation->frame->busy--;
        frame_touch(activation->frame);
        return;
    }
    activation_finished(activation);
}

void frame_stopped(struct frame *frame)
{
    frame_move(frame, FRAME_STOPPED);
    if (!frame->parent) {
        run_root_stopped(frame_run(frame));
        return;
    }
    if (!frame->in_log && frame_must_pause(frame))
        record_opened(frame); /* its permission to go on counts once, also if the log is read again before that */
    struct activation *activation = frame->parent;
    if (activation->branches[frame->item].state == BRANCH_OPEN) {
        branch_move(&activation->branches[frame->item], BRANCH_STOPPED);
        activation->settled++;
    }
    branches_evaluate(activation);
}
