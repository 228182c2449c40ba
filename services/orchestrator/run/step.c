/* Decides the next actions. Frames with ended nodes are evaluated after the callback that ended them has returned
 * (thread_tidy): results go into the log, steps end, runs stop. A step begins when the record of the previous step is
 * on disk. Nodes wait in the run's queue while the limit of nodes at work is reached. */
#include "keep.h"
#include "run_priv.h"
#include "trace.h"

#include "base/clock.h"
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
    loop_defer(frame->thread->home->loop, &frame->thread->go);
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

static void push_ready(struct due *due)
{
    struct run *run = frame_run(due->frame);
    due->state = DUE_READY;
    if (due->queued)
        return;
    due->queued = true;
    due->queue_next = NULL;
    if (run->ready_last)
        run->ready_last->queue_next = due;
    else
        run->ready_first = due;
    run->ready_last = due;
}

static void push_opener(struct due *due)
{
    struct run *run = frame_run(due->frame);
    if (due->opens)
        return;
    due->opens = true;
    due->opener_next = NULL;
    if (run->openers_last)
        run->openers_last->opener_next = due;
    else
        run->openers_first = due;
    run->openers_last = due;
}

void due_again(struct due *due)
{
    push_ready(due);
    run_pump(frame_run(due->frame));
}

static void fail_due(struct due *due, const struct status *st)
{
    due->attempts++;
    due->code = (int)st->code;
    due->message = need(arena_strdup(due->frame->arena, st->text));
    due->state = DUE_FAILED;
    trace_node_failed(due);
    due_finished(due);
}

static void begin_inner(struct due *due)
{
    struct status st = {0};
    due->state = DUE_AT_WORK;
    due->began_ns = due->began_ns ? due->began_ns : clock_now_ns();
    if (!branches_prepare(due, &st)) {
        fail_due(due, &st);
        return;
    }
    run_shown_start(due);
    for (size_t i = 0; i < due->branch_count; i++)
        if (due->branches[i].state == BRANCH_OPEN)
            frame_begin(due->branches[i].frame);
    if (due->opened < due->branch_count)
        push_opener(due);
    else
        branches_look(due);
}

void frame_enqueue(struct frame *frame)
{
    for (struct due *due = frame->due, *next; due; due = next) {
        next = due->next;
        if (due->state != DUE_PENDING || branches_wait(due))
            continue;
        frame->busy++;
        if (due->overrun) {
            struct status st = {0};
            fail(&st, RESOURCE_EXHAUSTED, "node '%s' of '%s' was due %u times, and its \"visits\" allow no more",
                 due->node->name, frame->graph->name, due->node->visits_max);
            fail_due(due, &st);
        } else if (node_holds_graph(due->node)) {
            begin_inner(due);
        } else {
            push_ready(due);
        }
    }
    if (!frame->busy)
        frame_touch(frame);
}

bool frame_must_stand(const struct frame *frame)
{
    if (frame->after_count)
        return true;
    for (const struct due *due = frame->due; due; due = due->next)
        if (due->stands_before && !due->has_leave && due->state == DUE_PENDING)
            return true;
    return false;
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
    if (frame->thread->home->runner->draining && !run->waiters && !audience_awaits(run))
        return; /* it begins when the runs that were left behind are taken up */
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING || run->stopping ||
        (frame->parent && frame->parent->state != DUE_AT_WORK)) {
        frame_touch(frame);
        return;
    }
    if (frame->phase == FRAME_ENDED || frame_must_stand(frame)) {
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
    frame->phase = FRAME_AT_WORK;
    frame->began_ns = clock_now_ns();
    frame_enqueue(frame);
}

static bool pop_ready(struct run *run, struct due **due)
{
    while ((*due = run->ready_first)) {
        run->ready_first = (*due)->queue_next;
        if (!run->ready_first)
            run->ready_last = NULL;
        (*due)->queued = false;
        if ((*due)->state == DUE_READY)
            return true;
    }
    return false;
}

/* The next branch to be opened; branch_count: there is no such branch. */
static size_t next_unopened(struct due *due)
{
    if (due->opened == due->branch_count)
        return due->branch_count;
    while (due->branches[due->hint].state != BRANCH_UNOPENED)
        due->hint = (due->hint + 1) % due->branch_count;
    return due->hint;
}

static void pop_opener(struct run *run)
{
    struct due *due = run->openers_first;
    run->openers_first = due->opener_next;
    if (!run->openers_first)
        run->openers_last = NULL;
    due->opens = false;
}

static bool open_next(struct run *run)
{
    struct status st = {0};
    struct due *due = run->openers_first;
    if (!due)
        return false;
    size_t item = due->state == DUE_AT_WORK ? next_unopened(due) : due->branch_count;
    if (item == due->branch_count) {
        pop_opener(run);
        return true;
    }
    struct frame *frame = branch_open(due, item, &st);
    if (due->opened == due->branch_count || !frame)
        pop_opener(run);
    if (frame) {
        if (frame->memory)
            record_opened(frame); /* its input is recorded, for every later outcome */
        frame_begin(frame);
        return true;
    }
    due_stop(due);
    due->frame->busy++;
    fail_due(due, &st);
    return true;
}

void run_purge(struct run *run)
{
    struct due *ready = run->ready_first, *openers = run->openers_first;
    run->ready_first = run->ready_last = run->openers_first = run->openers_last = NULL;
    for (struct due *due = ready, *next; due; due = next) {
        next = due->queue_next;
        due->queued = false;
        if (due->state == DUE_READY)
            push_ready(due);
    }
    for (struct due *due = openers, *next; due; due = next) {
        next = due->opener_next;
        due->opens = false;
        if (due->state == DUE_AT_WORK)
            push_opener(due);
    }
}

