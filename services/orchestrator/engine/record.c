/* Records of ended work: results that did not end their step, and steps. */
#include "record.h"
#include "journal/journal_writer.h"
#include "monitor/node_log.h"
#include "node_cache.h"
#include "state/state.h"
#include "step.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>

#define INNER_PENDING_MAX 4096 /* bytes written by a sub-graph, in the record of its node */

/* Memory for a single record, until it is appended. */
struct notes {
    struct arena arena;
    char storage[2048];
};

static Renga__V1__TaskResult *note_result(struct arena *arena, const struct activation *activation)
{
    Renga__V1__TaskResult *result = xnonnull(arena_alloc(arena, sizeof *result));
    renga__v1__task_result__init(result);
    result->node = (uint32_t)activation->node->index;
    result->branch = activation->branch;
    result->attempts_before = activation->attempts ? activation->attempts - 1 : 0;
    result->duration_ms = activation->duration_ms;
    result->cached = activation->cached;
    result->due_step = activation->step == activation->frame->step + 1 ? 0 : activation->step;
    if (activation->state == ACTIVATION_FAILED) {
        result->failed = xnonnull(arena_alloc(arena, sizeof *result->failed));
        renga__v1__node_failed__init(result->failed);
        result->failed->attempt = (int32_t)activation->attempts;
        result->failed->status_code = activation->code;
        result->failed->message = unconst(activation->message);
        result->failed->reason = unconst(activation->reason);
        result->failed->duration_ms = activation->duration_ms;
        result->failed->usage = activation->spent;
        result->conflict = activation->conflict;
        return result;
    }
    result->response = activation->response;
    result->inner = activation->branches != NULL;
    if (result->inner && strlen(activation->response->update_json) > INNER_PENDING_MAX) {
        result->response = xnonnull(arena_copy(arena, activation->response, sizeof *activation->response));
        result->response->update_json = unconst("");
    }
    return result;
}

static Renga__V1__StepResults *note_results(struct arena *arena, struct frame *frame, struct activation *only)
{
    Renga__V1__StepResults *results = xnonnull(arena_alloc(arena, sizeof *results));
    renga__v1__step_results__init(results);
    results->place = xnonnull(arena_alloc(arena, 3 * FRAME_DEPTH_MAX * sizeof *results->place));
    results->n_place = frame_place(frame, results->place);
    results->step = frame->step + 1;
    size_t count = 0;
    for (struct activation *activation = frame->fresh; activation; activation = activation->fresh_next)
        count++;
    results->results = xnonnull(arena_alloc(arena, (count + 1) * sizeof(*results->results)));
    struct activation *rest = NULL, *last = NULL;
    for (struct activation *activation = frame->fresh, *next; activation; activation = next) {
        next = activation->fresh_next;
        if (only && activation != only) {
            activation->fresh_next = NULL;
            if (last)
                last->fresh_next = activation;
            else
                rest = activation;
            last = activation;
            continue;
        }
        activation->fresh = false;
        if (activation->recorded || activation->state == ACTIVATION_PENDING)
            continue;
        activation->recorded = true;
        results->results[results->n_results++] = note_result(arena, activation);
        cache_store(activation);
    }
    frame->fresh = rest;
    frame->last_fresh = last;
    return results;
}

static void mark_fields(struct activation *activation, bool *seen)
{
    struct status ignored;
    if (!activation_read_write(activation, &ignored))
        return;
    for (size_t i = 0; activation->written && i < activation->write.count; i++)
        seen[write_field_index(&activation->write, i)] = true;
}

static void note_earlier(struct arena *arena, const struct frame *frame, Renga__V1__StepResults *step)
{
    size_t count = 0;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        count += activation->recorded;
    if (!count)
        return;
    step->earlier = xnonnull(arena_alloc(arena, count * sizeof *step->earlier));
    step->changed_fields = xnonnull(arena_alloc(arena, frame->graph->field_count * sizeof *step->changed_fields));
    bool *seen = xnonnull(calloc(frame->graph->field_count + 1, sizeof *seen));
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (activation->recorded && (!step->n_earlier || step->earlier[step->n_earlier - 1] != activation->node->index))
            step->earlier[step->n_earlier++] = (uint32_t)activation->node->index;
        mark_fields(activation, seen);
    }
    for (size_t i = 0; i < frame->graph->field_count; i++)
        if (seen[i])
            step->changed_fields[step->n_changed_fields++] = (uint32_t)i;
    free(seen);
}

/* The field that the error node reads: no result has it. */
static void note_failures(struct arena *arena, const struct frame *frame, const struct activation *only,
                          Renga__V1__StepResults *step)
{
    const struct field *into = frame->graph->error_into;
    bool failed = false;
    for (const struct activation *activation = only ? only : frame->activations; activation;
         activation = only ? NULL : activation->next)
        failed |= activation->state == ACTIVATION_FAILED;
    if (!into || !failed)
        return;
    uint32_t *fields = xnonnull(arena_alloc(arena, (step->n_changed_fields + 1) * sizeof *fields));
    for (size_t i = 0; i < step->n_changed_fields; i++)
        fields[i] = step->changed_fields[i];
    fields[step->n_changed_fields++] = (uint32_t)into->index;
    step->changed_fields = fields;
}

static void note_activations(struct arena *arena, const struct frame *frame, Renga__V1__StepResults *step)
{
    size_t room = 0;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        room++;
    step->due = xnonnull(arena_alloc(arena, (room + 1) * sizeof *step->due));
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if (!step->n_due || step->due[step->n_due - 1] != activation->node->index)
            step->due[step->n_due++] = (uint32_t)activation->node->index;
}

/* Records the results that do not end their step. */
void record_results(struct frame *frame)
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
void record_step(struct frame *frame, struct activation *only)
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
    if (apply_step(frame, only, &st)) {
        node_log_write(frame, &logged);
        runner_metrics_step(thread->shard->runner->options.runner_metrics, thread->shard->loop,
                            clock_now_ns() - frame->began_ns);
        note_activations(&notes.arena, frame, record.step);
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
