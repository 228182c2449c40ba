/* Applies records to the durable state. No function here starts work, reads a clock or writes: a loaded thread goes
 * through the same functions as a thread at work. */
#include "attempt.h"
#include "events.h"
#include "guards.h"
#include "migrate.h"
#include "run_priv.h"

#include "thinking/usage.h"

#include <assert.h>
#include <stdlib.h>

/* ---- results ----------------------------------------------------------------------------------------------------- */

void fold_spent(struct run *run, const Response *response)
{
    if (response->usage)
        usage_add(&run->usage, response->usage);
    for (size_t i = 0; i < response->n_degradations && run->degradation_count < 100; i++) {
        Renga__V1__Degradation *copy = message_copy(&run->arena, &response->degradations[i]->base);
        if (copy)
            run->degradations[run->degradation_count++] = copy;
    }
}

bool due_read_write(struct due *due, struct status *st)
{
    const Response *response = due->response;
    if (due->written || !response)
        return true;
    struct write_source source = {
        .node = due->node->name,
        .update_json = response->update_json,
        .update_size = strlen(response->update_json),
        .overwrite_fields = response->overwrite_fields,
        .overwrite_count = response->n_overwrite_fields,
        .clear_fields = response->clear_fields,
        .clear_count = response->n_clear_fields,
        .seed = due_seed(due) | 1,
    };
    due->written = write_parse(due->frame->graph, &source, due->frame->arena, &due->write, st);
    return due->written;
}

/* In dataflow a node may be due twice, each time of another step. */
static struct due *due_of(const struct frame *frame, const Renga__V1__TaskResult *result)
{
    struct due *first = NULL, *other = NULL;
    int64_t step = result->due_step ? result->due_step : frame->step + 1;
    for (struct due *due = frame->due; due; due = due->next) {
        if (due->node->index != result->node || due->state == DUE_FINISHED)
            continue;
        if (due->branch != result->branch) {
            other = !other && node_holds_graph(due->node) ? due : other; /* as frame_at has it */
            continue;
        }
        if (due->step == step)
            return due;
        first = first ? first : due;
    }
    return first ? first : other;
}

static bool fold_task(struct frame *frame, const Renga__V1__TaskResult *result, int64_t now_ms, struct status *st)
{
    struct due *due = due_of(frame, result);
    if (!due)
        return fail(st, DATA_LOSS, "thread '%s': a record has a result of node %u of '%s', which was not due",
                    frame->thread->id, result->node, frame->graph->name);
    due->attempts = result->attempts_before + 1;
    due->begun_in_log = false;
    due->recorded = true;
    if (result->failed) {
        due->state = DUE_FAILED;
        due->code = result->failed->status_code;
        due->message = need(arena_strdup(frame->arena, result->failed->message));
        due->reason = need(arena_strdup(frame->arena, result->failed->reason));
        due->conflict = result->conflict;
        if (result->failed->usage)
            usage_add(&frame_run(frame)->usage, result->failed->usage);
        return true;
    }
    static const Response nothing = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    const Response *from = result->response ? result->response : &nothing;
    Response *response = need(message_copy(frame->arena, &from->base));
    if (!result->inner && !response_check(due, response, st))
        return false;
    if (response->n_interrupts) {
        due->state = DUE_WAITING;
        fold_spent(frame_run(frame), response);
        return question_ask(due, response, now_ms);
    }
    due->response = response;
    due->state = DUE_FINISHED;
    if (!node_holds_graph(due->node))
        fold_spent(frame_run(frame), response);
    return result->inner ? branches_gather(due, st) : true;
}

static bool fold_results(struct thread *thread, const Renga__V1__StepResults *results, int64_t now_ms,
                         struct frame **frame, struct status *st)
{
    *frame = NULL;
    if (!thread->run || !thread->root)
        return fail(st, DATA_LOSS, "thread '%s': a record has results, but no run is at work", thread->id);
    *frame = frame_at(thread, results->place, results->n_place, st);
    for (size_t i = 0; *frame && i < results->n_results; i++)
        if (!fold_task(*frame, results->results[i], now_ms, st))
            return false;
    return *frame != NULL;
}

