/* Applies records to the durable state. No function here starts work, reads a clock or writes: a loaded thread goes
 * through the same functions as a thread at work. */
#include "apply.h"
#include "branches.h"
#include "event_count.h"
#include "frame.h"
#include "interrupt.h"
#include "log/ids.h"
#include "memory.h"
#include "node_failures.h"
#include "node_response.h"
#include "pause_points.h"
#include "route.h"
#include "run.h"
#include "state/state.h"
#include "thread.h"

#include "proto/usage.h"

#include <assert.h>
#include <stdlib.h>

/* ---- results ----------------------------------------------------------------------------------------------------- */

void apply_spent(struct run *run, const Response *response)
{
    if (response->usage)
        usage_add(&run->usage, response->usage);
    for (size_t i = 0; i < response->n_degradations && run->degradation_count < 100; i++) {
        Renga__V1__Degradation *copy = message_copy(&run->arena, &response->degradations[i]->base);
        if (copy)
            run->degradations[run->degradation_count++] = copy;
    }
}

bool activation_read_write(struct activation *activation, struct status *st)
{
    const Response *response = activation->response;
    if (activation->written || !response)
        return true;
    struct write_source source = {
        .node = activation->node->name,
        .update_json = response->update_json,
        .update_size = strlen(response->update_json),
        .overwrite_fields = response->overwrite_fields,
        .overwrite_count = response->n_overwrite_fields,
        .clear_fields = response->clear_fields,
        .clear_count = response->n_clear_fields,
        .seed = activation_seed(activation) | 1,
    };
    activation->written =
        write_parse(activation->frame->graph, &source, activation->frame->arena, &activation->write, st);
    return activation->written;
}

/* In dataflow a node may be activated twice, each time by another step. NULL: there is none, or it has a result. */
static struct activation *activation_of_result(const struct frame *frame, const Renga__V1__TaskResult *result)
{
    struct activation *first = NULL, *other = NULL;
    int64_t step = result->due_step ? result->due_step : frame->step + 1;
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (activation->node->index != result->node || activation->state != ACTIVATION_PENDING)
            continue;
        if (activation->branch != result->branch) {
            other = !other && node_holds_graph(activation->node) ? activation : other; /* as frame_at has it */
            continue;
        }
        if (activation->step == step)
            return activation;
        first = first ? first : activation;
    }
    return first ? first : other;
}

static bool apply_task(struct frame *frame, const Renga__V1__TaskResult *result, int64_t now_ms, struct status *st)
{
    struct activation *activation = activation_of_result(frame, result);
    if (!activation)
        return fail(st, DATA_LOSS, "thread '%s': a record has a result of node %u of '%s', which does not wait for one",
                    frame->thread->id, result->node, frame->graph->name);
    activation->attempts = result->attempts_before + 1;
    activation->begun_in_log = false;
    activation->recorded = true;
    if (result->failed) {
        activation_move(activation, ACTIVATION_FAILED);
        activation->code = result->failed->status_code;
        activation->message = xnonnull(arena_strdup(frame->arena, result->failed->message));
        activation->reason = xnonnull(arena_strdup(frame->arena, result->failed->reason));
        activation->conflict = result->conflict;
        if (result->failed->usage)
            usage_add(&frame_run(frame)->usage, result->failed->usage);
        return true;
    }
    static const Response nothing = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    const Response *from = result->response ? result->response : &nothing;
    Response *response = xnonnull(message_copy(frame->arena, &from->base));
    if (!result->inner && !response_check(activation, response, st))
        return false;
    if (response->n_interrupts) {
        activation_move(activation, ACTIVATION_WAITING);
        apply_spent(frame_run(frame), response);
        return interrupts_add(activation, response, now_ms);
    }
    activation->response = response;
    activation_move(activation, ACTIVATION_FINISHED);
    if (!node_holds_graph(activation->node))
        apply_spent(frame_run(frame), response);
    return result->inner ? branches_gather(activation, st) : true;
}

static bool apply_results(struct thread *thread, const Renga__V1__StepResults *results, int64_t now_ms,
                          struct frame **frame, struct status *st)
{
    *frame = NULL;
    if (!thread->run || !thread->root)
        return fail(st, DATA_LOSS, "thread '%s': a record has results, but no run is at work", thread->id);
    *frame = frame_at(thread, results->place, results->n_place, st);
    for (size_t i = 0; *frame && i < results->n_results; i++)
        if (!apply_task(*frame, results->results[i], now_ms, st))
            return false;
    return *frame != NULL;
}

