/* ForgetThread: deletes page by page, first calls and then notes, until the thread has no rows. */
#include "instance/tool_runner_instance.h"
#include "notes/note_rows.h"
#include "record/record.h"
#include "record/records.h"
#include "record/request_name.h"
#include "rpc/rpc.h"
#include "run_tools.h"

#include <string.h>

#define THREAD_MAX 128 /* bytes */
#define PAGE_ROWS  1000

struct forgetting {
    struct tool_runner *runner;
    struct rpc_call *rpc;
    Renga__V1__ForgetThreadResponse_Closure reply;
    const char *tenant, *thread;
    struct store *store;
    struct store_scan page;
    struct store_batch batch;
    bool at_notes;
    int64_t calls, notes;
};

static void forget_read_page(struct forgetting *self);

static void forget_deleted(struct store_batch *batch)
{
    struct forgetting *self = CONTAINER_OF(batch, struct forgetting, batch);
    struct status status = batch->status;
    bool more = self->page.more;
    *(self->at_notes ? &self->notes : &self->calls) += (int64_t)self->page.count;
    store_batch_fini(batch);
    store_scan_fini(&self->page);
    if (status.code != OK) {
        rpc_fail_with(self->rpc, UNAVAILABLE, "the record cannot be written: %s", status.text);
    } else if (more || !self->at_notes) {
        self->at_notes |= !more;
        forget_read_page(self);
    } else {
        Renga__V1__ForgetThreadResponse response = RENGA__V1__FORGET_THREAD_RESPONSE__INIT;
        response.tool_results = self->calls;
        response.notes = self->notes;
        self->reply(&response, self->rpc);
    }
}

static void forget_page_read(struct store_scan *page)
{
    struct forgetting *self = CONTAINER_OF(page, struct forgetting, page);
    if (page->status.code != OK) {
        rpc_fail_with(self->rpc, UNAVAILABLE, "the record cannot be read: %s", page->status.text);
        store_scan_fini(page);
        return;
    }
    store_batch_init(&self->batch, self->runner->loop, forget_deleted);
    for (size_t i = 0; i < page->count && !self->at_notes; i++)
        record_delete_thread_call(&self->batch, &page->rows[i]);
    for (size_t i = 0; i < page->count && self->at_notes; i++)
        store_delete(&self->batch, page->rows[i].key);
    if (!self->at_notes)
        record_delete_fences(&self->batch, self->tenant, self->thread);
    store_forget(&self->batch);
    store_commit(self->store, &self->batch);
}

static void forget_read_page(struct forgetting *self)
{
    struct arena *arena = rpc_call_arena(self->rpc);
    store_scan_init(&self->page, self->runner->loop, forget_page_read);
    if (self->at_notes)
        notes_range(arena, self->tenant, self->thread, NULL, &self->page.from, &self->page.to);
    else
        record_thread_range(arena, self->tenant, self->thread, &self->page.from, &self->page.to);
    if (arena->exhausted) { /* without its bounds the range would cover the rows of all tenants */
        rpc_fail_with(self->rpc, RESOURCE_EXHAUSTED, "no memory for the call; call again to go on");
        return;
    }
    self->page.limit = PAGE_ROWS;
    store_scan(self->store, &self->page);
}

void forget_thread(Renga__V1__ToolRunner_Service *service, const Renga__V1__ForgetThreadRequest *request,
                   Renga__V1__ForgetThreadResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct tool_runner *runner = (struct tool_runner *)service;
    struct forgetting *self = NULL;
    if (request_check_name("thread_id", request->thread_id, THREAD_MAX, true, &st) &&
        !(self = arena_zalloc(rpc_call_arena(data), sizeof *self)))
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (self) {
        *self = (struct forgetting){
            .runner = runner,
            .rpc = data,
            .reply = reply,
            .tenant = rpc_call_principal(data)->tenant,
            .thread = request->thread_id,
            .store = records_open(runner->shared->records, runner->loop, &st),
        };
    }
    if (self && self->store)
        forget_read_page(self);
    else
        rpc_fail(data, &st);
}
