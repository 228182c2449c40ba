/* A thread between two steps, as bytes, and back. */
#include "snapshot.h"
#include "apply.h"
#include "branches.h"
#include "frame.h"
#include "graph/agents.h"
#include "interrupt.h"
#include "memory.h"
#include "run.h"
#include "run_message.h"
#include "shard.h"
#include "state/state.h"
#include "thread.h"

#include "base/buffer.h"
#include "base/container_of.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool frame_is_between_steps(const struct frame *frame)
{
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        if ((activation->state != ACTIVATION_PENDING && activation->state != ACTIVATION_READY &&
             activation->state != ACTIVATION_AT_WORK) ||
            activation->branches || activation->interrupts || activation->attempts > (activation->attempt ? 1u : 0u))
            return false;
    return true;
}

bool snapshot_possible(const struct thread *thread)
{
    if (!thread->root || (thread->run && thread->run->pending_event_count > 0))
        return false;
    for (const struct memory *memory = thread->memories; memory; memory = memory->next)
        if (!memory->state)
            return false;
    return thread->root->phase != FRAME_AT_WORK && frame_is_between_steps(thread->root);
}

/* ---- written ----------------------------------------------------------------------------------------------------- */

static ProtobufCBinaryData snapshot_mark_state(struct snapshot *snapshot, const struct state *state)
{
    ProtobufCBinaryData bytes = {.len = state_snapshot_size(state), .data = (uint8_t *)(uintptr_t)state};
    if (bytes.len)
        snapshot->states[snapshot->state_count++] = state;
    return bytes;
}

static Renga__V1__DueSnapshot *snapshot_of_activation(struct arena *arena, const struct activation *activation)
{
    Renga__V1__DueSnapshot *message = xnonnull(arena_alloc(arena, sizeof *message));
    renga__v1__due_snapshot__init(message);
    message->node = (uint32_t)activation->node->index;
    message->branch = activation->branch;
    message->sent = activation->sent;
    message->input_json = unconst(activation->input);
    message->has_leave = activation->released || !activation->pauses_before;
    message->overrun = activation->overrun;
    message->due_step = activation->step == activation->frame->step + 1 ? 0 : activation->step;
    message->attempts = activation->attempts;
    message->attempts_within = activation->taken_up;
    return message;
}

static void write_joins(struct arena *arena, const struct frame *frame, Renga__V1__FrameSnapshot *message)
{
    size_t count = frame->graph->node_count, room = 0;
    for (size_t i = 0; frame->arrived && i < count * count; i++)
        room += frame->arrived[i];
    message->joins = xnonnull(arena_alloc(arena, (room * 3 + 1) * sizeof *message->joins));
    for (size_t i = 0; frame->arrived && i < count; i++) {
        size_t at = message->n_joins;
        for (size_t j = 0; j < count; j++) {
            if (!frame->arrived[i * count + j])
                continue;
            if (message->n_joins == at) {
                message->joins[message->n_joins++] = (uint32_t)i;
                message->joins[message->n_joins++] = 0;
            }
            message->joins[at + 1]++;
            message->joins[message->n_joins++] = (uint32_t)j;
        }
    }
}

static Renga__V1__FrameSnapshot *frame_snapshot(struct arena *arena, const struct frame *frame,
                                                struct snapshot *snapshot)
{
    Renga__V1__FrameSnapshot *message = xnonnull(arena_alloc(arena, sizeof *message));
    size_t count = 0, nodes = frame->graph->node_count;
    renga__v1__frame_snapshot__init(message);
    message->state = snapshot_mark_state(snapshot, frame->state);
    message->step = frame->step;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        count++;
    message->due = xnonnull(arena_alloc(arena, (count + 1) * sizeof(*message->due)));
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        message->due[message->n_due++] = snapshot_of_activation(arena, activation);
    message->visits = frame->visits;
    message->n_visits = nodes;
    message->deferred = xnonnull(arena_alloc(arena, (nodes + 1) * sizeof *message->deferred));
    for (size_t i = 0; i < nodes; i++)
        if (frame->deferred[i])
            message->deferred[message->n_deferred++] = (uint32_t)i;
    message->after = xnonnull(arena_alloc(arena, (nodes + 1) * sizeof *message->after));
    for (size_t i = 0; i < frame->after_count; i++)
        message->after[message->n_after++] = (uint32_t)frame->after[i]->index;
    write_joins(arena, frame, message);
    return message;
}