/* ---- a step that ended ------------------------------------------------------------------------------------------- */

static bool reduce(struct frame *frame, struct due *first, struct due *only, struct status *st)
{
    size_t count = 0, room = 0;
    for (struct due *due = first; due; due = only ? NULL : due->next)
        room++;
    struct write *writes = need(calloc(room + 1, sizeof *writes)), failures;
    bool good = true;
    for (struct due *due = first; good && due; due = only ? NULL : due->next) {
        good = due_read_write(due, st);
        if (good && due->written && due->write.count)
            writes[count++] = due->write;
    }
    good = good && failures_write(frame, first, only != NULL, &failures, st);
    if (good && failures.count)
        writes[count++] = failures;
    good = good && (frame->thread->replays || state_takes(frame->state, writes, count, st));
    good = good && (count == 0 || state_reduce(frame->state, writes, count, NULL, NULL, st));
    free(writes);
    return good;
}

static bool is_after(const struct frame *frame, const struct node *node)
{
    const struct run *run = frame_run(frame);
    for (size_t i = 0; i < frame->graph->interrupt_after_count; i++)
        if (frame->graph->interrupt_after[i] == node)
            return true;
    return run && guards_name(frame, node, run->request->interrupt_after, run->request->n_interrupt_after);
}

static void note_after(struct frame *frame, const struct node *node)
{
    if (!is_after(frame, node))
        return;
    for (size_t i = 0; i < frame->after_count; i++)
        if (frame->after[i] == node)
            return;
    if (!frame->after)
        frame->after = need(calloc(frame->graph->node_count, sizeof(*frame->after)));
    frame->after[frame->after_count++] = node;
}

static struct due *take_out(struct frame *frame, struct due *only)
{
    struct due **link = &frame->due, *before = NULL;
    while (*link != only) {
        before = *link;
        link = &before->next;
    }
    *link = only->next;
    if (frame->last_due == only)
        frame->last_due = before;
    only->next = NULL;
    return only;
}

/* The nodes of the step that ended leave; the nodes after them are due. A step that jumps out has written no fields. */
static void advance(struct frame *frame, struct due *only)
{
    struct due *done = only ? take_out(frame, only) : frame->due;
    if (!only)
        frame->due = frame->last_due = NULL;
    if (!frame->due) {
        frame->arena = &frame->arenas[frame->arena == &frame->arenas[0]];
        arena_reset(frame->arena);
    }
    for (struct due *due = done; due; due = due->next) {
        if (!frame->jump)
            route_outcome(frame, due);
        note_after(frame, due->node);
    }
    for (struct due *due = done; due; due = due->next)
        due_close(due);
    if (!frame->jump)
        route_deferred(frame);
}

static bool find_jump(struct frame *frame, const struct due *first)
{
    for (const struct due *due = first; due; due = due->next)
        if (due->response && *due->response->goto_parent && frame->parent) {
            frame->jump = need(message_copy(frame->parent->frame->arena, &due->response->base));
            return true;
        }
    return false;
}

bool fold_step(struct frame *frame, struct due *only, struct status *st)
{
    if (!find_jump(frame, only ? only : frame->due) && !reduce(frame, only ? only : frame->due, only, st))
        return false;
    frame->step++;
    frame->after_count = 0;
    if (!frame->parent)
        frame_run(frame)->step++;
    advance(frame, only);
    frame->phase = frame->jump || (!frame->due && !frame->after_count) ? FRAME_ENDED : FRAME_TO_BEGIN;
    return true;
}

