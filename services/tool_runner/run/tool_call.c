#include "tool_call.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "instance/tool_runner_instance.h"
#include "observe.h"
#include "request_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {"idle", "queued", "beginning", "running", "ending", "settled"};
static const uint32_t moves[] = {
    [CALL_IDLE] =
        MACHINE_TO(CALL_QUEUED) | MACHINE_TO(CALL_BEGINNING) | MACHINE_TO(CALL_RUNNING) | MACHINE_TO(CALL_SETTLED),
    [CALL_QUEUED] = MACHINE_TO(CALL_BEGINNING) | MACHINE_TO(CALL_RUNNING) | MACHINE_TO(CALL_SETTLED),
    [CALL_BEGINNING] = MACHINE_TO(CALL_RUNNING) | MACHINE_TO(CALL_ENDING) | MACHINE_TO(CALL_SETTLED),
    [CALL_RUNNING] = MACHINE_TO(CALL_ENDING) | MACHINE_TO(CALL_SETTLED),
    [CALL_ENDING] = MACHINE_TO(CALL_SETTLED),
    [CALL_SETTLED] = 0,
};
static const struct machine machine = MACHINE("tool_call", states, moves);

#define UNCONST(text) ((char *)(uintptr_t)(text))

static void tool_call_move(struct tool_call *call, enum tool_call_state state)
{
    machine_move(&machine, &call->state, state);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static char *tool_call_keep_text(struct tool_call *call, const char *text)
{
    char *copy = arena_strdup(rpc_call_arena(call->rpc), text);
    return copy ? copy : UNCONST("");
}

static void init_result(struct tool_call *call)
{
    renga__v1__tool_result__init(&call->result);
    call->result.call_id = call->asked->call->id;
    call->result.name = tool_name_is_legal(call->asked->call->name) ? call->asked->call->name : UNCONST("");
}

void tool_call_refuse(struct tool_call *call, const struct status *status)
{
    init_result(call);
    call->result.status_code = (int32_t)status->code;
    call->result.message = tool_call_keep_text(call, status->text);
    tool_call_move(call, CALL_SETTLED);
    observe_call(call, false);
}

void tool_call_repeat(struct tool_call *call, const Renga__V1__ToolResult *recorded)
{
    call->result = *recorded;
    call->result.recorded = true;
    tool_call_move(call, CALL_SETTLED);
    observe_call(call, false);
}

static void tool_call_settle(struct tool_call *call)
{
    tool_call_move(call, CALL_SETTLED);
    observe_call(call, call->run && call->run->began_ns);
    call->settled(call);
}

static void settle_with(struct tool_call *call, enum status_code code, const char *text)
{
    init_result(call);
    call->result.status_code = (int32_t)code;
    call->result.message = tool_call_keep_text(call, text);
    tool_call_settle(call);
}

static void tool_call_take_result(struct tool_call *call)
{
    struct tool_run *run = call->run;
    init_result(call);
    call->result.name = UNCONST(run->tool->name);
    call->result.status_code = (int32_t)run->status.code;
    call->result.message = run->status.text;
    call->result.text = UNCONST(buffer_text(&run->text));
    if (run->structured)
        call->result.structured_json = run->structured;
    call->result.hits = run->hits;
    call->result.n_hits = run->hit_count;
    call->result.truncated = run->truncated;
    call->result.found_nothing = run->found_nothing && !run->hit_count;
    call->result.full_bytes = (int64_t)run->full_bytes;
    call->result.duration_ms = (clock_now_ns() - run->began_ns) / NS_PER_MS;
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void ended_on_disk(struct store_batch *batch)
{
    struct tool_call *call = CONTAINER_OF(batch, struct tool_call, batch);
    if (batch->status.code != OK)
        log_warn("tool_runner.record", "the end of a call of '%s' is not in the record: %s", call->entry.tool->name,
                 batch->status.text);
    store_batch_fini(batch);
    tool_call_settle(call);
}

static void release_run_slot(struct tool_call *call)
{
    if (call->has_run_slot)
        run_slot_release(call->runner->shared->run_slots, &call->run_slot);
    call->has_run_slot = false;
}

/* A call that was begun and given up stays begun in the record: its progress is unknown. */
static void record_the_end(struct tool_call *call)
{
    bool forget = call->in_record && (!call->run || call->run->untouched);
    bool keep = call->run && !call->run->untouched && !(call->cancelled && call->run->status.code == CANCELLED);
    if (!forget && !keep) {
        tool_call_settle(call);
        return;
    }
    store_batch_init(&call->batch, call->runner->loop, ended_on_disk);
    if (forget)
        record_forget(&call->batch, call->name, call->asked->call->id, call->due_ms);
    else
        record_put(&call->batch, call->name, call->asked->call->id, call->digest, call->due_ms, &call->result);
    tool_call_move(call, CALL_ENDING);
    store_commit(call->store, &call->batch);
}

static void run_ended(struct tool_run *run)
{
    struct tool_call *call = run->owner;
    release_run_slot(call);
    tool_call_take_result(call);
    record_the_end(call);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

static void tool_call_start(struct tool_call *call)
{
    tool_call_move(call, CALL_RUNNING);
    observe_start(call);
    tool_run_start(call->run);
}

/* Since the record was read, another tool-runner has begun the call, or a later owner has called. */
static void settle_begun(struct tool_call *call)
{
    init_result(call);
    call->result.status_code = ABORTED;
    call->result.message =
        tool_call_keep_text(call, "another tool-runner has just begun it under the same idempotency_key, or a "
                                  "later owner of the run has called; it was not run: look, before you call it anew");
    call->result.in_doubt = true;
    tool_call_settle(call);
}

static void begun_on_disk(struct store_batch *batch)
{
    struct tool_call *call = CONTAINER_OF(batch, struct tool_call, batch);
    struct status status = batch->status;
    store_batch_fini(batch);
    if (status.code == OK && !call->cancelled) {
        call->in_record = true;
        tool_call_start(call);
        return;
    }
    release_run_slot(call);
    tool_run_release(&call->run);
    if (status.code == OK) {
        call->in_record = true;
        init_result(call);
        record_the_end(call);
        return;
    }
    if (status.code == ABORTED) {
        settle_begun(call);
        return;
    }
    char text[STATUS_TEXT_MAX];
    snprintf(text, sizeof text, "not run, since it cannot be recorded: %.400s", status.text);
    settle_with(call, UNAVAILABLE, text);
}

static void run_slot_taken(struct tool_call *call)
{
    call->has_run_slot = true;
    loop_disarm(call->runner->loop, &call->queue_timeout);
    if (!call->entry.tool->side_effects) {
        tool_call_start(call);
        return;
    }
    store_batch_init(&call->batch, call->runner->loop, begun_on_disk);
    if (record_is_fenced(
            call->name,
            call->request->fencing_token)) /* its owner may have been overtaken while it waited for the run_slot */
        record_expect_fence(&call->batch, call->name, call->request->fencing_token);
    record_put(&call->batch, call->name, call->asked->call->id, call->digest, call->due_ms, NULL);
    tool_call_move(call, CALL_BEGINNING);
    store_commit(call->store, &call->batch);
}

static void run_slot_granted(struct run_slot *run_slot)
{
    struct tool_call *call = CONTAINER_OF(run_slot, struct tool_call, run_slot);
    if (!call->cancelled) {
        run_slot_taken(call);
        return;
    }
    run_slot_release(call->runner->shared->run_slots, run_slot);
    settle_with(call, CANCELLED, "the caller left");
}

static void queue_timed_out(struct timer *timer)
{
    struct tool_call *call = CONTAINER_OF(timer, struct tool_call, queue_timeout);
    char text[STATUS_TEXT_MAX];
    if (!run_slot_release(call->runner->shared->run_slots, &call->run_slot))
        return; /* it has a run_slot, after all */
    snprintf(text, sizeof text, "no slot for '%s' came free within %lld ms; call again later, or fewer at a time",
             call->entry.tool->name, (long long)call->queue_wait_ms);
    settle_with(call, RESOURCE_EXHAUSTED, text);
}

static void acquire_run_slot(struct tool_call *call)
{
    call->run_slot.loop = call->runner->loop;
    call->run_slot.granted = run_slot_granted;
    call->queue_timeout.expired = queue_timed_out;
    switch (run_slot_acquire(call->runner->shared->run_slots, &call->run_slot, call->name->tenant)) {
    case RUN_SLOT_TAKEN:
        run_slot_taken(call);
        return;
    case RUN_SLOT_QUEUED:
        tool_call_move(call, CALL_QUEUED);
        loop_arm_after(call->runner->loop, &call->queue_timeout, call->queue_wait_ms);
        return;
    case RUN_SLOT_REFUSED:
        settle_with(call, RESOURCE_EXHAUSTED, "too many tools are running and waiting; call again later");
        return;
    }
}

/* The request's key and the call's id as a single name, of the length that a key may have. */
struct call_key {
    char text[2 * RECORD_DIGEST + 1];
};

static struct call_key tool_call_make_key(const struct tool_call *call)
{
    struct call_key key;
    uint8_t digest[RECORD_DIGEST];
    record_digest(call->name->key, call->asked->call->id, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        key.text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        key.text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    key.text[2 * sizeof digest] = '\0';
    return key;
}

void tool_call_begin(struct tool_call *call, const struct catalog_entry *entry, cJSON *arguments)
{
    int32_t output_max = call->asked->output_max_bytes;
    struct call_key key = tool_call_make_key(call);
    call->entry = *entry;
    struct tool_run_options options = {
        .tool = entry->tool,
        .runner = call->runner,
        .release_tool = entry->release,
        .arguments = arguments,
        .arguments_json = call->asked->call->arguments_json[0] ? call->asked->call->arguments_json : "{}",
        .principal = rpc_call_principal(call->rpc),
        .key = key.text,
        .thread_id = call->name->thread,
        .run_id = call->name->run,
        .trace = rpc_call_trace(call->rpc),
        .timeout_ms = call->asked->timeout_ms ? call->asked->timeout_ms : entry->tool->timeout_ms,
        .output_max = output_max ? (size_t)output_max : RUN_OUTPUT_USUAL,
        .ended = run_ended,
        .owner = call,
    };
    call->run = tool_run_create(&options);
    if (call->run)
        acquire_run_slot(call);
    else
        settle_with(call, RESOURCE_EXHAUSTED, "there is no memory to run it; call again later");
}

void tool_call_stop(struct tool_call *call)
{
    call->cancelled = true;
    if (call->state == CALL_RUNNING) {
        tool_run_stop(call->run, CANCELLED, "the caller left");
    } else if (call->state == CALL_QUEUED) {
        loop_disarm(call->runner->loop, &call->queue_timeout);
        if (run_slot_release(call->runner->shared->run_slots, &call->run_slot))
            settle_with(call, CANCELLED, "the caller left");
    }
}

void tool_call_fini(struct tool_call *call)
{
    tool_run_release(&call->run);
}