static Renga__V1__RunSnapshot *run_snapshot(struct arena *arena, const struct run *run)
{
    Renga__V1__RunSnapshot *message = xnonnull(arena_alloc(arena, sizeof *message));
    renga__v1__run_snapshot__init(message);
    message->number = run->number;
    message->begun = run->begun;
    message->run = answer_run(arena, run, ANSWER_LISTED);
    answer_resumptions(arena, run, message->run);
    message->worked_ms = run_worked_ms(run);
    message->steps_before = run->steps_before;
    message->resumed = run->resumed;
    message->first_record = run->first_record;
    message->began_on = run->began_on;
    message->spell = run->active_period;
    message->spell_ms = run->active_period_ms;
    message->checkpoint = run->checkpoint;
    message->migrated = run->migrated;
    message->answered = run->answered;
    message->n_answered = run->answered_count;
    message->due_by_hand = run->activated_by_hand;
    return message;
}

struct snapshot snapshot_make(const struct thread *thread, struct arena *arena)
{
    Renga__V1__ThreadSnapshot *message = xnonnull(arena_alloc(arena, sizeof *message));
    struct snapshot snapshot = {.message = message};
    size_t runs = 1, memories = 0;
    for (const struct run *run = thread->queue; run; run = run->next)
        runs++;
    for (const struct memory *memory = thread->memories; memory; memory = memory->next)
        memories++;
    snapshot.states = xnonnull(arena_alloc(arena, (memories + 1) * sizeof(*snapshot.states)));
    renga__v1__thread_snapshot__init(message);
    message->agent = unconst(thread->agent ? thread->agent->name : "");
    message->graph_version = thread->agent ? thread->agent->version : unconst("");
    message->created_ms = thread->created_ms;
    message->retention = thread->retention;
    message->runs_begun = thread->runs_begun;
    message->runs = xnonnull(arena_alloc(arena, runs * sizeof(*message->runs)));
    if (thread->run)
        message->runs[message->n_runs++] = run_snapshot(arena, thread->run);
    for (const struct run *run = thread->queue; run; run = run->next)
        message->runs[message->n_runs++] = run_snapshot(arena, run);
    message->has_run = thread->run != NULL;
    message->root = thread->root ? frame_snapshot(arena, thread->root, &snapshot) : NULL;
    message->memories = xnonnull(arena_alloc(arena, (memories + 1) * sizeof(*message->memories)));
    for (const struct memory *memory = thread->memories; memory; memory = memory->next) {
        Renga__V1__MemorySnapshot *copied = xnonnull(arena_alloc(arena, sizeof *copied));
        renga__v1__memory_snapshot__init(copied);
        copied->path = memory->path;
        copied->state = snapshot_mark_state(&snapshot, memory->state);
        copied->graph = unconst(state_graph(memory->state)->name);
        message->memories[message->n_memories++] = copied;
    }
    message->head = thread->head;
    message->updated_ms = thread->updated_ms;
    return snapshot;
}

struct packing {
    ProtobufCBuffer base;
    const struct snapshot *snapshot;
    size_t next; /* of the snapshot's states */
    uint8_t *at;
};

static void snapshot_pack_state(struct packing *packing, const struct state *state, size_t size)
{
    struct buffer out = state_room(packing->at, size);
    state_snapshot(state, &out);
    assert(out.length == size);
    packing->next++;
}