/* ---- a step that ended ------------------------------------------------------------------------------------------- */

static bool apply_reduce(struct frame *frame, struct activation *first, struct activation *only, struct status *st)
{
    size_t count = 0, room = 0;
    for (struct activation *activation = first; activation; activation = only ? NULL : activation->next)
        room++;
    struct write *writes = xnonnull(calloc(room + 1, sizeof *writes)), failures;
    bool good = true;
    for (struct activation *activation = first; good && activation; activation = only ? NULL : activation->next) {
        good = activation_read_write(activation, st);
        if (good && activation->written && activation->write.count)
            writes[count++] = activation->write;
    }
    good = good && failures_write(frame, first, only != NULL, &failures, st);
    if (good && failures.count)
        writes[count++] = failures;
    good = good && (frame->thread->replays || state_takes(frame->state, writes, count, st));
    good = good && (count == 0 || state_reduce(frame->state, writes, count, NULL, NULL, st));
    free(writes);
    return good;
}

static bool pauses_after(const struct frame *frame, const struct node *node)
{
    const struct run *run = frame_run(frame);
    for (size_t i = 0; i < frame->graph->interrupt_after_count; i++)
        if (frame->graph->interrupt_after[i] == node)
            return true;
    return run && guards_name(frame, node, run->request->interrupt_after, run->request->n_interrupt_after);
}

static void note_after(struct frame *frame, const struct node *node)
{
    if (!pauses_after(frame, node))
        return;
    for (size_t i = 0; i < frame->after_count; i++)
        if (frame->after[i] == node)
            return;
    if (!frame->after)
        frame->after = xnonnull(calloc(frame->graph->node_count, sizeof(*frame->after)));
    frame->after[frame->after_count++] = node;
}

static struct activation *apply_take_out(struct frame *frame, struct activation *only)
{
    struct activation **link = &frame->activations, *before = NULL;
    while (*link != only) {
        before = *link;
        link = &before->next;
    }
    *link = only->next;
    if (frame->last_activation == only)
        frame->last_activation = before;
    only->next = NULL;
    return only;
}

/* The nodes of the step that ended leave; the nodes after them are activated. A step that jumps out has written no
 * fields. */
static void apply_next_activations(struct frame *frame, struct activation *only)
{
    struct activation *done = only ? apply_take_out(frame, only) : frame->activations;
    if (!only)
        frame->activations = frame->last_activation = NULL;
    if (!frame->activations) {
        frame->arena = &frame->arenas[frame->arena == &frame->arenas[0]];
        arena_reset(frame->arena);
    }
    for (struct activation *activation = done; activation; activation = activation->next) {
        if (!frame->jump)
            route_outcome(frame, activation);
        note_after(frame, activation->node);
    }
    for (struct activation *activation = done; activation; activation = activation->next)
        activation_close(activation);
    if (!frame->jump)
        route_deferred(frame);
}

static bool find_jump(struct frame *frame, const struct activation *first)
{
    for (const struct activation *activation = first; activation; activation = activation->next)
        if (activation->response && *activation->response->goto_parent && frame->parent) {
            frame->jump = xnonnull(message_copy(frame->parent->frame->arena, &activation->response->base));
            return true;
        }
    return false;
}

bool apply_step(struct frame *frame, struct activation *only, struct status *st)
{
    if (!find_jump(frame, only ? only : frame->activations) &&
        !apply_reduce(frame, only ? only : frame->activations, only, st))
        return false;
    frame->step++;
    frame->after_count = 0;
    if (!frame->parent)
        frame_run(frame)->step++;
    apply_next_activations(frame, only);
    frame_move(frame, frame->jump || (!frame->activations && !frame->after_count) ? FRAME_ENDED : FRAME_TO_BEGIN);
    return true;
}

