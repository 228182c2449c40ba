/* What is done next. Frames whose nodes ended are looked at once the callback that ended them has returned
 * (thread_tidy): results go into the log, steps end, runs stop. A step begins when the record of the one before is on
 * disk. Nodes wait in the run's queue while as many are at work as may be. */
#include "run_priv.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define INNER_SHOWN_MAX 4096 /* bytes of what a sub-graph wrote, in the record of its node */

/* ---- what begins --------------------------------------------------------------------------------------------------
 */

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
    frame->record = frame->thread->last;
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
    due_finished(due);
}

static void begin_inner(struct due *due)
{
    struct status st = {0};
    due->state = DUE_AT_WORK;
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
        if (due->state != DUE_PENDING)
            continue;
        frame->busy++;
        if (due->overrun) {
            struct status st = {0};
            fail(&st, RESOURCE_EXHAUSTED, "node '%s' of '%s' was due %u times, and its \"visits\" allow no more",
                 due->node->name, frame->graph->name, due->node->visits_max);
            fail_due(due, &st);
        } else if (due->node->kind->is_each || due->node->kind->is_graph) {
            begin_inner(due);
        } else {
            push_ready(due);
        }
    }
    if (!frame->busy)
        frame_touch(frame);
}

static bool must_stand(const struct frame *frame)
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
    if (frame->thread->home->runner->draining)
        return; /* it begins when the runs that were left behind are taken up */
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_RUNNING || run->stopping ||
        (frame->parent && frame->parent->state != DUE_AT_WORK)) {
        frame_touch(frame);
        return;
    }
    if (frame->phase == FRAME_ENDED || must_stand(frame)) {
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

/* The next branch to be opened; branch_count: none. */
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
        frame_begin(frame);
        return true;
    }
    due_stop(due);
    due->frame->busy++;
    fail_due(due, &st);
    return true;
}

/* What was taken out of work leaves the queues. */
static void purge(struct run *run)
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

void run_pump(struct run *run)
{
    struct due *due;
    while (run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING && !run->stopping &&
           run->working + run->loose < run->working_max) {
        if (pop_ready(run, &due)) {
            if (!run_budget_left(run))
                return;
            task_begin(due);
        } else if (!open_next(run)) {
            return;
        }
    }
}

/* ---- what ends ----------------------------------------------------------------------------------------------------
 */

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
    if (due->state == DUE_FAILED && !(frame->graph->error_node && frame->graph->error_node != due->node))
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
    purge(frame_run(frame));
    frame_touch(frame);
}

/* What has not begun goes back; what is at work may end. */
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
    purge(frame_run(frame));
    frame_touch(frame);
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
        waits |= must_stand(branch->frame);
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
        due->message = "a branch failed";
    }
    if (stopped && !failed) {
        due->frame->busy--;
        frame_touch(due->frame);
        return;
    }
    due_finished(due);
}

static void frame_stopped(struct frame *frame)
{
    frame->phase = FRAME_STOPPED;
    if (!frame->parent) {
        run_root_stopped(frame_run(frame));
        return;
    }
    struct due *due = frame->parent;
    if (due->branches[frame->item].state == BRANCH_OPEN) {
        due->branches[frame->item].state = BRANCH_STOPPED;
        due->settled++;
    }
    branches_look(due);
}

/* ---- what is recorded ---------------------------------------------------------------------------------------------
 */

/* Room for one record, until it is appended. */
struct notes {
    struct arena arena;
    char storage[2048];
};

static Renga__V1__TaskResult *note_result(struct arena *arena, const struct due *due)
{
    Renga__V1__TaskResult *result = need(arena_alloc(arena, sizeof *result));
    renga__v1__task_result__init(result);
    result->node = (uint32_t)due->node->index;
    result->branch = due->branch;
    result->attempts_before = due->attempts ? due->attempts - 1 : 0;
    result->duration_ms = due->duration_ms;
    result->cached = due->cached;
    result->due_step = due->step == due->frame->step + 1 ? 0 : due->step;
    if (due->state == DUE_FAILED) {
        result->failed = need(arena_alloc(arena, sizeof *result->failed));
        renga__v1__node_failed__init(result->failed);
        result->failed->attempt = (int32_t)due->attempts;
        result->failed->status_code = due->code;
        result->failed->message = unconst(due->message);
        result->failed->duration_ms = due->duration_ms;
        result->conflict = due->conflict;
        return result;
    }
    result->response = due->response;
    result->inner = due->branches != NULL;
    if (result->inner && strlen(due->response->update_json) > INNER_SHOWN_MAX) {
        result->response = need(arena_copy(arena, due->response, sizeof *due->response));
        result->response->update_json = unconst("");
    }
    return result;
}

static Renga__V1__StepResults *note_results(struct arena *arena, struct frame *frame, struct due *only)
{
    Renga__V1__StepResults *results = need(arena_alloc(arena, sizeof *results));
    renga__v1__step_results__init(results);
    results->place = need(arena_alloc(arena, 3 * FRAME_DEPTH_MAX * sizeof *results->place));
    results->n_place = frame_place(frame, results->place);
    results->step = frame->step + 1;
    size_t count = 0;
    for (struct due *due = frame->fresh; due; due = due->fresh_next)
        count++;
    results->results = need(arena_alloc(arena, (count + 1) * sizeof(*results->results)));
    struct due *rest = NULL, *last = NULL;
    for (struct due *due = frame->fresh, *next; due; due = next) {
        next = due->fresh_next;
        if (only && due != only) {
            due->fresh_next = NULL;
            if (last)
                last->fresh_next = due;
            else
                rest = due;
            last = due;
            continue;
        }
        due->fresh = false;
        if (due->recorded || due->state == DUE_PENDING)
            continue;
        due->recorded = true;
        results->results[results->n_results++] = note_result(arena, due);
    }
    frame->fresh = rest;
    frame->last_fresh = last;
    return results;
}