static void snapshot_pack_bytes(ProtobufCBuffer *base, size_t size, const uint8_t *bytes)
{
    struct packing *packing = CONTAINER_OF(base, struct packing, base);
    const struct snapshot *snapshot = packing->snapshot;
    const void *marked = packing->next < snapshot->state_count ? snapshot->states[packing->next] : NULL;
    if (marked && bytes == marked)
        snapshot_pack_state(packing, marked, size);
    else if (size)
        memcpy(packing->at, bytes, size);
    packing->at += size;
}

void snapshot_pack(const struct snapshot *snapshot, uint8_t *bytes)
{
    struct packing packing = {.base.append = snapshot_pack_bytes, .snapshot = snapshot, .at = bytes};
    protobuf_c_message_pack_to_buffer(&snapshot->message->base, &packing.base);
    assert(packing.next == snapshot->state_count);
}

/* ---- read -------------------------------------------------------------------------------------------------------- */

static bool snapshot_unreadable(const struct thread *thread, struct status *st)
{
    return fail(st, DATA_LOSS, "the snapshot of thread '%s' does not fit its graph", thread->id);
}

static bool snapshot_read_activation(struct frame *frame, const Renga__V1__DueSnapshot *message)
{
    if (message->node >= frame->graph->node_count)
        return false;
    struct activation *activation = frame_activate(frame, &frame->graph->nodes[message->node]);
    activation->branch = message->branch;
    activation->sent = message->sent;
    activation->input = message->sent ? xnonnull(arena_strdup(frame->arena, message->input_json)) : NULL;
    activation->released = message->has_leave;
    activation->pauses_before = !message->has_leave;
    activation->overrun = message->overrun;
    activation->step = message->due_step ? message->due_step : activation->step;
    activation->attempts = message->attempts;
    activation->taken_up = message->attempts_within;
    activation->begun_in_log = message->attempts > 0;
    return true;
}

static bool read_joins(struct frame *frame, const Renga__V1__FrameSnapshot *message)
{
    size_t nodes = frame->graph->node_count;
    if (message->n_joins)
        frame->arrived = xnonnull(calloc(nodes, nodes * sizeof *frame->arrived));
    for (size_t i = 0; i + 1 < message->n_joins;) {
        uint32_t node = message->joins[i], count = message->joins[i + 1];
        i += 2;
        for (; count && i < message->n_joins; count--, i++) {
            if (node >= nodes || message->joins[i] >= nodes)
                return false;
            frame->arrived[node * nodes + message->joins[i]] = true;
        }
    }
    return true;
}

static bool read_frame(struct frame *frame, const Renga__V1__FrameSnapshot *message, struct state **state,
                       struct status *st)
{
    size_t nodes = frame->graph->node_count;
    frame->step = message->step;
    if (*state) {
        state_destroy(&frame->state);
        frame->state = *state;
        *state = NULL;
    } else if (!state_apply(frame->state, message->state.data, message->state.len, st))
        return false;
    for (size_t i = 0; i < message->n_due; i++)
        if (!snapshot_read_activation(frame, message->due[i]))
            return snapshot_unreadable(frame->thread, st);
    if (message->n_visits == nodes)
        memcpy(frame->visits, message->visits, nodes * sizeof *frame->visits);
    for (size_t i = 0; i < message->n_deferred; i++)
        if (message->deferred[i] < nodes)
            frame->deferred[message->deferred[i]] = true;
    frame->after = xnonnull(calloc(nodes, sizeof(*frame->after)));
    for (size_t i = 0; i < message->n_after && i < nodes; i++)
        if (message->after[i] < nodes)
            frame->after[frame->after_count++] = &frame->graph->nodes[message->after[i]];
    frame_move(frame, frame->activations || frame->after_count ? FRAME_TO_BEGIN : FRAME_ENDED);
    return read_joins(frame, message) || snapshot_unreadable(frame->thread, st);
}

