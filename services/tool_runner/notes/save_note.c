/* SaveNote: reads the present note and the highest fencing token of the run; then writes the note, and the token if
 * it is higher. If another owner has written meanwhile, both are read again. */
#include "note_rows.h"
#include "notes.h"

#include "base/clock.h"
#include "instance/tool_runner_instance.h"
#include "record/record.h"
#include "record/records.h"
#include "record/request_name.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <string.h>

#define THREAD_MAX  128   /* bytes, as SaveNoteRequest.thread_id */
#define RUN_MAX     64    /* bytes, as Note.run_id */
#define QUERY_MAX   8192  /* bytes, as Note.query */
#define SUMMARY_MAX 65536 /* bytes, as Note.summary_md */
#define SOURCES_MAX 64
#define URI_MAX     2048 /* bytes, as NoteSource.uri */
#define TITLE_MAX   512
#define SOURCE_MAX  64
#define TRIES_MAX   8 /* others may be quicker so often */

struct saving {
    struct tool_runner *runner;
    struct rpc_call *rpc;
    Renga__V1__SaveNoteResponse_Closure reply;
    const Renga__V1__SaveNoteRequest *asked;
    struct record_name name;
    struct store *store;
    struct store_scan fence, old;
    unsigned waits; /* scans that are still to come */
    struct store_batch batch;
    unsigned tries;
    bool replaced;
};

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static bool save_note_check_text(const char *field, const char *text, size_t most, struct status *st)
{
    size_t length = strlen(text);
    return length <= most || fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, most);
}

static bool check_source(size_t i, const Renga__V1__NoteSource *source, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    snprintf(field, sizeof field, "note.sources[%zu]", i);
    return save_note_check_text(field, source->uri, URI_MAX, st) &&
           save_note_check_text(field, source->title, TITLE_MAX, st) &&
           save_note_check_text(field, source->source, SOURCE_MAX, st);
}

static bool save_note_check(const Renga__V1__SaveNoteRequest *request, struct status *st)
{
    const Renga__V1__Note *note = request->note;
    if (!request_check_name("thread_id", request->thread_id, THREAD_MAX, true, st))
        return false;
    if (!note)
        return fail_field(st, "note", "is missing");
    if (note->step_no < 1)
        return fail_field(st, "note.step_no", "is %d; steps are counted from 1", note->step_no);
    if (request->fencing_token < 0)
        return fail_field(st, "fencing_token", "is %lld; it must not be negative", (long long)request->fencing_token);
    if (note->n_sources > SOURCES_MAX)
        return fail_field(st, "note.sources", "has %zu; at most %d are allowed", note->n_sources, SOURCES_MAX);
    for (size_t i = 0; i < note->n_sources; i++)
        if (!check_source(i, note->sources[i], st))
            return false;
    return request_check_name("note.run_id", note->run_id, RUN_MAX, false, st) &&
           save_note_check_text("note.query", note->query, QUERY_MAX, st) &&
           save_note_check_text("note.summary_md", note->summary_md, SUMMARY_MAX, st);
}

/* ---- its way ----------------------------------------------------------------------------------------------------- */

static void save_note_read_rows(struct saving *self);

static void save_note_committed(struct store_batch *batch)
{
    struct saving *self = CONTAINER_OF(batch, struct saving, batch);
    struct status status = batch->status;
    Renga__V1__SaveNoteResponse response = RENGA__V1__SAVE_NOTE_RESPONSE__INIT;
    store_batch_fini(batch);
    response.replaced = self->replaced;
    if (status.code == ABORTED && ++self->tries < TRIES_MAX)
        save_note_read_rows(self);
    else if (status.code != OK)
        rpc_fail_with(self->rpc, UNAVAILABLE, "the note cannot be kept: %s", status.text);
    else
        self->reply(&response, self->rpc);
}

/* When it was first kept: that stays. */
static int64_t created_ms(const struct saving *self)
{
    const struct store_row *row = self->old.count ? self->old.rows : NULL;
    struct status ignored = {0};
    const Renga__V1__Note *old = row ? note_read(rpc_call_arena(self->rpc), row, &ignored) : NULL;
    return old ? old->created_ms : clock_wall_ns() / NS_PER_MS;
}

static bool save_note_put(struct saving *self)
{
    Renga__V1__Note note = *self->asked->note;
    note.created_ms = created_ms(self);
    struct store_bytes value = note_write(rpc_call_arena(self->rpc), self->old.from, &note);
    if (!value.bytes)
        return false;
    store_put(&self->batch, self->old.from, value);
    return true;
}

static void save_note_write(struct saving *self)
{
    int64_t token = self->asked->fencing_token;
    store_batch_init(&self->batch, self->runner->loop, save_note_committed);
    if (token > record_fence(&self->fence))
        record_raise_fence(&self->batch, &self->name, &self->fence, token);
    else if (token) /* nor may a later owner come between */
        record_hold_fence(&self->batch, &self->name, &self->fence);
    self->replaced = self->old.count > 0;
    if (save_note_put(self)) {
        store_commit(self->store, &self->batch);
        return;
    }
    store_batch_fini(&self->batch);
    rpc_fail_with(self->rpc, RESOURCE_EXHAUSTED, "no memory for the note");
}

static void rows_received(struct saving *self)
{
    if (--self->waits) /* the other is still its reader's */
        return;
    const struct store_scan *bad = self->fence.status.code != OK ? &self->fence : &self->old;
    int64_t token = self->asked->fencing_token, highest = record_fence(&self->fence);
    if (bad->status.code != OK)
        rpc_fail_with(self->rpc, UNAVAILABLE, "the notes cannot be read: %s", bad->status.text);
    else if (token && token < highest)
        rpc_fail_with(self->rpc, ABORTED,
                      "fencing_token %lld is that of an earlier owner; %lld has called since, and nothing was kept",
                      (long long)token, (long long)highest);
    else
        save_note_write(self);
    store_scan_fini(&self->fence);
    store_scan_fini(&self->old);
}

static void fence_received(struct store_scan *scan)
{
    rows_received(CONTAINER_OF(scan, struct saving, fence));
}

static void old_received(struct store_scan *scan)
{
    rows_received(CONTAINER_OF(scan, struct saving, old));
}

static void save_note_read_rows(struct saving *self)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    store_scan_init(&self->fence, self->runner->loop, fence_received);
    store_scan_init(&self->old, self->runner->loop, old_received);
    record_fence_range(arena, &self->name, &self->fence.from, &self->fence.to);
    note_range(arena, self->name.tenant, self->name.thread, self->name.run, self->asked->note->step_no, &self->old.from,
               &self->old.to);
    if (arena->exhausted) {
        rpc_fail_with(self->rpc, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    self->waits = 2;
    store_scan(self->store, &self->fence);
    store_scan(self->store, &self->old);
}

void save_note(Renga__V1__ToolRunner_Service *service, const Renga__V1__SaveNoteRequest *request,
               Renga__V1__SaveNoteResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct tool_runner *runner = (struct tool_runner *)service;
    struct saving *self = NULL;
    if (save_note_check(request, &st) && !(self = arena_zalloc(rpc_call_arena(data), sizeof *self)))
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (self) {
        *self = (struct saving){
            .runner = runner,
            .rpc = data,
            .reply = reply,
            .asked = request,
            .name = {.tenant = rpc_call_principal(data)->tenant,
                     .key = "",
                     .thread = request->thread_id,
                     .run = request->note->run_id},
            .store = records_open(runner->shared->records, runner->loop, &st),
        };
    }
    if (self && self->store)
        save_note_read_rows(self);
    else
        rpc_fail(data, &st);
}