static bool fold_recorded_step(struct thread *thread, const Record *record, uint64_t number, struct status *st)
{
    struct frame *frame = NULL;
    const Renga__V1__StepResults *step = record->step;
    if (!fold_results(thread, step, record->time_ms, &frame, st))
        return false;
    assert(frame);
    struct due *only = frame->graph->dataflow ? frame->due : NULL;
    while (only && !due_ended(only)) /* ended nodes are taken singly, in their order */
        only = only->next;
    if (frame->graph->dataflow ? !only : !frame_all_ended(frame))
        return fail(st, DATA_LOSS, "thread '%s': record %llu ends a step of '%s', but a node of it has no result",
                    thread->id, (unsigned long long)number, frame->graph->name);
    if (!fold_step(frame, only, st))
        return false;
    if (!frame->parent) {
        thread->head = number;
        thread->run->checkpoint = number;
    } else if (frame->phase == FRAME_ENDED) {
        branch_ended(frame);
    }
    return true;
}

/* ---- answers, and going on --------------------------------------------------------------------------------------- */

static struct question *find_question(struct frame *frame, const char *id)
{
    for (struct due *due = frame->due; due; due = due->next) {
        for (struct question *question = due->questions; question; question = question->next)
            if (strcmp(question->id, id) == 0)
                return question;
        for (size_t i = 0; i < due->branch_count; i++) {
            struct question *inner = due->branches[i].frame ? find_question(due->branches[i].frame, id) : NULL;
            if (inner)
                return inner;
        }
    }
    return NULL;
}

struct question *question_find(struct thread *thread, const char *id)
{
    return thread->root ? find_question(thread->root, id) : NULL;
}

bool fold_answer(struct thread *thread, const char *interrupt_id, const char *answer)
{
    struct question *question = question_find(thread, interrupt_id);
    if (question && thread->run) {
        question->answer = arena_strdup(&thread->run->arena, answer);
        run_note_answered(thread->run, id_hash_text(ID_HASH, interrupt_id));
    }
    return question != NULL;
}

static void resume_due(struct due *due, bool recovered)
{
    due->tries = 0;
    due->stands_before = due->stands_before && recovered;
    due->has_leave |= !recovered;
    attempts_resume(due, recovered);
    for (size_t i = 0; i < due->branch_count; i++) {
        struct branch *branch = &due->branches[i];
        if (branch->state == BRANCH_STOPPED) {
            branch->state = BRANCH_OPEN;
            due->settled--;
        }
        if (branch->state == BRANCH_OPEN)
            fold_resumed(branch->frame, recovered);
    }
    if (due->state == DUE_FINISHED || (due->state == DUE_WAITING && !due->branches && question_open_count(due)))
        return;
    due->state = DUE_PENDING;
    due->recorded = false;
    due->conflict = false;
}

void fold_resumed(struct frame *frame, bool recovered)
{
    frame->phase = FRAME_TO_BEGIN;
    frame->steps_before = recovered ? frame->steps_before : frame->step;
    if (!recovered)
        frame->after_count = 0;
    for (struct due *due = frame->due; due; due = due->next)
        resume_due(due, recovered);
    if (!frame->due && !frame->after_count)
        frame->phase = FRAME_ENDED;
}

/* Beyond the limit the oldest is forgotten. */
static void fold_note_resumption(struct run *run, const Renga__V1__RunGoesOn *goes_on, int64_t now_ms)
{
    Renga__V1__RunResumption *one = need(arena_alloc(&run->arena, sizeof *one));
    renga__v1__run_resumption__init(one);
    one->time_ms = now_ms;
    one->client = need(arena_strdup(&run->arena, goes_on->client));
    one->timed_out = goes_on->timed_out;
    one->node = need(arena_strdup(&run->arena, goes_on->node));
    if (run->resumption_count == RESUMPTIONS_MAX)
        memmove(run->resumptions, run->resumptions + 1, --run->resumption_count * sizeof(*run->resumptions));
    run->resumptions[run->resumption_count++] = one;
}

