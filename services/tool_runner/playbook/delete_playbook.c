/* DeletePlaybook: deletes all rows in one batch, under the writers' lock, so that a concurrent writer cannot restore
 * rows. */
#include "playbook_cache.h"
#include "playbook_load.h"
#include "playbooks.h"
#include "record/key_lock.h"
#include "record/records.h"

#include "base/memory.h"
#include "rpc/rpc.h"

#include <stdlib.h>

/* On the heap; ends with the answer. */
struct playbook_deleting {
    struct tool_runner *runner;
    struct rpc_call *rpc;
    Renga__V1__DeletePlaybookResponse_Closure reply;
    const char *dataset;
    struct key_lock key_lock;
    struct store *store;
    struct store_scan scan;
    struct store_batch batch;
    struct playbook_head head;
    struct status status;
};

static void delete_end(struct playbook_deleting *self)
{
    Renga__V1__DeletePlaybookResponse response = RENGA__V1__DELETE_PLAYBOOK_RESPONSE__INIT;
    key_lock_release(self->runner->shared->playbooks->key_locks, &self->key_lock);
    response.bullets = (int32_t)self->head.bullets;
    if (self->status.code == OK)
        self->reply(&response, self->rpc);
    else
        rpc_fail(self->rpc, &self->status);
    free(self);
}

static void delete_committed(struct store_batch *batch)
{
    struct playbook_deleting *self = CONTAINER_OF(batch, struct playbook_deleting, batch);
    if (batch->status.code == OK)
        playbook_cache_drop(self->runner->shared->playbooks, rpc_call_principal(self->rpc)->tenant, self->dataset);
    else
        fail(&self->status, UNAVAILABLE, "the playbook '%s' cannot be deleted: %s", self->dataset, batch->status.text);
    store_batch_fini(batch);
    delete_end(self);
}

static void delete_head_read(struct store_scan *scan)
{
    struct playbook_deleting *self = CONTAINER_OF(scan, struct playbook_deleting, scan);
    struct playbook_key key = {rpc_call_principal(self->rpc)->tenant, self->dataset};
    struct arena *arena = rpc_call_arena(self->rpc);
    struct store_bytes head, end, from, to;
    if (scan->status.code != OK)
        fail(&self->status, UNAVAILABLE, "the playbook cannot be read: %s", scan->status.text);
    else if (scan->count && !playbook_head_read(&scan->rows[0], &self->head))
        self->head = (struct playbook_head){0}; /* it goes all the same */
    store_scan_fini(scan);
    playbook_head_range(arena, &key, &head, &end);
    playbook_all_range(arena, &key, &from, &to);
    if (self->status.code == OK && arena->exhausted) /* without bounds the range would cover other rows */
        fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the call");
    if (self->status.code != OK) {
        delete_end(self);
        return;
    }
    store_batch_init(&self->batch, self->runner->loop, delete_committed);
    store_delete(&self->batch, head);
    store_delete_range(&self->batch, from, to);
    store_forget(&self->batch);
    store_commit(self->store, &self->batch);
}

static void delete_key_lock_granted(struct key_lock *key_lock)
{
    struct playbook_deleting *self = CONTAINER_OF(key_lock, struct playbook_deleting, key_lock);
    struct playbook_key key = {rpc_call_principal(self->rpc)->tenant, self->dataset};
    struct arena *arena = rpc_call_arena(self->rpc);
    self->store = records_open(self->runner->shared->records, self->runner->loop, &self->status);
    store_scan_init(&self->scan, self->runner->loop, delete_head_read);
    playbook_head_range(arena, &key, &self->scan.from, &self->scan.to);
    if (self->store && arena->exhausted)
        fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the call");
    if (self->status.code == OK)
        store_scan(self->store, &self->scan);
    else
        delete_end(self);
}

void delete_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__DeletePlaybookRequest *request,
                     Renga__V1__DeletePlaybookResponse_Closure reply, void *data)
{
    struct status st = {0};
    if (!playbook_check_dataset("dataset", request->dataset, &st)) {
        rpc_fail(data, &st);
        return;
    }
    struct playbook_deleting *self = xcalloc(1, sizeof *self);
    *self = (struct playbook_deleting){
        .runner = (struct tool_runner *)service, .rpc = data, .reply = reply, .dataset = request->dataset};
    self->key_lock = (struct key_lock){.loop = self->runner->loop, .granted = delete_key_lock_granted};
    if (key_lock_acquire(self->runner->shared->playbooks->key_locks, &self->key_lock, rpc_call_principal(data)->tenant,
                         self->dataset))
        delete_key_lock_granted(&self->key_lock);
}