static bool snapshot_read_run(struct thread *thread, const Renga__V1__RunSnapshot *message, bool waits)
{
    const Renga__V1__Run *from = message->run;
    struct run *run = apply_begun(thread, message->begun, message->number, message->first_record, from->created_ms);
    Renga__V1__RunChanged changed = RENGA__V1__RUN_CHANGED__INIT;
    if (!run_take_state(run, from->state, waits))
        return false;
    changed.state = from->state;
    changed.stop_reason = from->stop_reason;
    changed.stop_text = from->stop_text;
    changed.status_code = from->status_code;
    changed.reason = from->reason;
    changed.undone = from->undone;
    apply_changed_fields(run, &changed, from->updated_ms);
    run->agent = thread_agent_for(thread, message->begun->graph_version);
    if (from->usage)
        run->usage = *from->usage;
    for (size_t i = 0; i < from->n_degradations && i < 100; i++)
        run->degradations[run->degradation_count++] = xnonnull(message_copy(&run->arena, &from->degradations[i]->base));
    for (size_t i = 0; i < from->n_resumptions && i < RESUMPTIONS_MAX; i++)
        run->resumptions[run->resumption_count++] = xnonnull(message_copy(&run->arena, &from->resumptions[i]->base));
    run->step = from->step;
    run->steps_before = message->steps_before;
    run->checkpoint = message->checkpoint;
    run->migrated = message->migrated;
    for (size_t i = 0; i < message->n_answered; i++)
        run_note_answered(run, message->answered[i]);
    run->activated_by_hand = message->due_by_hand;
    run->began_on = message->began_on;
    run->active_period = message->spell;
    run->active_period_ms = message->spell_ms ? message->spell_ms : from->started_ms;
    run->last_event = from->last_event_id;
    run->started_ms = from->started_ms;
    run->ended_ms = from->ended_ms;
    run->worked_ms = message->worked_ms;
    run->resumed = message->resumed ? message_copy(&run->arena, &message->resumed->base) : NULL;
    return true;
}

static bool read_memory(struct thread *thread, const Renga__V1__MemorySnapshot *message, struct status *st)
{
    const struct graph *graph = agent_graph(thread->agent, message->graph);
    if (!graph)
        return snapshot_unreadable(thread, st);
    struct memory *memory = xnonnull(calloc(1, sizeof *memory));
    memory->path = xnonnull(strdup(message->path));
    memory->state = state_create(graph);
    memory->next = thread->memories;
    thread->memories = memory;
    return state_apply(memory->state, message->state.data, message->state.len, st);
}

bool snapshot_read(struct thread *thread, const Renga__V1__ThreadSnapshot *message, uint64_t number,
                   struct state **state, struct status *st)
{
    thread->exists = true;
    thread->last = thread->committed = thread->snapshot = number;
    thread->head = message->head;
    thread->created_ms = message->created_ms;
    thread->updated_ms = message->updated_ms;
    thread->runs_begun = message->runs_begun;
    if (message->retention)
        thread_set_retention(thread, message->retention);
    if (*message->graph_version) {
        struct agent *agent = thread_agent_for(thread, message->graph_version);
        if (!agent)
            return fail(st, NOT_FOUND, "the version %s of agent '%s' is not there any more", message->graph_version,
                        message->agent);
        thread_take_agent(thread, agent);
        agent_release(thread->shard->runner->options.agents, agent);
        thread->root = frame_create(thread, agent->graph, NULL, 0);
    }
    for (size_t i = 0; i < message->n_runs; i++)
        if (!snapshot_read_run(thread, message->runs[i], i || !message->has_run))
            return snapshot_unreadable(thread, st);
    if (message->has_run && thread->queue) {
        thread->run = thread->queue;
        thread->queue = thread->run->next;
        thread->run->next = NULL;
    }
    if (thread->root && message->root && !read_frame(thread->root, message->root, state, st))
        return false;
    bool works = thread->root && thread->run && thread->run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
    for (struct activation *activation = works ? thread->root->activations : NULL; activation;
         activation = activation->next)
        branches_prepare_early(
            activation); /* it has just gone to work: no later snapshot has an activation with branches */
    for (size_t i = 0; i < message->n_memories; i++)
        if (!read_memory(thread, message->memories[i], st))
            return false;
    return true;
}