/* It fails here, with facts that a size limit of gRPC would not tell: which fields are too large, and how to send less.
 */
static bool inputs_fit(const struct due *due, struct status *st)
{
    const struct node *node = due->node;
    const struct state *state = due->frame->state;
    char largest[3 * (GRAPH_NAME_MAX + 48)];
    size_t most = node->kind->inputs_max;
    size_t bytes = most && !due->sent ? state_size(state, node->inputs, node->input_count) : 0;
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
    struct due *due;
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING || run->stopping ||
        run->working + run->loose >= run->working_max)
        return false;
    if ((run->ready_first || run->openers_first) && !owner_may_begin(run->thread))
        return false;
    if (!pop_ready(run, &due))
        return open_next(run);
    if (!run_budget_left(run))
        return false;
    struct status st = {0};
    if (run_budget_refuses(run, due->node, &st)) {
        due->reason = RUN_BUDGET_SPENT;
        fail_due(due, &st);
    } else if (!inputs_fit(due, &st))
        fail_due(due, &st);
    else if (!cache_ask(due))
        task_begin(due);
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

void due_finished(struct due *due)
{
    struct frame *frame = due->frame;
    frame->busy--;
    if (!due->fresh) {
        due->fresh = true;
        due->fresh_next = NULL;
        if (frame->last_fresh)
            frame->last_fresh->fresh_next = due;
        else
            frame->fresh = due;
        frame->last_fresh = due;
    }
    if (due->state == DUE_FAILED && !due_has_error_node(due))
        for (struct frame *at = frame; at; at = at->parent ? at->parent->frame : NULL)
            if (at->graph->fail_fast)
                frame_stop(at);
    frame_touch(frame);
}

void due_stop(struct due *due)
{
    if (due->state == DUE_AT_WORK || due->state == DUE_RESTS || due->state == DUE_READY) {
        bool inner = due->branches != NULL;
        task_drop(due);
        cache_drop(due);
        due->state = DUE_PENDING;
        due->frame->busy--;
        for (size_t i = 0; inner && i < due->branch_count; i++)
            if (due->branches[i].state == BRANCH_OPEN)
                frame_stop(due->branches[i].frame);
    }
}

void frame_stop(struct frame *frame)
{
    for (struct due *due = frame->due; due; due = due->next)
        due_stop(due);
    run_purge(frame_run(frame));
    frame_touch(frame);
}

/* Nodes that have not begun are taken back; nodes at work may end. */
void frame_drain(struct frame *frame)
{
    for (struct due *due = frame->due; due; due = due->next) {
        if (due->state == DUE_READY || due->state == DUE_RESTS)
            due_stop(due);
        for (size_t i = 0; due->state == DUE_AT_WORK && i < due->branch_count; i++)
            if (due->branches[i].state == BRANCH_OPEN)
                frame_drain(due->branches[i].frame);
        if (due->branches)
            branches_look(due);
    }
    run_purge(frame_run(frame));
    frame_touch(frame);
}

static const struct due *first_failed(const struct due *due)
{
    for (size_t i = 0; i < due->branch_count; i++) {
        const struct frame *frame = due->branches[i].state == BRANCH_STOPPED ? due->branches[i].frame : NULL;
        for (const struct due *inner = frame ? frame->due : NULL; inner; inner = inner->next)
            if (inner->state == DUE_FAILED)
                return inner;
    }
    return NULL;
}

/* Which of its nodes, and why: for the error node of the graph around it. */
static const char *branch_failure(const struct due *due)
{
    const struct due *failed = first_failed(due);
    if (!failed)
        return BRANCH_FAILED;
    return need(arena_printf(due->frame->arena, BRANCH_FAILED ": node '%s' of branch %u: %s: %.*s", failed->node->name,
                             failed->frame->item, status_code_name(failed->code),
                             (int)text_cut(failed->message, strlen(failed->message), BRANCH_TEXT_MAX),
                             failed->message));
}

void branches_look(struct due *due)
{
    struct status st = {0};
    size_t wanted = frame_run(due->frame)->stopping ? due->opened : due->branch_count;
    if (due->state != DUE_AT_WORK || !due->branches || due->settled < wanted)
        return;
    bool failed = false, waits = false, stopped = due->opened < due->branch_count;
    for (size_t i = 0; i < due->branch_count; i++) {
        const struct branch *branch = &due->branches[i];
        if (branch->state != BRANCH_STOPPED)
            continue;
        stopped = true;
        for (const struct due *inner = branch->frame->due; inner; inner = inner->next) {
            failed |= inner->state == DUE_FAILED;
            waits |= inner->state == DUE_WAITING;
        }
        waits |= frame_must_stand(branch->frame);
    }
    if (!stopped) {
        due->attempts++;
        if (!branches_gather(due, &st)) {
            due->attempts--;
            fail_due(due, &st);
            return;
        }
    } else {
        due->state = failed ? DUE_FAILED : waits ? DUE_WAITING : DUE_PENDING;
        due->code = failed ? ABORTED : 0;
        due->message = failed ? branch_failure(due) : "";
    }
    if (stopped && !failed) {
        due->frame->busy--;
        frame_touch(due->frame);
        return;
    }
    due_finished(due);
}

void frame_stopped(struct frame *frame)
{
    frame->phase = FRAME_STOPPED;
    if (!frame->parent) {
        run_root_stopped(frame_run(frame));
        return;
    }
    if (!frame->in_log && frame_must_stand(frame))
        record_opened(frame); /* its permission to go on counts once, also if the log is read again before that */
    struct due *due = frame->parent;
    if (due->branches[frame->item].state == BRANCH_OPEN) {
        due->branches[frame->item].state = BRANCH_STOPPED;
        due->settled++;
    }
    branches_look(due);
}
