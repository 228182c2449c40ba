/* Reads the record of a request, and writes to it before any tool runs. */
#include "base/clock.h"
#include "record/records.h"
#include "rpc/call.h"
#include "run_request.h"

#include <stdio.h>
#include <string.h>

/* ---- the record -------------------------------------------------------------------------------------------------- */

static void fence_read(struct store_scan *scan)
{
    run_request_advance(CONTAINER_OF(scan, struct run_request, fence));
}

static void run_record_rows_read(struct store_scan *scan)
{
    run_request_advance(CONTAINER_OF(scan, struct run_request, rows));
}

void run_record_fini(struct run_request *self)
{
    if (!self->scanned)
        return;
    store_scan_fini(&self->fence);
    store_scan_fini(&self->rows);
    self->scanned = false;
}

void run_record_read(struct run_request *self)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    run_record_fini(self);
    store_scan_init(&self->fence, self->runner->loop, fence_read);
    store_scan_init(&self->rows, self->runner->loop, run_record_rows_read);
    record_fence_range(arena, &self->name, &self->fence.from, &self->fence.to);
    record_range(arena, &self->name, &self->rows.from, &self->rows.to);
    if (arena->exhausted) {
        fail(&self->failure, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    self->scanned = true;
    self->waits += 2;
    store_scan(self->store, &self->fence);
    store_scan(self->store, &self->rows);
}

/* It may have run: so it does not run again. */
static bool refuse_damaged(struct run_request *self, const struct tool_call *call)
{
    return fail(&self->failure, DATA_LOSS,
                "the record of call '%.64s' of '%.64s' under this idempotency_key is damaged; it may or may not have "
                "done its work, and was not run again: look, before you call it under a new key",
                call->asked->call->id, call->asked->call->name);
}

static bool run_record_repeat(struct run_request *self, struct tool_call *call, const struct record_call *known)
{
    struct status st = {0};
    if (known->ended) {
        struct arena *arena = rpc_call_arena(self->rpc);
        Renga__V1__ToolResult *result = (Renga__V1__ToolResult *)rpc_unpack(
            &renga__v1__tool_result__descriptor, known->result.bytes, known->result.size, arena, &st);
        if (result) {
            tool_call_repeat(call, result);
            return true;
        }
        self->failure = st;
        return st.code != RESOURCE_EXHAUSTED && refuse_damaged(self, call);
    }
    fail(&st, ABORTED,
         "an earlier call of '%.64s' was begun and did not come to its end; it may or may not have done its work, and "
         "was not run again: look, before you call it anew",
         call->asked->call->name);
    tool_call_refuse(call, &st);
    call->result.in_doubt = true;
    return true;
}

/* False with `failure` if the same key was used for other calls. */
static bool compare_with_record(struct run_request *self, size_t i)
{
    char field[STATUS_FIELD_MAX];
    struct tool_call *call = &self->calls[i];
    struct record_call known = record_find(&self->rows, &self->name, call->asked->call->id);
    record_digest(call->asked->call->name, call->asked->call->arguments_json, call->digest);
    call->due_ms = clock_wall_ns() / NS_PER_MS + records_keep_ms(self->runner->shared->records);
    if (!known.known)
        return true;
    if (known.damaged)
        return refuse_damaged(self, call);
    if (memcmp(known.digest, call->digest, RECORD_DIGEST) != 0) {
        snprintf(field, sizeof field, "calls[%zu].call", i);
        return fail_field(&self->failure, field,
                          "was called under this idempotency_key with another tool or other arguments; take a new key "
                          "for other work");
    }
    return run_record_repeat(self, call, &known);
}

void run_record_check(struct run_request *self)
{
    int64_t token = self->asked->fencing_token, highest = record_fence(&self->fence);
    const struct store_scan *bad = self->fence.status.code != OK ? &self->fence : &self->rows;
    if (bad->status.code != OK) {
        fail(&self->failure, UNAVAILABLE, "the record of calls cannot be read: %s", bad->status.text);
    } else if (token && token < highest) {
        fail(&self->failure, ABORTED,
             "fencing_token %lld is that of an earlier owner; %lld has called since, and nothing was run",
             (long long)token, (long long)highest);
    } else {
        for (size_t i = 0; i < self->asked->n_calls; i++)
            if (self->calls[i].state == CALL_IDLE && !compare_with_record(self, i))
                return;
    }
}

/* ---- the fence --------------------------------------------------------------------------------------------------- */

static void fence_raised(struct store_batch *batch)
{
    run_request_advance(CONTAINER_OF(batch, struct run_request, batch));
}

void run_fence_raise(struct run_request *self)
{
    if (!record_is_fenced(&self->name, self->asked->fencing_token) ||
        record_fence(&self->fence) == self->asked->fencing_token) {
        self->stage = STAGE_ARGUMENTS;
        return;
    }
    store_batch_init(&self->batch, self->runner->loop, fence_raised);
    record_raise_fence(&self->batch, &self->name, &self->fence, self->asked->fencing_token);
    self->waits++;
    store_commit(self->store, &self->batch);
}

/* If another owner was quicker, the fence is read again. */
void run_fence_check(struct run_request *self)
{
    struct status status = self->batch.status;
    store_batch_fini(&self->batch);
    if (status.code == ABORTED)
        self->stage = STAGE_RECORD;
    else if (status.code != OK)
        fail(&self->failure, UNAVAILABLE, "not run, since the fencing token cannot be recorded: %s", status.text);
}