static bool apply_recorded_step(struct thread *thread, const Record *record, uint64_t number, struct status *st)
{
    struct frame *frame = NULL;
    const Renga__V1__StepResults *step = record->step;
    if (!apply_results(thread, step, record->time_ms, &frame, st))
        return false;
    assert(frame);
    struct activation *only = frame->graph->dataflow ? frame->activations : NULL;
    while (only && !activation_ended(only)) /* ended nodes are taken singly, in their order */
        only = only->next;
    if (frame->graph->dataflow ? !only : !frame_all_ended(frame))
        return fail(st, DATA_LOSS, "thread '%s': record %llu ends a step of '%s', but a node of it has no result",
                    thread->id, (unsigned long long)number, frame->graph->name);
    if (!apply_step(frame, only, st))
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

static struct interrupt *find_interrupt(struct frame *frame, const char *id)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        for (struct interrupt *interrupt = activation->interrupts; interrupt; interrupt = interrupt->next)
            if (strcmp(interrupt->id, id) == 0)
                return interrupt;
        for (size_t i = 0; i < activation->branch_count; i++) {
            struct interrupt *inner =
                activation->branches[i].frame ? find_interrupt(activation->branches[i].frame, id) : NULL;
            if (inner)
                return inner;
        }
    }
    return NULL;
}

struct interrupt *interrupt_find(struct thread *thread, const char *id)
{
    return thread->root ? find_interrupt(thread->root, id) : NULL;
}

bool apply_answer(struct thread *thread, const char *interrupt_id, const char *answer)
{
    struct interrupt *interrupt = interrupt_find(thread, interrupt_id);
    if (interrupt && thread->run) {
        interrupt->answer = arena_strdup(&thread->run->arena, answer);
        run_note_answered(thread->run, id_hash_text(ID_HASH, interrupt_id));
    }
    return interrupt != NULL;
}

static void apply_resume_activation(struct activation *activation, bool recovered)
{
    activation->tries = 0;
    activation->pauses_before = activation->pauses_before && recovered;
    activation->released |= !recovered;
    attempts_resume(activation, recovered);
    for (size_t i = 0; i < activation->branch_count; i++) {
        struct branch *branch = &activation->branches[i];
        if (branch->state == BRANCH_STOPPED) {
            branch_move(branch, BRANCH_OPEN);
            activation->settled--;
        }
        if (branch->state == BRANCH_OPEN)
            apply_resumed(branch->frame, recovered);
    }
    if (activation->state == ACTIVATION_FINISHED ||
        (activation->state == ACTIVATION_WAITING && !activation->branches && interrupts_open_count(activation)))
        return;
    activation_move(activation, ACTIVATION_PENDING);
    activation->recorded = false;
    activation->conflict = false;
}

void apply_resumed(struct frame *frame, bool recovered)
{
    frame_move(frame, FRAME_TO_BEGIN);
    frame->steps_before = recovered ? frame->steps_before : frame->step;
    if (!recovered)
        frame->after_count = 0;
    for (struct activation *activation = frame->activations; activation; activation = activation->next)
        apply_resume_activation(activation, recovered);
    if (!frame->activations && !frame->after_count)
        frame_move(frame, FRAME_ENDED);
}

/* Beyond the limit the oldest is dropped. */
static void apply_note_resumption(struct run *run, const Renga__V1__RunGoesOn *goes_on, int64_t now_ms)
{
    Renga__V1__RunResumption *one = xnonnull(arena_alloc(&run->arena, sizeof *one));
    renga__v1__run_resumption__init(one);
    one->time_ms = now_ms;
    one->client = xnonnull(arena_strdup(&run->arena, goes_on->client));
    one->timed_out = goes_on->timed_out;
    one->node = xnonnull(arena_strdup(&run->arena, goes_on->node));
    if (run->resumption_count == RESUMPTIONS_MAX)
        memmove(run->resumptions, run->resumptions + 1, --run->resumption_count * sizeof(*run->resumptions));
    run->resumptions[run->resumption_count++] = one;
}

static bool apply_goes_on(struct thread *thread, const Renga__V1__RunGoesOn *goes_on, uint64_t number, int64_t now_ms,
                          struct status *st)
{
    struct run *run = thread->run;
    if (!run || !thread->root)
        return fail(st, DATA_LOSS, "thread '%s': a run goes on that had not begun", thread->id);
    if (!run_check_move(run, RENGA__V1__RUN_STATE__RUN_STATE_RUNNING, st))
        return false;
    run_move(run, RENGA__V1__RUN_STATE__RUN_STATE_RUNNING);
    run->reason = RENGA__V1__STOP_REASON__STOP_REASON_UNSPECIFIED;
    run->text = "";
    run->status_code = 0;
    run->failure_count = 0;
    run->ended_ms = 0;
    run->updated_ms = now_ms;
    if (!goes_on->recovered) {
        apply_note_resumption(run, goes_on, now_ms);
        run->steps_before = run->step;
        run->active_period = number;
        run->active_period_ms = now_ms;
        if (!goes_on->timed_out)
            run->resumed = goes_on->request ? message_copy(&run->arena, &goes_on->request->base) : NULL;
    }
    apply_resumed(thread->root, goes_on->recovered);
    return true;
}