static void mark_fields(struct due *due, bool *seen)
{
    struct status ignored;
    if (!due_read_write(due, &ignored))
        return;
    for (size_t i = 0; due->written && i < due->write.count; i++)
        seen[write_field_index(&due->write, i)] = true;
}

static void note_earlier(struct arena *arena, const struct frame *frame, Renga__V1__StepResults *step)
{
    size_t count = 0;
    for (const struct due *due = frame->due; due; due = due->next)
        count += due->recorded;
    if (!count)
        return;
    step->earlier = need(arena_alloc(arena, count * sizeof *step->earlier));
    step->changed_fields = need(arena_alloc(arena, frame->graph->field_count * sizeof *step->changed_fields));
    bool *seen = need(calloc(frame->graph->field_count + 1, sizeof *seen));
    for (struct due *due = frame->due; due; due = due->next) {
        if (due->recorded && (!step->n_earlier || step->earlier[step->n_earlier - 1] != due->node->index))
            step->earlier[step->n_earlier++] = (uint32_t)due->node->index;
        mark_fields(due, seen);
    }
    for (size_t i = 0; i < frame->graph->field_count; i++)
        if (seen[i])
            step->changed_fields[step->n_changed_fields++] = (uint32_t)i;
    free(seen);
}

static void note_due(struct arena *arena, const struct frame *frame, Renga__V1__StepResults *step)
{
    size_t room = 0;
    for (const struct due *due = frame->due; due; due = due->next)
        room++;
    step->due = need(arena_alloc(arena, (room + 1) * sizeof *step->due));
    for (const struct due *due = frame->due; due; due = due->next)
        if (!step->n_due || step->due[step->n_due - 1] != due->node->index)
            step->due[step->n_due++] = (uint32_t)due->node->index;
}

/* What ended but does not end its step. */
static void record_kept(struct frame *frame)
{
    struct notes notes;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__StepResults *kept[1];
    if (!frame->fresh)
        return;
    arena_init(&notes.arena, notes.storage, sizeof notes.storage, FRAME_MEMORY_MAX);
    kept[0] = note_results(&notes.arena, frame, NULL);
    record.kept = kept;
    record.n_kept = 1;
    if (kept[0]->n_results)
        log_append(frame->thread, frame_run(frame), &record);
    arena_fini(&notes.arena);
}

static void conflicted(struct frame *frame, const struct status *st)
{
    struct run *run = frame_run(frame);
    if (!run->stopping) {
        run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT;
        run->stopping_code = (int)st->code;
        text_cut_copy(run->stopping_text, sizeof run->stopping_text, st->text);
    }
    frame_stop(frame->thread->root);
}

/* The step's record, and what the step leads to. A step that the state does not take leaves everything as it was. */
static void record_step(struct frame *frame, struct due *only)
{
    struct notes notes;
    struct status st = {0};
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__StepResults earlier = RENGA__V1__STEP_RESULTS__INIT;
    struct thread *thread = frame->thread;
    arena_init(&notes.arena, notes.storage, sizeof notes.storage, FRAME_MEMORY_MAX);
    if (!only)
        note_earlier(&notes.arena, frame, &earlier);
    record.step = note_results(&notes.arena, frame, only);
    record.step->earlier = earlier.earlier;
    record.step->n_earlier = earlier.n_earlier;
    record.step->changed_fields = earlier.changed_fields;
    record.step->n_changed_fields = earlier.n_changed_fields;
    if (fold_step(frame, only, &st)) {
        tally_step(thread->home->runner->options.tally, thread->home->loop, clock_now_ns() - frame->began_ns);
        note_due(&notes.arena, frame, record.step);
        uint64_t number = log_append(thread, thread->run, &record);
        if (!frame->parent)
            thread->head = thread->run->checkpoint = number;
        thread->steps_since++;
    } else {
        conflicted(frame, &st);
    }
    arena_fini(&notes.arena);
}

/* ---- a look at a frame --------------------------------------------------------------------------------------------
 */

static bool is_soft(const struct due *due)
{
    return due->state == DUE_FAILED && due->frame->graph->error_node && due->frame->graph->error_node != due->node;
}

static bool all_ended(const struct frame *frame)
{
    for (const struct due *due = frame->due; due; due = due->next)
        if (due->state != DUE_FINISHED && !is_soft(due))
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
        if (due->state != DUE_FINISHED && !is_soft(due))
            continue;
        struct run *run = frame_run(frame);
        int64_t step = frame->step;
        record_step(frame, due);
        if (frame->step == step || run->stopping)
            return;
    }
    bool pending = false;
    for (const struct due *due = frame->due; due; due = due->next)
        pending |= due->state == DUE_PENDING && !due->attempts && (!due->stands_before || due->has_leave);
    if (frame->phase == FRAME_ENDED)
        step_ended(frame);
    else if (frame->phase == FRAME_TO_BEGIN && (pending || !frame->busy))
        frame_await(frame);
    else if (!frame->busy)
        frame_stopped(frame);
    else
        record_kept(frame);
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
    bool blocked = frame->phase == FRAME_TO_BEGIN && !frame->awaits && (must_stand(frame) || run->stopping);
    if (frame->busy && !frame->graph->dataflow) {
        record_kept(frame);
    } else if (frame->phase == FRAME_ENDED) {
        step_ended(frame);
    } else if (blocked && !frame->busy) {
        record_kept(frame);
        frame_stopped(frame);
    } else if (frame->graph->dataflow && !run->stopping) {
        look_dataflow(frame);
    } else if (frame->busy || frame->awaits) {
        record_kept(frame);
    } else if (all_ended(frame)) {
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