static bool fold_goes_on(struct thread *thread, const Renga__V1__RunGoesOn *goes_on, uint64_t number, int64_t now_ms,
                         struct status *st)
{
    struct run *run = thread->run;
    if (!run || !thread->root)
        return fail(st, DATA_LOSS, "thread '%s': a run goes on that had not begun", thread->id);
    run->state = RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
    run->reason = RENGA__V1__STOP_REASON__STOP_REASON_UNSPECIFIED;
    run->text = "";
    run->status_code = 0;
    run->failure_count = 0;
    run->ended_ms = 0;
    run->updated_ms = now_ms;
    if (!goes_on->recovered) {
        fold_note_resumption(run, goes_on, now_ms);
        run->steps_before = run->step;
        run->spell = number;
        run->spell_ms = now_ms;
        if (!goes_on->timed_out)
            run->resumed = goes_on->request ? message_copy(&run->arena, &goes_on->request->base) : NULL;
    }
    fold_resumed(thread->root, goes_on->recovered);
    return true;
}

/* ---- a record ---------------------------------------------------------------------------------------------------- */

/* The loader has prepared the state that the run builds on; an empty state is made here. */
static bool fold_goes_to_work(struct thread *thread, struct run *run, const Record *record, uint64_t number,
                              struct status *st)
{
    struct thread *from = thread;
    if (!run || run == thread->run)
        return fail(st, DATA_LOSS, "thread '%s': record %llu lets a run go to work that did not wait for its turn",
                    thread->id, (unsigned long long)number);
    if (record->goes_back && !record->parent)
        from = thread_new(thread->home, thread->tenant, thread->id);
    bool good = fold_went_to_work(run, from, record->went_to_work->keeps_due, number, record->time_ms, st);
    if (!good && from != thread)
        thread_free(from);
    return good;
}

bool fold_parts(struct thread *thread, const Record *record, uint64_t number, struct status *st)
{
    struct frame *frame;
    struct run *run = NULL;
    if (record->begun) {
        run = fold_begun(thread, record->begun, record->run, number, record->time_ms);
        run->agent = thread_agent_for(thread, record->begun->graph_version);
        if (record->begun->first)
            thread_queue_first(thread, run);
    }
    for (struct run *queued = thread->queue; !run && queued; queued = queued->next)
        if (queued->number == record->run)
            run = queued;
    if (!run && thread->run && thread->run->number == record->run)
        run = thread->run;
    if (!run && record->run)
        return fail(st, DATA_LOSS, "thread '%s': record %llu is about run %u, which is not there", thread->id,
                    (unsigned long long)number, record->run);
    for (size_t i = 0; i < record->n_shown && run; i++) {
        if (!record->shown[i]->retried)
            continue;
        if (record->shown[i]->retried->usage)
            usage_add(&run->usage, record->shown[i]->retried->usage);
    }
    if (run && run == thread->run)
        fold_attempts(thread, record);
    if (record->went_to_work && !fold_goes_to_work(thread, run, record, number, st))
        return false;
    if (record->update && thread->root && !fold_update(thread, thread, record->update, number, record->time_ms, st))
        return false;
    if (record->update && run && run == thread->run)
        run->checkpoint = number;
    for (size_t i = 0; i < record->n_answers; i++)
        fold_answer(thread, record->answers[i]->interrupt_id, record->answers[i]->answer_json);
    if (record->goes_on && !fold_goes_on(thread, record->goes_on, number, record->time_ms, st))
        return false;
    for (size_t i = 0; i < record->n_kept; i++)
        if (!fold_results(thread, record->kept[i], record->time_ms, &frame, st))
            return false;
    if (record->step && !fold_recorded_step(thread, record, number, st))
        return false;
    if (record->changed && run) {
        fold_changed(run, record->changed, record->time_ms);
        if (run != thread->run && run->ended_ms)
            thread_unqueue(thread, run);
    }
    if (record->migrated && !fold_migrated(run, record->migrated, number, record->time_ms, st))
        return false;
    return true;
}

bool fold_record(struct thread *thread, const Record *record, uint64_t number, struct status *st)
{
    if (!fold_parts(thread, record, number, st))
        return false;
    thread->last = number;
    thread->updated_ms = record->time_ms;
    thread->exists = true;
    struct run *run = thread->run;
    if (run && run->number == record->run) {
        run->updated_ms = record->time_ms;
        uint32_t events = events_count(record);
        if (events)
            run->last_event = (int64_t)(number << EVENT_NUMBER_BITS | (record->first_event + events - 1));
    }
    return true;
}