/* ---- a record ---------------------------------------------------------------------------------------------------- */

/* The loader has prepared the state that the run builds on; an empty state is made here. */
static bool apply_goes_to_work(struct thread *thread, struct run *run, const Record *record, uint64_t number,
                               struct status *st)
{
    struct thread *from = thread;
    if (!run || run == thread->run)
        return fail(st, DATA_LOSS, "thread '%s': record %llu lets a run go to work that did not wait for its turn",
                    thread->id, (unsigned long long)number);
    if (record->goes_back && !record->parent)
        from = thread_new(thread->shard, thread->tenant, thread->id);
    struct run *before = thread->run;
    bool good = apply_went_to_work(run, from, record->went_to_work->keeps_due, number, record->time_ms, st);
    if (good && before)
        run_free(before);
    if (!good && from != thread)
        thread_free(from);
    return good;
}

/* CancelRun of a run that its caller has left, and that is no longer in memory: only its row and its events change. */
static bool is_of_gone_run(const Record *record)
{
    const Renga__V1__RunChanged *changed = record->changed;
    return changed && changed->previous == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED &&
           changed->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED;
}

bool apply_parts(struct thread *thread, const Record *record, uint64_t number, struct status *st)
{
    struct frame *frame;
    struct run *run = NULL;
    if (record->begun) {
        run = apply_begun(thread, record->begun, record->run, number, record->time_ms);
        run->agent = thread_agent_for(thread, record->begun->graph_version);
        if (record->begun->first)
            thread_queue_first(thread, run);
    }
    for (struct run *queued = thread->queue; !run && queued; queued = queued->next)
        if (queued->number == record->run)
            run = queued;
    if (!run && thread->run && thread->run->number == record->run)
        run = thread->run;
    if (!run && record->run && !is_of_gone_run(record))
        return fail(st, DATA_LOSS, "thread '%s': record %llu is about run %u, which is not there", thread->id,
                    (unsigned long long)number, record->run);
    for (size_t i = 0; i < record->n_shown && run; i++) {
        if (!record->shown[i]->retried)
            continue;
        if (record->shown[i]->retried->usage)
            usage_add(&run->usage, record->shown[i]->retried->usage);
    }
    if (run && run == thread->run)
        apply_attempts(thread, record);
    if (record->went_to_work && !apply_goes_to_work(thread, run, record, number, st))
        return false;
    if (record->update && thread->root && !apply_update(thread, thread, record->update, number, record->time_ms, st))
        return false;
    if (record->update && run && run == thread->run)
        run->checkpoint = number;
    for (size_t i = 0; i < record->n_answers; i++)
        apply_answer(thread, record->answers[i]->interrupt_id, record->answers[i]->answer_json);
    if (record->goes_on && !apply_goes_on(thread, record->goes_on, number, record->time_ms, st))
        return false;
    for (size_t i = 0; i < record->n_kept; i++)
        if (!apply_results(thread, record->kept[i], record->time_ms, &frame, st))
            return false;
    if (record->step && !apply_recorded_step(thread, record, number, st))
        return false;
    if (record->changed && run) {
        if (!run_check_move(run, record->changed->state, st))
            return false;
        apply_changed(run, record->changed, record->time_ms);
        if (run != thread->run && run->ended_ms)
            thread_unqueue(thread, run);
    }
    if (record->migrated && !apply_migrated(run, record->migrated, number, record->time_ms, st))
        return false;
    return true;
}

bool apply_record(struct thread *thread, const Record *record, uint64_t number, struct status *st)
{
    if (!apply_parts(thread, record, number, st))
        return false;
    thread->last = number;
    thread->updated_ms = record->time_ms;
    thread->exists = true;
    struct run *run = thread->run;
    if (run && run->number == record->run) {
        run->updated_ms = record->time_ms;
        if (events_count(record))
            run->last_event = event_last(record, number);
    }
    return true;
}
