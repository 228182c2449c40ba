/* Records of ended work: results that did not end their step, and steps. */
#include "keep.h"
#include "node_log.h"
#include "run_priv.h"

#include "base/clock.h"

#include <stdlib.h>

#define INNER_SHOWN_MAX 4096 /* bytes written by a sub-graph, in the record of its node */

/* Memory for a single record, until it is appended. */
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
        result->failed->reason = unconst(due->reason);
        result->failed->duration_ms = due->duration_ms;
        result->failed->usage = due->spent;
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
        cache_keep(due);
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

/* The field that the error node reads: no result has it. */
static void note_failures(struct arena *arena, const struct frame *frame, const struct due *only,
                          Renga__V1__StepResults *step)
{
    const struct field *into = frame->graph->error_into;
    bool failed = false;
    for (const struct due *due = only ? only : frame->due; due; due = only ? NULL : due->next)
        failed |= due->state == DUE_FAILED;
    if (!into || !failed)
        return;
    uint32_t *fields = need(arena_alloc(arena, (step->n_changed_fields + 1) * sizeof *fields));
    for (size_t i = 0; i < step->n_changed_fields; i++)
        fields[i] = step->changed_fields[i];
    fields[step->n_changed_fields++] = (uint32_t)into->index;
    step->changed_fields = fields;
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

/* Records the results that do not end their step. */
void record_kept(struct frame *frame)
{
    struct notes notes;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__StepResults *kept[1];
    if (!frame->fresh)
        return;
    node_log_failures(frame);
    arena_init(&notes.arena, notes.storage, sizeof notes.storage, FRAME_MEMORY_MAX);
    kept[0] = note_results(&notes.arena, frame, NULL);
    record.kept = kept;
    record.n_kept = 1;
    if (kept[0]->n_results) {
        frame_logged(frame);
        log_append(frame->thread, frame_run(frame), &record);
    }
    arena_fini(&notes.arena);
}

/* A reader of the log must open the graph, too: no record of a result shows that it was opened. */
void record_opened(struct frame *frame)
{
    uint32_t place[3 * FRAME_DEPTH_MAX];
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__StepResults opened = RENGA__V1__STEP_RESULTS__INIT, *kept[] = {&opened};
    opened.place = place;
    opened.n_place = frame_place(frame, place);
    opened.step = frame->step + 1;
    record.kept = kept;
    record.n_kept = 1;
    frame_logged(frame);
    log_append(frame->thread, frame_run(frame), &record);
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

/* Appends the step's record, and activates the next nodes. A step that the state rejects leaves all unchanged. */
void record_step(struct frame *frame, struct due *only)
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
    note_failures(&notes.arena, frame, only, record.step);
    struct node_log_step logged = node_log_note(&notes.arena, frame, only);
    if (fold_step(frame, only, &st)) {
        node_log_write(frame, &logged);
        tally_step(thread->home->runner->options.tally, thread->home->loop, clock_now_ns() - frame->began_ns);
        note_due(&notes.arena, frame, record.step);
        frame_logged(frame);
        uint64_t number = log_append(thread, thread->run, &record);
        if (!frame->parent)
            thread->head = thread->run->checkpoint = number;
        thread->steps_since++;
    } else {
        conflicted(frame, &st);
    }
    arena_fini(&notes.arena);
}
